// SPDX-License-Identifier: Apache-2.0
#include "executors/params.h"

#include <algorithm>

#include "kernel/program.h"

namespace holdfast::executors {
namespace {

base::Error wrong(std::string_view field, const char* message) {
  return base::invalid("$." + std::string(field), message);
}

std::optional<std::string_view> text_or_bytes(codec::View value) {
  if (const auto text = value.text()) return text;
  if (const auto bytes = value.bytes()) return base::as_text(*bytes);
  return std::nullopt;
}

}  // namespace

std::optional<codec::View> Params::find(std::string_view field) const {
  if (map_.kind() != codec::ViewKind::kMap) return std::nullopt;
  const auto found = map_.find(field);
  if (!found || found->is_null()) return std::nullopt;
  return found;
}

base::Result<std::string_view> Params::text(std::string_view field) const {
  const auto text = TRY(optional_text(field));
  if (!text) return wrong(field, "is wanted");
  return *text;
}

base::Result<std::optional<std::string_view>> Params::optional_text(std::string_view field) const {
  const auto found = find(field);
  if (!found) return std::optional<std::string_view>();
  if (!found->text()) return wrong(field, "must be a text");
  return found->text();
}

base::Result<std::optional<std::uint64_t>> Params::optional_nat(std::string_view field) const {
  const auto found = find(field);
  if (!found) return std::optional<std::uint64_t>();
  if (!found->nat()) return wrong(field, "must be a natural number");
  return found->nat();
}

base::Result<std::string_view> revealed(codec::View value, std::string_view field,
                                        const SecretSource* secrets, std::vector<Secret>& used) {
  if (const auto plain = text_or_bytes(value)) return *plain;
  const auto tag = value.find("$tag");
  const auto inner = value.find("$value");
  if (!tag || !inner) return wrong(field, "must be a text, bytes, or name a secret");
  if (tag->text() == "literal") {
    if (const auto plain = text_or_bytes(*inner)) return *plain;
  }
  const auto name = tag->text() == "secret" ? secret_name(*inner) : std::nullopt;
  if (!name) return wrong(field, "must be a text, bytes, or name a secret");
  if (secrets == nullptr)
    return base::Error(base::ErrorCode::kNotFound, "secret " + *name, "this node has no secrets");
  used.push_back(TRY(secrets->find(*name)));
  return used.back().reveal();
}

std::optional<std::uint64_t> asked_time_limit_ns(const kernel::OpenIntent& intent) {
  const auto asked = Params(intent.params).optional_nat("timeout_ns");
  if (asked && *asked) return *asked;
  return intent.effect != nullptr ? intent.effect->timeout_ns : std::nullopt;
}

std::uint64_t time_limit_ns(const kernel::OpenIntent& intent, std::optional<std::uint64_t> asked_ns,
                            std::uint64_t most_ns) {
  if (!asked_ns && intent.effect != nullptr) asked_ns = intent.effect->timeout_ns;
  return std::min(asked_ns.value_or(most_ns), most_ns);
}

}  // namespace holdfast::executors
