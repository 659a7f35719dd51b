// SPDX-License-Identifier: Apache-2.0
#include "sim/parking.h"

#include <string>

#include "sim/step_judge.h"

namespace holdfast::sim {

Parking::Names Parking::in_memory(const kernel::World& world) const {
  Names names;
  for (const auto& [name, instance] : ledger_.instances()) {
    if (StepJudge::knows(name.first) && world.is_in_memory(name.first, name.second))
      names.insert(name);
  }
  return names;
}

void Parking::before_turn(const kernel::World& world) {
  Look look{world.next_record(), {}, leaving_};
  for (const auto& [name, instance] : ledger_.instances()) {
    const bool is_there = !instance.has_ended() && instance.status != "deleted";
    if (is_there && StepJudge::knows(name.first) && !world.is_in_memory(name.first, name.second))
      look.away.insert(name);
  }
  if (!looks_.empty() && looks_.back().from == look.from) looks_.pop_back();
  looks_.push_back(std::move(look));
}

void Parking::put_away(const kernel::World& world) {
  const Names now = in_memory(world);
  for (const Ledger::Name& name : before_) {
    if (!now.contains(name)) leaving_.insert(name);
  }
}

void Parking::forget() {
  looks_.clear();
  leaving_.clear();
}

void Parking::add(const kernel::RecordView& record, const kernel::InstanceView& instance) {
  while (looks_.size() > 1 && looks_[1].from <= record.number) looks_.pop_front();
  if (looks_.empty() || looks_.front().from > record.number) return;
  const Ledger::Name name(instance.workflow, base::Bytes(instance.key.begin(), instance.key.end()));
  if (looks_.front().away.erase(name) == 0) return;
  std::string by;
  if (record.kind() == kernel::TickKind::kEvent) by = "an event";
  if (const auto* receipt = std::get_if<kernel::ReceiptArrived>(&record.tick.input)) {
    const Ledger::Intent* intent = ledger_.find(receipt->intent);
    by = intent != nullptr && intent->due_ns != 0 ? "a timer" : "a receipt";
  }
  if (by.empty()) return;
  report_.sometimes("a parked run is woken by " + by);
  if (looks_.front().leaving.contains(name))
    report_.sometimes("a run is woken by " + by + " while it is being put away");
}

}  // namespace holdfast::sim
