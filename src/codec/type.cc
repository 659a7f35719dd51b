// SPDX-License-Identifier: Apache-2.0
#include "codec/type.h"

#include <algorithm>
#include <array>
#include <utility>

#include "codec/cbor_writer.h"
#include "codec/complaint.h"

namespace holdfast::codec {
namespace {

constexpr std::array<std::pair<TypeKind, std::string_view>, 20> kNames{{
    {TypeKind::kBool, "bool"},     {TypeKind::kInt, "int"},       {TypeKind::kNat, "nat"},
    {TypeKind::kFloat, "float"},   {TypeKind::kDec128, "dec128"}, {TypeKind::kBytes, "bytes"},
    {TypeKind::kText, "text"},     {TypeKind::kTime, "time"},     {TypeKind::kDuration, "duration"},
    {TypeKind::kHash, "hash"},     {TypeKind::kUuid, "uuid"},     {TypeKind::kUnit, "unit"},
    {TypeKind::kAny, "any"},       {TypeKind::kRecord, "record"}, {TypeKind::kVariant, "variant"},
    {TypeKind::kList, "list"},     {TypeKind::kSet, "set"},       {TypeKind::kMap, "map"},
    {TypeKind::kOption, "option"}, {TypeKind::kRef, "ref"},
}};

std::optional<TypeKind> kind_named(std::string_view name) noexcept {
  for (const auto& [kind, known] : kNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

// Parses one expression. The recursion is bounded: a canonical value nests at most kMaxDepth deep.
class Parser {
 public:
  explicit Parser(Errors& errors) : errors_(errors) {}

  std::optional<Type> parse(View expression, const std::string& path) {
    if (expression.kind() != ViewKind::kMap)
      return refuse(path, "expected a type expression such as {\"text\":{}}");
    std::optional<View> argument;
    std::string_view name;
    for (const auto& [key, value] : expression.entries()) {
      const std::string_view word = key.text().value_or("");
      if (word == "$comment") continue;
      if (argument) return refuse(path, "a type expression has exactly one key");
      name = word;
      argument = value;
    }
    if (!argument) return refuse(path, "a type expression has exactly one key");
    const auto kind = kind_named(name);
    if (!kind) return refuse(path, "unknown type " + quoted(name));
    return parse_argument(*kind, *argument, path + "." + std::string(name));
  }

 private:
  std::optional<Type> parse_argument(TypeKind kind, View argument, const std::string& path) {
    Type type{kind, {}, {}, {}};
    switch (kind) {
      case TypeKind::kRecord:
      case TypeKind::kVariant: return members(std::move(type), argument, path);
      case TypeKind::kList:
      case TypeKind::kSet:
      case TypeKind::kOption: {
        auto inner = parse(argument, path);
        if (!inner) return std::nullopt;
        type.inner.push_back(std::move(*inner));
        return type;
      }
      case TypeKind::kMap: return map(std::move(type), argument, path);
      case TypeKind::kRef:
        if (!argument.text()) return refuse(path, "expected the name of a schema");
        type.ref = *argument.text();
        return type;
      default:
        if (argument.kind() != ViewKind::kMap || argument.size() != 0)
          return refuse(path, "expected {}");
        return type;
    }
  }

  std::optional<Type> members(Type type, View argument, const std::string& path) {
    if (argument.kind() != ViewKind::kMap) return refuse(path, "expected a map of names to types");
    if (argument.size() > kMaxMembers)
      return refuse(path, "more than " + std::to_string(kMaxMembers) + " names");
    if (argument.size() == 0 && type.kind == TypeKind::kVariant)
      return refuse(path, "a variant needs an arm");
    bool good = true;
    for (const auto& [key, value] : argument.entries()) {
      const std::string_view name = key.text().value_or("");
      const std::string place =
          path + "." + (name.size() > kMaxMemberName ? quoted(name) : std::string(name));
      if (name.empty() || name.size() > kMaxMemberName) {
        good = false;
        refuse(place, "a name has 1 to " + std::to_string(kMaxMemberName) + " bytes");
      } else if (name.front() == '$') {
        good = false;
        refuse(place, "names that begin with $ are reserved");
      }
      auto inner = parse(value, place);
      if (inner) type.members.push_back({std::string(name), std::move(*inner)});
      good &= inner.has_value();
    }
    if (!good) return std::nullopt;
    return type;
  }

  std::optional<Type> map(Type type, View argument, const std::string& path) {
    if (argument.kind() != ViewKind::kMap)
      return refuse(path, "expected {\"key\":...,\"value\":...}");
    for (const auto& [key, value] : argument.entries()) {
      const std::string_view name = key.text().value_or("");
      if (name != "key" && name != "value" && name != "$comment") {
        return refuse(path, "unknown field " + quoted(name));
      }
    }
    const auto key = argument.find("key");
    const auto value = argument.find("value");
    if (!key || !value) return refuse(path, "a map needs a key and a value type");
    auto key_type = parse(*key, path + ".key");
    auto value_type = parse(*value, path + ".value");
    if (!key_type || !value_type) return std::nullopt;
    if (!is_key_type(key_type->kind)) {
      return refuse(path + ".key", "a map key is int, nat, text, uuid or hash, not " +
                                       std::string(name_of(key_type->kind)));
    }
    type.inner.push_back(std::move(*key_type));
    type.inner.push_back(std::move(*value_type));
    return type;
  }

  std::nullopt_t refuse(const std::string& path, std::string message) {
    errors_.push_back(base::invalid(path, std::move(message)));
    return std::nullopt;
  }

  Errors& errors_;
};

}  // namespace

bool is_key_type(TypeKind kind) noexcept {
  switch (kind) {
    case TypeKind::kInt:
    case TypeKind::kNat:
    case TypeKind::kText:
    case TypeKind::kUuid:
    case TypeKind::kHash: return true;
    default: return false;
  }
}

std::string_view name_of(TypeKind kind) noexcept {
  for (const auto& [known, name] : kNames) {
    if (known == kind) return name;
  }
  return "item";
}

std::optional<Type> parse_type(View expression, const std::string& path, Errors& errors) {
  return Parser(errors).parse(expression, path);
}

void write_type(Buffer& out, const Type& type) {
  write_map_head(out, 1);
  write_text(out, name_of(type.kind));
  switch (type.kind) {
    case TypeKind::kRecord:
    case TypeKind::kVariant:
      write_map_head(out, type.members.size());
      for (const Member& member : type.members) {
        write_text(out, member.name);
        write_type(out, member.type);
      }
      return;
    case TypeKind::kList:
    case TypeKind::kSet:
    case TypeKind::kOption: return write_type(out, type.inner[0]);
    case TypeKind::kMap:
      write_map_head(out, 2);
      write_text(out, "key");
      write_type(out, type.inner[0]);
      write_text(out, "value");
      return write_type(out, type.inner[1]);
    case TypeKind::kRef: return write_text(out, type.ref);
    default: return write_map_head(out, 0);
  }
}

}  // namespace holdfast::codec
