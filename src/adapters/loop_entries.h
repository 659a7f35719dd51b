// SPDX-License-Identifier: Apache-2.0
// Entries of a run on their way to an adapter: names instead of indices, and nothing is encoded.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/step_adapter.h"
#include "steps/entry_codec.h"

namespace holdfast::adapters {

class LoopEntries : public steps::EntryGroups {
 public:
  LoopEntries(const steps::Graph& graph, StepAdapter& adapter)
      : graph_(graph), adapter_(&adapter), is_followed_(adapter.is_followed()) {}

  void turn_to(StepAdapter& adapter) {
    adapter_ = &adapter;
    is_followed_ = adapter.is_followed();
  }

  bool is_muted = false;  // what is published now was published before

  void add(const steps::Entry& entry) override {
    if (is_followed_ && !is_muted) group(entry);
  }

 protected:
  void put(std::string_view kind, const steps::Entry& entry,
           std::span<const steps::Change> changes) override;

 private:
  const steps::Graph& graph_;
  StepAdapter* adapter_;
  bool is_followed_;
  std::vector<std::string_view> steps_;
  std::vector<StepEntryView::Change> changes_;
};

}  // namespace holdfast::adapters
