// SPDX-License-Identifier: Apache-2.0
// Document: a task document as it is written, with its shape recognised and its names given. What
// its nodes depend on, and whether they make a graph, is for tasks/compile.h.
//
//   apiVersion: holdfast/v1
//   kind: Workflow                          free text
//   metadata: {name, owner, annotations}
//   spec:                                   one of three shapes; the rest of it is the template
//     taskType: echo                        one task
//     stages: [{name, dependsOn, foreach, spec}]
//     graph: {nodes: [{name, dependsOn, foreach, spec}]}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/view.h"
#include "tasks/problems.h"

namespace holdfast::tasks {

enum class DocumentShape : std::uint8_t { kTask, kStages, kGraph };

// Views into the document.
struct DocumentNode {
  std::string name;
  std::optional<codec::View> spec;
  std::optional<codec::View> depends_on;  // a list
  std::optional<codec::View> foreach;     // a list
};

struct Document {
  DocumentShape shape = DocumentShape::kTask;
  std::string name;
  std::string owner;
  std::string kind;
  std::optional<codec::View> annotations;
  std::optional<codec::View> schedule_hint;
  codec::View spec;  // of the root: the template, with `stages` or `graph` still in it
  std::vector<DocumentNode> nodes;

  // "spec.graph.nodes[3]", "spec.stages[3]", or "" for the only task.
  std::string place_of(std::size_t node) const;

  // "; did you mean 'train'?" where a node has a name like this one; else nothing.
  std::string close_name(std::string_view word) const;
};

// Nothing if its shape cannot be recognised, or if it has more than `most_nodes` nodes. With
// problems the rest holds what could be read.
std::optional<Document> read_document(codec::View value, std::size_t most_nodes,
                                      Problems& problems);

}  // namespace holdfast::tasks
