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
  entry.steps = entry.ignored = 0;
  entry.opened.clear();
  entry.settled.clear();
  entry.annotations.clear();
  cell.touched = static_cast<std::uint32_t>(count_);
  return entry;
}

void Draft::forget_cell(Touched& touched) {
  touched.key = keep(touched.key);
  touched.cell = nullptr;
}

void Draft::clear() {
  count_ = 0;
  kept_.clear();
  emitted.clear();
  notes.clear();
  commands.clear();
  deliveries = ignored = steps = 0;
  output_bytes = 0;
}

}  // namespace holdfast::kernel
