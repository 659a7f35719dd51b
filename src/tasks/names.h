// SPDX-License-Identifier: Apache-2.0
// Names of nodes, and the table in which dependencies and references look them up. A name stands in
// references, as in ${train.loss}, so it has no dots, brackets, braces or spaces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"

namespace holdfast::tasks {

// The number of a node in its document, and later in its plan.
using NodeIndex = std::uint32_t;

// In references it stands for the element of a foreach, so no node can have it.
inline constexpr std::string_view kElementNode = "foreach";

// What is wrong with the name of a node, or nothing.
std::optional<std::string> name_problem(std::string_view name);

// What is wrong with a task type or the name of a worker, or nothing. Such a name may also hold
// dots, slashes, colons and at signs.
std::optional<std::string> label_problem(std::string_view label);

// "stage-3", "node-3" for the third one.
std::string default_name(std::string_view kind, std::size_t position);

// A text in quotes, on one line and not too long to be read.
std::string quote(std::string_view text);

class NameTable {
 public:
  // The node that has the name already, if there is one.
  std::optional<NodeIndex> add(std::string_view name, NodeIndex node);
  std::optional<NodeIndex> find(std::string_view name) const;

 private:
  // Looked up only: the order of iteration differs from process to process.
  std::unordered_map<std::string_view, NodeIndex, base::HashOfText> nodes_;
};

}  // namespace holdfast::tasks
