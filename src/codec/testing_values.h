// SPDX-License-Identifier: Apache-2.0
// Random types and random values of them, as trees. For tests only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "codec/item.h"
#include "codec/testing.h"
#include "codec/testing_choices.h"
#include "codec/type.h"

namespace holdfast::codec::testing {

// --- types

struct RandomType {
  Type type;
  std::shared_ptr<Types> named = std::make_shared<Types>();
  std::vector<std::string> names;

  const Type& resolve(const Type& type_or_ref) const {
    const Type* at = &type_or_ref;
    while (at->kind == TypeKind::kRef) at = named->find(at->ref);
    return *at;
  }
};

inline Type random_type(Choices& choices, const RandomType& known, int depth) {
  constexpr std::size_t kScalars = 13;
  constexpr std::size_t kOthers = 7;
  const auto kind =
      static_cast<TypeKind>(depth > 0 && choices.below(4) != 0 ? kScalars + choices.below(kOthers)
                                                               : choices.below(kScalars));
  Type type{kind, {}, {}, {}};
  const auto inner = [&] { return random_type(choices, known, depth - 1); };
  switch (kind) {
    case TypeKind::kRecord:
    case TypeKind::kVariant: {
      static const std::vector<std::string> kNames = {"a",
                                                      "b",
                                                      "aa",
                                                      "id",
                                                      "Z",
                                                      "\u00e9",
                                                      "name",
                                                      "a_name",
                                                      "longer_name",
                                                      "a-b c",
                                                      "a_name_of_twenty_three_",
                                                      "a_name_of_twenty_four__",
                                                      "a_name_of_twenty_five_x"};
      const std::size_t count = choices.below(5) + (kind == TypeKind::kVariant ? 1 : 0);
      for (std::size_t i = 0; i < count; ++i) {
        const std::string& name = choices.of(kNames);
        const bool taken = std::any_of(type.members.begin(), type.members.end(),
                                       [&](const Member& member) { return member.name == name; });
        if (!taken) type.members.push_back({name, inner()});
      }
      return type;
    }
    case TypeKind::kList:
    case TypeKind::kSet: type.inner.push_back(inner()); return type;
    case TypeKind::kOption: {
      type.inner.push_back(inner());
      const TypeKind held = known.resolve(type.inner[0]).kind;
      if (held == TypeKind::kOption || held == TypeKind::kUnit)
        type.inner[0] = Type{TypeKind::kText, {}, {}, {}};
      return type;
    }
    case TypeKind::kMap: {
      constexpr TypeKind kKeys[] = {TypeKind::kText, TypeKind::kInt, TypeKind::kNat,
                                    TypeKind::kUuid, TypeKind::kHash};
      type.inner.push_back(Type{kKeys[choices.below(5)], {}, {}, {}});
      type.inner.push_back(inner());
      return type;
    }
    case TypeKind::kRef:
      if (known.names.empty()) return Type{TypeKind::kNat, {}, {}, {}};
      type.ref = choices.of(known.names);
      return type;
    default: return type;
  }
}

inline RandomType random_type(Choices& choices) {
  RandomType made;
  for (std::size_t i = choices.below(4); i > 0; --i) {
    const std::string name = "t/Named" + std::to_string(i) + "@1";
    made.named->add(name, random_type(choices, made, 2));
    made.names.push_back(name);
  }
  made.type = random_type(choices, made, 3);
  return made;
}

// --- values

struct Value {
  const Type* type = nullptr;      // never a reference
  ItemKind any = ItemKind::kNull;  // kAny: what stands there
  std::uint64_t number = 0;        // integers; -1 - number if negative; bool
  bool negative = false;
  double real = 0;
  std::string text;           // text, bytes, hash, uuid; decimals: digits, no zero at either end
  std::int64_t exponent = 0;  // decimals: of the last digit
  std::size_t arm = 0;
  std::vector<Value> keys;
  std::vector<Value> items;  // elements, values of a map, fields, the value of an arm or an option
};

inline std::uint64_t random_number(Choices& choices) {
  static const std::vector<std::uint64_t> kEdges = {0,
                                                    1,
                                                    23,
                                                    24,
                                                    255,
                                                    256,
                                                    65535,
                                                    65536,
                                                    0xffffffff,
                                                    0x100000000,
                                                    std::uint64_t{1} << 53,
                                                    (std::uint64_t{1} << 63) - 1,
                                                    std::uint64_t{1} << 63,
                                                    ~std::uint64_t{0}};
  return choices.flip() ? choices.of(kEdges) : choices.word();
}

inline std::string random_text(Choices& choices) {
  static const std::vector<std::string> kPieces = {"",           "a",
                                                   "b",          "Z",
                                                   " ",          "\"",
                                                   "\\",         "/",
                                                   "\n",         std::string(1, '\0'),
                                                   "\x1f",       "\x7f",
                                                   "\u00e9",     "\u20ac",
                                                   "\ufffd",     "\U0001f600",
                                                   "\U0010ffff", "abcdefghijklmnop",
                                                   "$tag",       "NaN"};
  std::string text;
  for (std::size_t i = choices.below(4); i > 0; --i) text += choices.of(kPieces);
  return text;
}

inline double random_real(Choices& choices) {
  static const std::vector<double> kEdges = {
      0.0,     -0.0,     1.0,     -1.0,           0.5,     0.1,      65504.0,
      65505.0, 0x1p-24,  0x1p-25, 0x1.fffffep127, 0x1p128, 0x1p-149, 5e-324,
      1e300,   100000.0, 0x1p53,  -0x1p63,        1e22};
  return choices.flip() ? choices.of(kEdges) : static_cast<double>(choices.word()) * 0.125;
}

inline std::string random_hex(Choices& choices, std::size_t digits) {
  std::string text;
  for (std::size_t i = 0; i < digits; ++i)
    text += "0123456789abcdef"[i % 4 == 0 ? choices.below(16) : i % 16];
  return text;
}

// Tells the keys of a map apart.
inline std::string identity(const Value& key) {
  return (key.negative ? "-" : "+") + std::to_string(key.number) + key.text;
}

inline Value random_value(Choices& choices, const RandomType& types, const Type& type_or_ref,
                          int depth = 0) {
  Value value;
  value.type = &types.resolve(type_or_ref);
  const auto inner = [&](const Type& type) {
    return random_value(choices, types, type, depth + 1);
  };
  switch (value.type->kind) {
    case TypeKind::kBool: value.number = choices.below(2); break;
    case TypeKind::kInt:
    case TypeKind::kDuration:
      value.negative = choices.flip();
      value.number = random_number(choices) >> 1;
      break;
    case TypeKind::kNat:
    case TypeKind::kTime: value.number = random_number(choices); break;
    case TypeKind::kFloat:
      value.real = random_real(choices);
      if (choices.rarely()) value.real = NAN;
      if (choices.rarely()) value.real = choices.flip() ? INFINITY : -INFINITY;
      break;
    case TypeKind::kDec128: {
      for (std::size_t i = choices.below(35); i > 0 && !choices.rarely(); --i)
        value.text += static_cast<char>('0' + choices.below(10));
      while (!value.text.empty() && value.text.front() == '0') value.text.erase(0, 1);
      while (!value.text.empty() && value.text.back() == '0') value.text.pop_back();
      if (value.text.empty()) break;
      value.negative = choices.flip();
      value.exponent = static_cast<std::int64_t>(choices.below(choices.rarely() ? 12000 : 60)) - 30;
      value.exponent = std::clamp<std::int64_t>(
          value.exponent, -6176, 6144 - static_cast<std::int64_t>(value.text.size()) + 1);
      break;
    }
    case TypeKind::kBytes:
      for (std::size_t i = choices.below(6); i > 0; --i)
        value.text += static_cast<char>(choices.below(256));
      break;
    case TypeKind::kText: value.text = random_text(choices); break;
    case TypeKind::kHash: value.text = "sha256:" + random_hex(choices, 64); break;
    case TypeKind::kUuid: {
      value.text = random_hex(choices, 32);
      for (const std::size_t at : {8u, 13u, 18u, 23u}) value.text.insert(at, "-");
      break;
    }
    case TypeKind::kList:
    case TypeKind::kSet:
      for (std::size_t i = choices.rarely() ? 30 : choices.below(5); i > 0; --i)
        value.items.push_back(inner(value.type->inner[0]));
      break;
    case TypeKind::kMap: {
      std::set<std::string> taken;
      for (std::size_t i = choices.rarely() ? 30 : choices.below(5); i > 0; --i) {
        Value key = inner(value.type->inner[0]);
        if (!taken.insert(identity(key)).second) continue;
        value.keys.push_back(std::move(key));
        value.items.push_back(inner(value.type->inner[1]));
      }
      break;
    }
    case TypeKind::kOption:
      if (choices.flip()) value.items.push_back(inner(value.type->inner[0]));
      break;
    case TypeKind::kRecord:
      for (const Member& member : value.type->members) value.items.push_back(inner(member.type));
      break;
    case TypeKind::kVariant:
      value.arm = choices.below(value.type->members.size());
      value.items.push_back(inner(value.type->members[value.arm].type));
      break;
    case TypeKind::kAny: {
      constexpr ItemKind kKinds[] = {ItemKind::kNull,     ItemKind::kBool,  ItemKind::kNat,
                                     ItemKind::kNegative, ItemKind::kFloat, ItemKind::kText,
                                     ItemKind::kList,     ItemKind::kMap};
      value.any = kKinds[choices.below(depth < 6 ? 8 : 6)];
      if (value.any == ItemKind::kBool) value.number = choices.below(2);
      if (value.any == ItemKind::kNat) value.number = random_number(choices);
      if (value.any == ItemKind::kNegative) {
        value.number = random_number(choices) >> 1;
        value.negative = true;
      }
      if (value.any == ItemKind::kFloat) value.real = random_real(choices);
      if (value.any == ItemKind::kText) value.text = random_text(choices);
      std::set<std::string> taken;
      for (std::size_t i = choices.below(4); i > 0 && value.any >= ItemKind::kList; --i) {
        if (value.any == ItemKind::kMap) {
          static const Type kKey{TypeKind::kText, {}, {}, {}};
          Value key = inner(kKey);
          if (!taken.insert(key.text).second) continue;
          value.keys.push_back(std::move(key));
        }
        value.items.push_back(inner(*value.type));
      }
      break;
    }
    default: break;
  }
  return value;
}

}  // namespace holdfast::codec::testing
