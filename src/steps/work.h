// SPDX-License-Identifier: Apache-2.0
// What the reducers of all ticks share. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "steps/reduce.h"

namespace holdfast::steps {

struct Work {
  const Graph& graph;
  State& state;
  std::uint64_t now_ns;
  std::vector<Command>& commands;
  bool has_exited = false;  // the run is over: nothing else is begun

  void emit(Command command) { commands.push_back(std::move(command)); }
  void publish(Entry entry) { emit(PublishEntry{std::move(entry)}); }
};

// A time, or the end of time.
inline std::uint64_t after(std::uint64_t now_ns, std::uint64_t ns) noexcept {
  return now_ns > UINT64_MAX - ns ? UINT64_MAX : now_ns + ns;
}

// One for each kind of tick.
void reduce_add_event(Work& work, const AddEvent& tick);
void reduce_step_result(Work& work, const StepResult& tick);
void reduce_cancel(Work& work, const CancelRun& tick);
void reduce_timeout(Work& work);
void reduce_waiter_timeout(Work& work, const WaiterTimeout& tick);
void reduce_publish(Work& work, const Publish& tick);
void reduce_began_again(Work& work, const BeganAgain& tick);
void reduce_idle_check(Work& work);
void reduce_idle_release(Work& work);
void reduce_wake_up(Work& work, const WakeUp& tick);
void reduce_child_ended(Work& work, const ChildEnded& tick);
void reduce_tell_early(Work& work);

// dispatch.cc. A free slot, or the end of the queue.
void dispatch(Work& work, StepIndex step, Attempt attempt);
void drain(Work& work, StepIndex step);  // the queue into free slots
void drain_all(Work& work);
void run_again(Work& work, StepIndex step, Running& running);  // on its slot

// publish_tick.cc. If its body has published before: that it runs again, and why.
void tell_repeat(Work& work, StepIndex step, Running& running, const Failure& why);

// failure.cc
void fail_run(Work& work, Entry entry);
void step_failed(Work& work, StepIndex step, std::size_t at, const Failed& failed);

// step_result_tick.cc. Frees the slot; `output` is the type of what its body returned.
Attempt leave_slot(Work& work, StepIndex step, std::size_t at,
                   std::optional<TypeIndex> output = std::nullopt);

// fan_out.cc. What is open in a fan-out is counted: one that ends may have `successors` in it.
void open_stream(Work& work, StepIndex opener, const Attempt& attempt,
                 const std::vector<Event>& events);
void settle_item(Work& work, std::uint64_t stream, std::uint64_t successors);

enum class Joined : std::uint8_t { kNo, kYes, kCannot };
Joined join(Work& work, StepIndex step, const AddEvent& tick);

// One list of all values, in their order.
Event list_of(Work& work, TypeIndex type, const std::vector<Event>& members);
void merge(Lineage& lineage, const Lineage& other);

// slots.cc. Into a slot of the step, if it has one for it; that may make a set complete.
enum class Filled : std::uint8_t { kNo, kHeld, kComplete };
Filled fill_slot(Work& work, StepIndex step, const AddEvent& tick);
// What waits for others of a fan-out that has closed: none will come.
void drop_held(Work& work, std::uint64_t stream);

// collect.cc. Whether a run saw buffers and store as they are, where it matters.
bool is_stale(const Work& work, const StepState& step, const Running& running,
              const StepResult& result);
void add_collected(Work& work, StepState& step, const AddCollected& added);
void delete_collected(Work& work, StepState& step, const DeleteCollected& deleted);
void edit_store(Work& work, const StoreEdit& edit);

// early.cc. An event that nobody takes: kept, if there is room for it, or told.
void keep_early(Work& work, const AddEvent& tick);
// The first that answers this waiter, which is for nobody else then.
std::optional<Event> take_early(Work& work, StepIndex step, const Waiter& waiter);
// Nobody will wait for them any more.
void tell_early(Work& work);

// waiters.cc
bool answers(const Event& event, const Waiter& waiter);
bool wake_waiters(Work& work, StepIndex step, const Event& event);
// What it waits for may have come before: then it is answered, and to be started again.
const Waiter* add_waiter(Work& work, StepIndex step, const Attempt& attempt, const AddWaiter& added,
                         std::uint64_t let_out);
// Of an item that has ended, or is given up.
void end_item(Work& work, StepIndex step, std::uint64_t item);
void restart_trigger(Work& work, StepIndex step, const Waiter& waiter);

// child_ended_tick.cc. Of a wait that is given up.
void stop_child(Work& work, const Waiter& waiter);

// cancel_tick.cc
void cancel_step(Work& work, const CancelStep& cancelled);

}  // namespace holdfast::steps
