// SPDX-License-Identifier: Apache-2.0
#include "kernel/draft.h"

namespace holdfast::kernel {

Touched& Draft::add(std::string_view workflow, Cell& cell) {
  if (count_ == entries_.size()) entries_.emplace_back();
  Touched& entry = entries_[count_++];
  entry.workflow = workflow;
  entry.key = cell.key;
  entry.previous_record = cell.last_record;
  entry.cell = &cell;
  entry.ended = entry.is_unhandled = false;
  entry.steps = 0;
  entry.ignored = 0;
  entry.opened.clear();
  entry.settled.clear();
  entry.annotations.clear();
  cell.touched = static_cast<std::uint32_t>(count_);
  return entry;
}

void Draft::end_life(Cell& cell) {
  Touched& entry = touched(cell.touched - 1);
  entry.key = keep(entry.key);
  entry.cell = nullptr;
  cell.touched = 0;
  ended_[{cell.workflow, cell.id}] = entry.previous_record;
}

std::uint64_t Draft::record_before(const Cell& cell) const {
  if (ended_.empty()) return 0;
  const auto found = ended_.find({cell.workflow, cell.id});
  return found == ended_.end() ? 0 : found->second;
}

void Draft::clear() {
  count_ = 0;
  kept_.clear();
  ended_.clear();
  emitted.clear();
  notes.clear();
  halts.clear();
  commands.clear();
  deliveries = ignored = steps = 0;
  addressed = 0;
  output_bytes = quiet_intents = 0;
  used_rules_2 = used_rules_3 = used_rules_4 = false;
}

}  // namespace holdfast::kernel
