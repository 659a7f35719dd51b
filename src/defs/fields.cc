// SPDX-License-Identifier: Apache-2.0
#include "defs/fields.h"

#include <algorithm>
#include <utility>

#include "codec/complaint.h"
#include "defs/name.h"

namespace holdfast::defs {

Fields::Fields(View object, std::string path, Errors& errors)
    : object_(object), path_(std::move(path)), errors_(errors) {
  if (object.kind() != codec::ViewKind::kMap)
    errors_.push_back(base::invalid(path_, "expected an object"));
}

std::string Fields::path_of(std::string_view field) const {
  return path_ + "." + std::string(field);
}

void Fields::refuse(std::string_view field, std::string message) {
  errors_.push_back(base::invalid(path_of(field), std::move(message)));
}

std::optional<View> Fields::optional(std::string_view field) {
  known_.emplace_back(field);
  auto value = object_.find(field);
  if (value && value->is_null()) return std::nullopt;
  return value;
}

std::optional<View> Fields::required(std::string_view field) {
  auto value = optional(field);
  if (!value && object_.kind() == codec::ViewKind::kMap) {
    errors_.push_back(base::invalid(path_, "the field '" + std::string(field) + "' is missing"));
  }
  return value;
}

std::string Fields::as_text(std::string_view field, View value) {
  const auto text = value.text();
  if (!text || text->empty())
    return refuse(field, "expected a text that is not empty"), std::string();
  return std::string(*text);
}

std::string Fields::as_name(std::string_view field, View value) {
  return read_name(value, path_of(field), errors_);
}

std::string Fields::text(std::string_view field) {
  const auto value = required(field);
  return value ? as_text(field, *value) : std::string();
}

std::string Fields::name(std::string_view field) {
  const auto value = required(field);
  return value ? as_name(field, *value) : std::string();
}

std::optional<std::string> Fields::optional_text(std::string_view field) {
  const auto value = optional(field);
  if (!value) return std::nullopt;
  return as_text(field, *value);
}

std::optional<std::string> Fields::optional_name(std::string_view field) {
  const auto value = optional(field);
  if (!value) return std::nullopt;
  return as_name(field, *value);
}

std::optional<std::uint64_t> Fields::optional_nat(std::string_view field) {
  const auto value = optional(field);
  if (!value) return std::nullopt;
  const auto nat = value->nat();
  if (!nat) refuse(field, "expected a whole number from 0");
  return nat;
}

std::optional<base::Hash> Fields::optional_hash(std::string_view field) {
  const auto value = optional(field);
  if (!value) return std::nullopt;
  auto hash = base::Hash::parse(value->text().value_or(""));
  if (!hash)
    return refuse(field, "expected a hash: sha256: and 64 lower-case hexadecimal digits"),
           std::nullopt;
  if (hash->is_zero()) return std::nullopt;
  return *hash;
}

std::vector<View> Fields::elements(std::string_view field, std::optional<View> value) {
  if (!value) return {};
  if (value->kind() != codec::ViewKind::kList)
    return refuse(field, "expected a list"), std::vector<View>();
  std::vector<View> all;
  for (const View element : value->elements()) all.push_back(element);
  return all;
}

std::vector<View> Fields::list(std::string_view field) { return elements(field, required(field)); }

std::vector<View> Fields::optional_list(std::string_view field) {
  return elements(field, optional(field));
}

void Fields::finish() {
  for (const auto& [key, value] : object_.entries()) {
    const std::string_view field = key.text().value_or("");
    if (field == "$comment" || std::find(known_.begin(), known_.end(), field) != known_.end())
      continue;
    errors_.push_back(base::invalid(path_, "unknown field " + codec::quoted(field)));
  }
}

std::string read_name(View value, const std::string& path, Errors& errors) {
  const auto text = value.text();
  if (!text) return errors.push_back(base::invalid(path, "expected a name")), std::string();
  if (auto problem = name_problem(*text)) {
    return errors.push_back(base::invalid(path, std::move(*problem))), std::string();
  }
  return std::string(*text);
}

}  // namespace holdfast::defs
