// SPDX-License-Identifier: Apache-2.0
// Entries of a run's stream as values: a sys/StepEntry@1 each. Changes of steps that follow each
// other become one value: a fan-out of a thousand is then one entry and not thousands.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "steps/command.h"
#include "steps/graph.h"

namespace holdfast::steps {

class EntryWriter {
 public:
  EntryWriter(const Graph& graph, Arena& arena, std::vector<base::ByteView>& out)
      : graph_(graph), arena_(arena), out_(out) {}

  void add(const Entry& entry);
  void finish();  // nothing comes behind

 private:
  const Graph& graph_;
  Arena& arena_;
  std::vector<base::ByteView>& out_;
  std::vector<Entry> changes_;
};

}  // namespace holdfast::steps
