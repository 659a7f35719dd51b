// SPDX-License-Identifier: Apache-2.0
#include "steps/reduce.h"

#include "steps/work.h"

namespace holdfast::steps {
namespace {

struct Switch {
  Work& work;

  void operator()(const AddEvent& tick) const { reduce_add_event(work, tick); }
  void operator()(const StepResult& tick) const { reduce_step_result(work, tick); }
  void operator()(const CancelRun& tick) const { reduce_cancel(work, tick); }
  void operator()(const Timeout&) const { reduce_timeout(work); }
  void operator()(const WaiterTimeout& tick) const { reduce_waiter_timeout(work, tick); }
  void operator()(const Publish& tick) const { reduce_publish(work, tick); }
  void operator()(const IdleCheck&) const { reduce_idle_check(work); }
  void operator()(const IdleRelease&) const { reduce_idle_release(work); }
  void operator()(const WakeUp& tick) const { reduce_wake_up(work, tick); }
  void operator()(const ChildEnded& tick) const { reduce_child_ended(work, tick); }
  void operator()(const BeganAgain& tick) const { reduce_began_again(work, tick); }
  void operator()(const TellEarly&) const { reduce_tell_early(work); }
};

}  // namespace

void reduce(const Graph& graph, State& state, const Tick& tick, std::uint64_t now_ns,
            std::vector<Command>& commands) {
  Work work{graph, state, now_ns, commands};
  std::visit(Switch{work}, tick);
  const bool looks_itself = std::holds_alternative<IdleCheck>(tick) ||
                            std::holds_alternative<IdleRelease>(tick) ||
                            std::holds_alternative<TellEarly>(tick);
  if (!looks_itself && !work.has_exited && state.is_idle()) work.emit(ScheduleIdleCheck{});
}

}  // namespace holdfast::steps
