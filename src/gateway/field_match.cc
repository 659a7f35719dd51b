// SPDX-License-Identifier: Apache-2.0
#include "gateway/field_match.h"

#include <algorithm>
#include <array>

#include "codec/json_writer.h"

namespace holdfast::gateway {
namespace {

// What an instance has; the first three may have members of their own.
constexpr std::array<std::string_view, 6> kMembers{"state", "result", "error",
                                                   "key",   "status", "paused"};

}  // namespace

base::Result<FieldMatch> FieldMatch::parse(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return base::invalid(std::string(text), "expected FIELD=VALUE, as state.sku=mug");
  FieldMatch match;
  match.value_ = text.substr(equals + 1);
  std::string_view rest = text.substr(0, equals);
  for (;;) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    match.path_.emplace_back(rest.substr(0, dot));
    if (match.path_.back().empty())
      return base::invalid(std::string(text), "a part of the name of its field is empty");
    if (dot == rest.size()) break;
    rest.remove_prefix(dot + 1);
  }
  if (std::ranges::find(kMembers, match.path_.front()) == kMembers.end()) {
    return base::invalid(std::string(text),
                         "a field is one of state, result and error, or of them, as state.sku; or "
                         "key, status, paused");
  }
  return match;
}

bool FieldMatch::holds(codec::View instance) const {
  codec::View at = instance;
  for (const std::string& name : path_) {
    if (at.kind() != codec::ViewKind::kMap) return false;
    const auto member = at.find(name);
    if (!member) return false;
    at = *member;
  }
  if (const auto text = at.text()) return *text == value_;
  // An enum, or a variant whose value does not matter: state.phase=active.
  if (at.kind() == codec::ViewKind::kMap) {
    if (const auto tag = at.find("$tag"); tag && tag->text() == value_) return true;
  }
  return codec::to_json(at) == value_;
}

}  // namespace holdfast::gateway
