// SPDX-License-Identifier: Apache-2.0
// Input: what will become a tick, with bytes of its own. It is made wherever it comes from, and
// goes to the thread that reduces.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "kernel/tick.h"

namespace holdfast::node {

class Input {
 public:
  using Tick = decltype(kernel::Tick::input);

  // Copies everything that the tick borrows.
  static Input event(const kernel::EventArrived& event);
  static Input receipt(const kernel::ReceiptArrived& receipt);
  static Input progress(const kernel::ProgressArrived& progress);
  static Input control(const kernel::ControlRequested& request);
  static Input apply(const kernel::ApplyManifest& apply);
  static Input propose(const kernel::Propose& propose);
  static Input shadow(const kernel::ReportShadow& report);
  static Input decide(const kernel::Decide& decide);
  static Input apply_proposal(const kernel::ApplyProposal& apply);
  static Input forget(const kernel::ForgetEnded& forget);
  static Input enrol(const kernel::WorkerEnrolled& enrolled);
  static Input change_worker(const kernel::WorkerChanged& changed);
  static Input lease(const kernel::Leased& leased);
  static Input give_back(const kernel::Returned& returned);
  static Input stop_work(const kernel::StopAsked& asked);
  static Input mark_source(const kernel::SourceMarked& marked);
  static Input reopen(const kernel::ReopenInstance& reopen);
  static Input migrate(const kernel::MigrateInstances& migrate);
  static Input go_on() { return Input(kernel::Continue{}, nullptr, 0); }

  const Tick& tick() const noexcept { return tick_; }
  std::size_t size() const noexcept { return size_; }  // of the bytes it owns

  // What people decide about instances and definitions. It must get through whatever else waits.
  bool is_control() const noexcept;

  // Results of work that has begun are taken even when there is no room for anything new.
  bool ends_work() const noexcept {
    return std::holds_alternative<kernel::ReceiptArrived>(tick_) ||
           std::holds_alternative<kernel::Returned>(tick_) ||
           std::holds_alternative<kernel::Continue>(tick_);
  }

 private:
  // `borrowed` names what the tick borrows, as a tuple of references into it.
  template <class Part, class Borrowed>
  static Input owning(Part own, Borrowed borrowed);

  Input(const Tick& tick, std::unique_ptr<std::uint8_t[]> bytes, std::size_t size)
      : tick_(tick), bytes_(std::move(bytes)), size_(size) {}

  Tick tick_;
  std::unique_ptr<std::uint8_t[]> bytes_;  // that the tick borrows
  std::size_t size_;
};

}  // namespace holdfast::node
