// SPDX-License-Identifier: Apache-2.0
// Trail: where a walk through a document stands. Each step links to the one it came from, so a walk
// costs nothing for its place; the text is made when an error needs it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec/view.h"

namespace holdfast::tasks {

class Trail {
 public:
  // The beginning, such as "spec.graph.nodes[3]"; empty for the document itself. The text must
  // outlive the trail, as must the trail that a step comes from.
  explicit Trail(std::string_view root) noexcept : root_(root) {}

  Trail key(std::string_view key) const noexcept { return {this, key, 0, true}; }
  Trail at(std::size_t index) const noexcept { return {this, {}, index, false}; }

  // "spec.graph.nodes[3].dependsOn[0]". A key that is not a plain word stands in brackets.
  std::string text() const;

  // Whether the steps behind the root lead somewhere in `value`.
  bool leads_into(codec::View value) const;

  // The same steps from another beginning.
  std::string text_from(std::string_view root) const;

 private:
  Trail(const Trail* from, std::string_view key, std::size_t index, bool is_key) noexcept
      : from_(from), key_(key), index_(index), is_key_(is_key) {}

  std::vector<const Trail*> steps() const;

  const Trail* from_ = nullptr;
  std::string_view root_;
  std::string_view key_;
  std::size_t index_ = 0;
  bool is_key_ = false;
};

// The element at an index of a list, if it has so many.
std::optional<codec::View> element_at(codec::View list, std::uint64_t index);

}  // namespace holdfast::tasks
