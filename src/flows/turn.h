// SPDX-License-Identifier: Apache-2.0
// Turn: one message to one flow. Work is a queue of beginnings and ends of nodes, so that a long
// flow is no deep recursion.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "flows/program.h"
#include "flows/run.h"
#include "flows/substitute.h"
#include "kernel/machine.h"

namespace holdfast::flows {

class Turn {
 public:
  Turn(const kernel::StepInput& input, kernel::StepOutput& output, const Program& program, Run& run)
      : input_(input), output_(output), program_(program), run_(run) {}

  void begin();
  void take_signal(std::string_view name, base::ByteView data);
  void take_answer(const kernel::Mail& mail);

  // Until nothing is left to do without an answer. True: the flow goes on. False: the output says
  // how it ended.
  bool work();

 private:
  struct Enter {
    FrameId parent;
    std::uint32_t node;
    std::uint32_t branch;
    std::vector<Binding> bindings;
  };
  struct End {
    FrameId frame;
    Outcome outcome;
  };

  const Node& node_of(const Frame& frame) const { return program_.nodes[frame.node]; }
  void enter(const Enter& what);
  void enter_child(FrameId parent, std::uint32_t child) {
    work_.push_back(
        Enter{parent, program_.nodes[run_.frames.at(parent).node].children[child], child, {}});
  }
  void end(FrameId frame, Outcome outcome) { work_.push_back(End{frame, std::move(outcome)}); }
  void end_now(FrameId id, Outcome outcome);
  void child_ended(FrameId id, Frame& frame, std::uint32_t branch, std::vector<Binding> bindings,
                   Outcome outcome);
  void branch_ended(FrameId id, Frame& frame, std::uint32_t branch, std::vector<Binding> bindings,
                    Outcome outcome);
  void race_ended(FrameId id, std::vector<Binding> bindings, Outcome outcome);
  void loop_child_ended(FrameId id, Frame& frame, Outcome outcome);
  void next_round(FrameId id, Frame& frame);
  void begin_each(FrameId id, Frame& frame, const Node& node);
  void enter_rows(FrameId id, Frame& frame, const Node& node);
  void finish_flow(const Outcome& outcome);

  void open(FrameId id);
  void open_timer(FrameId id, std::uint64_t at_ns);
  void open_sql(FrameId id, std::string_view path, std::string_view query);
  void open_http(FrameId id, const Node& node);
  void open_task(FrameId id, const Node& node);
  void begin_effect(FrameId id, std::string_view effect);
  void answered(FrameId id, Frame& frame, const kernel::Mail& mail);
  void http_answered(FrameId id, const kernel::Mail& mail);

  void kill_below(FrameId id);
  void stop_waiting(FrameId id);
  void bind(FrameId from, std::string_view name, base::Bytes value);
  std::optional<codec::View> find_result(FrameId from, std::string_view name) const;
  base::Result<std::string> filled(FrameId id, std::string_view text, Quoting quoting) const;
  std::uint64_t now_ns() const { return input_.context.time_ns(); }

  const kernel::StepInput& input_;
  kernel::StepOutput& output_;
  const Program& program_;
  Run& run_;
  std::deque<std::variant<Enter, End>> work_;
  std::size_t effects_ = 0;  // that were opened in this turn
  bool is_over_ = false;
};

}  // namespace holdfast::flows
