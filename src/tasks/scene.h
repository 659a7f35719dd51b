// SPDX-License-Identifier: Apache-2.0
// Scene: reads a part of a document strictly, and says where it is wrong. The spec of a task is
// merged of two parts of its document; a scene knows both, so that an error names the part that
// holds the mistake: the node's own spec, or the template.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "codec/view.h"
#include "tasks/problems.h"
#include "tasks/trail.h"

namespace holdfast::tasks {

using codec::View;
using codec::ViewKind;

// A part of a document, and where it stands.
struct Part {
  std::optional<View> value;
  std::string root;
};

class Scene {
 public:
  // The document itself.
  explicit Scene(Problems& problems) : problems_(problems) {}

  // A merged spec. What stands in neither part, because it is missing, is missing in `own`.
  Scene(Problems& problems, Part own, Part below)
      : problems_(problems), own_(std::move(own)), below_(std::move(below)) {}

  std::string place(const Trail& where) const;
  void refuse(const Trail& where, std::string message) {
    problems_.add(place(where), std::move(message));
  }
  void refuse_too_large(const Trail& where, std::string message) {
    problems_.add_too_large(place(where), std::move(message));
  }
  Problems& problems() noexcept { return problems_; }

  // Whether it is a mapping; refused otherwise.
  bool expect_map(View value, const Trail& where);

  // Refuses keys that are not among `known`.
  void expect_keys(View map, const Trail& where, std::span<const std::string_view> known);

  // A text that is not empty and not too long; nothing where it is absent or refused. Such texts
  // are used as they stand, so a reference in one is refused rather than ignored.
  std::optional<std::string> literal_text(View map, std::string_view key, const Trail& where);
  std::optional<std::string> as_literal_text(View value, const Trail& where);

  std::optional<bool> boolean(View map, std::string_view key, const Trail& where);

 private:
  Problems& problems_;
  Part own_;
  Part below_;
};

// The value under a key; null counts as absent.
std::optional<View> member(View map, std::string_view key);

// "a text", "a list": what a value is, for errors.
std::string_view kind_name(View value);

}  // namespace holdfast::tasks
