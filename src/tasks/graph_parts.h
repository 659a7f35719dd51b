// SPDX-License-Identifier: Apache-2.0
// A graph enters a world in parts of bounded size, and runs when it is sealed: half a graph never
// runs. GraphHeader says what the whole is; parts carry the definitions of tasks in order;
// GraphIntake takes them in and knows when all are there. docs/formats/task-graph.md has the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "tasks/limits.h"
#include "tasks/plan.h"

namespace holdfast::tasks {

struct GraphHeader {
  std::string name;
  std::string owner;
  std::string kind;
  base::Bytes annotations;  // a canonical mapping without tag
  std::uint32_t run_count = 0;
  std::uint32_t total_count = 0;
  std::uint32_t epoch_count = 0;
  bool is_ordered = false;
  base::Hash digest;  // over all definitions, in order

  friend bool operator==(const GraphHeader&, const GraphHeader&) = default;
};

GraphHeader header_of(const Plan& plan);

// Canonical values, with the self-describe tag.
base::Bytes encode(const GraphHeader& header);
base::Result<GraphHeader> decode_header(base::ByteView bytes);

// The parts of a graph, each of at most `part_bytes`, which is at least kMaxTaskBytes +
// kPartOverheadBytes and at most kMaxPartBytes.
std::vector<base::Bytes> split(const Plan& plan, std::size_t part_bytes = kDefaultPartBytes);

// The definitions in a part.
base::Result<std::vector<TaskDefinition>> decode_part(base::ByteView bytes);

// What has come in of a graph. It is small, however large the graph: a number and a hash.
class GraphIntake {
 public:
  GraphIntake() = default;
  GraphIntake(TaskIndex next, base::Hash digest) : next_(next), digest_(digest) {}

  TaskIndex next() const noexcept { return next_; }
  const base::Hash& digest() const noexcept { return digest_; }

  // Takes in the next part and gives its definitions. kConflict: it is not the next one. A part
  // that is refused changes nothing.
  base::Result<std::vector<TaskDefinition>> add(base::ByteView part);

  // Whether the whole graph is there, and is the one that the header describes. kConflict: it is
  // not.
  base::Result<void> seal(const GraphHeader& header) const;

 private:
  TaskIndex next_ = 0;
  base::Hash digest_;
};

}  // namespace holdfast::tasks
