// SPDX-License-Identifier: Apache-2.0
// Turn: what a step workflow does with one message. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/machine.h"
#include "steps/broker.h"
#include "steps/entry_codec.h"
#include "steps/machine.h"
#include "steps/reduction.h"

namespace holdfast::steps {

class Turn {
 public:
  Turn(const StepsMachine& machine, const kernel::StepInput& input, kernel::StepOutput& output,
       Broker& broker);

  void take(const kernel::Mail& mail);
  void finish();

 private:
  // turn.cc: messages become ticks.
  void take_event(const kernel::Mail& mail);
  void take_answer(const kernel::Mail& mail);
  void take_result(std::uint64_t run, const kernel::Mail& mail);
  void take_alarm(std::uint64_t due_ns);
  void take_child(std::uint64_t number, const kernel::Mail& mail);
  void take_progress(const kernel::Mail& mail);
  void publish(std::uint64_t run, base::ByteView piece);
  void refuse_piece(std::uint64_t run, const std::string& why);

  // turn_output.cc: what they asked for goes out, as far as it fits.
  void check_size(std::size_t bytes);
  void issue_entries();
  void issue_runs();
  void issue_children();
  void issue_stops();
  void set_alarm();
  void go_on_later();
  void end_run();
  void write_state(std::string_view status);
  void write_timer(std::uint64_t due_ns, std::string_view ref);
  void fail_run(std::string_view code, std::string_view message);
  std::size_t room() const;  // in bytes, for what has not been written yet

  const StepsMachine& machine_;
  const Graph& graph_;
  const kernel::StepInput& input_;
  kernel::StepOutput& output_;
  State& state_;
  Outbox& outbox_;
  const std::uint64_t now_ns_;
  const std::size_t old_entries_;  // of an older state: they go out whatever becomes of this turn
  const bool can_hold_;            // an event: it may wait until a step that runs has ended
  EntryWriter entries_;
  Reduction reduction_;
  bool is_removed_ = false;
  bool tells_bad_pieces_ = false;
  std::size_t issued_ = 0;  // in this turn: effects
  std::size_t issued_bytes_ = 0;
  bool has_moved_ = false;  // something went out, so that more may fit the next time
};

}  // namespace holdfast::steps
