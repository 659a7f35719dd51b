// SPDX-License-Identifier: Apache-2.0
// A graph enters a world in parts of bounded size, and runs when it is sealed: half a graph never
// runs. GraphHeader says what the whole is; parts carry the definitions of tasks in order;
// GraphIntake takes them in and knows when all are there. docs/formats/task-graph.md has the bytes,
// which are canonical values without tag: they stand inside events and states.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "codec/buffer.h"
#include "codec/view.h"
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
  // Tasks with smaller numbers are told when the graph starts: all that depend on nothing are among
  // them.
  std::uint32_t told_start = 0;
  std::string rerun_of;  // the graph whose results it adopts; empty: none
  base::Hash digest;     // over all definitions, in order

  friend bool operator==(const GraphHeader&, const GraphHeader&) = default;
};

GraphHeader header_of(const Plan& plan);

void write_header(codec::Buffer& out, const GraphHeader& header);
base::Result<GraphHeader> read_header(codec::View value);

// The digest of a graph begins as zeros and goes on with each definition.
base::Hash digest_with(const base::Hash& before, base::ByteView definition);

// Puts definitions together to parts.
class PartWriter {
 public:
  explicit PartWriter(TaskIndex first) noexcept : first_(first) {}

  // False: the part is full, and must be taken first. `adopted` is the result that the task begins
  // with; empty: none. Both together are at most kMaxPartBytes - kPartOverheadBytes.
  bool add(base::ByteView definition, base::ByteView adopted = {});
  bool empty() const noexcept { return count_ == 0; }

  // The part; the next one begins behind it.
  base::Bytes take();

 private:
  TaskIndex first_;
  std::uint64_t count_ = 0;
  std::uint64_t adopted_count_ = 0;
  codec::Buffer definitions_;
  codec::Buffer adopted_;
};

// The part of a plan that begins with a task, which then is the first of the next part.
base::Bytes part_from(const Plan& plan, TaskIndex& next);

// One task of a part; the views are into the part.
struct PartTask {
  TaskDefinition task;
  base::ByteView definition;
  base::ByteView adopted;  // empty: none
};

base::Result<std::vector<PartTask>> read_part(codec::View part);

// What has come in of a graph. It is small, however large the graph: a number and a hash.
class GraphIntake {
 public:
  GraphIntake() = default;
  GraphIntake(TaskIndex next, base::Hash digest) : next_(next), digest_(digest) {}

  TaskIndex next() const noexcept { return next_; }
  const base::Hash& digest() const noexcept { return digest_; }

  // Takes in the next part and gives its tasks. kConflict: it is not the next one. kInvalid: it is
  // not a part of a graph with this header. A part that is refused changes nothing.
  base::Result<std::vector<PartTask>> add(codec::View part, const GraphHeader& header);

  // Whether the whole graph is there, and is the one that the header describes. kConflict: it is
  // not.
  base::Result<void> seal(const GraphHeader& header) const;

 private:
  TaskIndex next_ = 0;
  base::Hash digest_;
};

}  // namespace holdfast::tasks
