// SPDX-License-Identifier: Apache-2.0
#include "adapters/loop_entries.h"

#include "kernel/text.h"

namespace holdfast {

namespace adapters {

void LoopEntries::put(std::string_view kind, const steps::Entry& entry,
                      std::span<const steps::Change> changes) {
  const auto name = [this](steps::StepIndex step) -> std::string_view {
    return graph_.step(step).name;
  };
  const auto type = [this](std::optional<steps::TypeIndex> one) -> std::string_view {
    return one && graph_.has(steps::Rules::kTellsAttempts) ? graph_.type(*one).schema
                                                           : std::string_view();
  };
  steps_.clear();
  for (const steps::StepIndex step : entry.active) steps_.push_back(name(step));
  changes_.clear();
  for (const steps::Change& change : changes)
    changes_.push_back({change.item, change.slot, name(change.step), steps::word_for(change.kind),
                        type(change.input), type(change.output)});
  const std::string code = kernel::shown(entry.failure.code);
  const std::string message = steps::message_of(entry);
  StepEntryView view;
  view.kind = kind;
  if (entry.step) view.step = name(*entry.step);
  if (entry.event) {
    view.schema = graph_.type(entry.event->type).schema;
    view.value = entry.event->value;
  }
  view.code = code;
  view.message = message;
  view.attempts = entry.attempts;
  view.elapsed_ns = entry.elapsed_ns;
  view.item = graph_.has(steps::Rules::kTellsAttempts) ? entry.item : 0;
  view.due_ns = entry.due_ns;
  view.steps = steps_;
  view.changes = changes_;
  adapter_->publish(view);
}

}  // namespace adapters

StepEntry StepEntryView::copy() const {
  StepEntry entry;
  entry.kind = kind;
  entry.step = step;
  entry.schema = schema;
  entry.value.assign(value.begin(), value.end());
  entry.code = code;
  entry.message = message;
  entry.attempts = attempts;
  entry.elapsed_ns = elapsed_ns;
  entry.item = item;
  entry.due_ns = due_ns;
  entry.steps.assign(steps.begin(), steps.end());
  for (const Change& change : changes)
    entry.changes.push_back({change.item, change.slot, std::string(change.step),
                             std::string(change.state), std::string(change.input),
                             std::string(change.output)});
  return entry;
}

}  // namespace holdfast
