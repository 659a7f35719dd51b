// SPDX-License-Identifier: Apache-2.0
#include "tasks/trail.h"

#include <algorithm>

#include "codec/complaint.h"

namespace holdfast::tasks {
namespace {

bool is_plain_key(std::string_view key) {
  constexpr std::size_t kLongestShown = 64;
  return !key.empty() && key.size() <= kLongestShown &&
         std::all_of(key.begin(), key.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '$';
         });
}

}  // namespace

std::vector<const Trail*> Trail::steps() const {
  std::vector<const Trail*> steps;
  for (const Trail* at = this; at->from_ != nullptr; at = at->from_) steps.push_back(at);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::string Trail::text() const {
  const Trail* first = this;
  while (first->from_ != nullptr) first = first->from_;
  return text_from(first->root_);
}

std::string Trail::text_from(std::string_view root) const {
  std::string text(root);
  for (const Trail* step : steps()) {
    if (!step->is_key_) {
      text += "[" + std::to_string(step->index_) + "]";
    } else if (is_plain_key(step->key_)) {
      text += (text.empty() ? "" : ".") + std::string(step->key_);
    } else {
      text += "[" + codec::quoted(step->key_) + "]";
    }
  }
  return text;
}

bool Trail::leads_into(codec::View value) const {
  for (const Trail* step : steps()) {
    const auto next = step->is_key_ ? value.find(step->key_) : element_at(value, step->index_);
    if (!next) return false;
    value = *next;
  }
  return true;
}

std::optional<codec::View> element_at(codec::View list, std::uint64_t index) {
  if (list.kind() != codec::ViewKind::kList || index >= list.size()) return std::nullopt;
  auto at = list.elements().begin();
  for (std::uint64_t i = 0; i < index; ++i) ++at;
  return *at;
}

}  // namespace holdfast::tasks
