// SPDX-License-Identifier: Apache-2.0
// What the body of a step may do: StepContext for a function, TaskContext for a coroutine. What is
// done through it counts once, when the body has ended well (holdfast/steps.h says when it runs
// again).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "holdfast/detail/step_call.h"
#include "holdfast/detail/step_parts.h"
#include "holdfast/detail/value_bytes.h"
#include "holdfast/handler.h"
#include "holdfast/resources.h"
#include "holdfast/step_waits.h"

namespace holdfast {

// Of one event that a body publishes while it runs.
inline constexpr std::size_t kMaxPublishedBytes = std::size_t{64} << 10;

class StepContext {
 public:
  StepContext(detail::StepCall& step, const Call& call,
              std::shared_ptr<Resources> resources = nullptr)
      : key(call.key), step_(step), call_(call), resources_(std::move(resources)) {}

  const std::string key;  // of this run of this step; the same after a crash

  // From 1, and anew when what the body waited for has come.
  std::uint64_t attempt() const { return step_.failures() + 1; }
  // How the attempt before this one failed; nothing: this is the first. A long message is cut. Runs
  // that began by earlier rules do not know it.
  std::optional<StepError> last_error() const {
    const auto& last = step_.last_error();
    if (!last) return std::nullopt;
    return StepError(last->first, last->second);
  }
  // Nobody waits for this any more: the run has ended, or another step has cancelled this one
  // (cancel_step). What it reports finds nobody; who takes long may end.
  bool stopped() const { return call_.stopped(); }

  // What names the run of the workflow.
  template <class T>
  T run_key() const {
    return detail::value_of<T>(step_.key());
  }

  // An event besides what is returned, to all that take it or to one step. What a step does not
  // take, and what ends the run, is refused (step.bad_send).
  template <class Event>
  void send(const Event& event, std::string_view step = {}) {
    if (std::string wrong = step_.wrong_send(Event::kSchema, step); !wrong.empty())
      throw StepError("step.bad_send", wrong);
    step_.send(Event::kSchema, detail::bytes_of_value(event), step);
  }
  // An entry of the run's stream, when the body has ended well or begins to wait. A type that the
  // workflow does not name is refused (step.bad_put).
  template <class Event>
  void put(const Event& event) {
    if (std::string wrong = step_.wrong_put(Event::kSchema); !wrong.empty())
      throw StepError("step.bad_put", wrong);
    step_.put(Event::kSchema, detail::bytes_of_value(event));
  }

  // An entry of the run's stream at once, while the body runs: tokens of a model, progress. It is
  // only shown. When the body runs again (holdfast/steps.h) it publishes again, after an entry
  // `attempt_failed` or `began_again`. A body that is faster than the engine waits. False: nobody
  // waits for this body any more. What cannot be shown is refused (step.bad_put): a type that the
  // workflow does not name, a text that is not UTF-8. Outside of an engine (holdfast/memory_runs.h)
  // it is the same as `put`.
  template <class Event>
  bool publish(const Event& event) {
    if (std::string wrong = step_.wrong_put(Event::kSchema); !wrong.empty())
      throw StepError("step.bad_put", wrong);
    const Bytes value = detail::bytes_of_value(event);
    if (std::string wrong = step_.wrong_value(Event::kSchema, value); !wrong.empty())
      throw StepError("step.bad_put", wrong);
    if (!call_.publishes()) return step_.put(Event::kSchema, value), !stopped();
    if (value.size() > kMaxPublishedBytes)
      throw StepError("step.too_large", "what is published at once has at most 64 KiB");
    return call_.publish(detail::encoded([&](Writer& out) {
      out.list(2);
      out.text(Event::kSchema);
      out.bytes(value);
    }));
  }

  // Waits for an event from outside; the body begins anew when it has come, and gets it here. One
  // that came before, while the run was busy, and that nobody took, is taken: the oldest first.
  // WaitTimedOut: it has not come in time. StepError step.not_repeated: the body has waited for
  // something else here before.
  template <class Event>
  Event wait_for(const WaitOptions& options = {}) {
    return now(WaitFor<Event>(step_, options, std::nullopt));
  }
  // The same, and puts a question into the stream when the wait begins.
  template <class Event, class Question>
  Event ask(const Question& question, const WaitOptions& options = {}) {
    return now(WaitFor<Event>(step_, options, asked(question)));
  }

  // Runs an instance of another workflow, one of the Children, under the key that its event has,
  // and waits for its end as for an event. It has a timeout, a history, a `why` of its own; it is
  // cancelled when this run ends before, or when the wait is over.
  // ChildFailed, ChildCancelled: how it ended. WaitTimedOut: it has not ended in time.
  template <class Child, class Event>
  typename detail::ResultOf<Child>::type run(const Event& start, const RunOptions& options = {}) {
    return now(WaitForEnd<Child>(step_, start, options));
  }

  // Puts `event` aside until there is one for each type, for one that is named twice two; then all
  // of them, in the order of the types. One more than are needed of a type is left out. What other
  // calls of this body have put aside counts, too; what is there of other types stays there.
  template <class... Events, class Event>
  std::optional<std::tuple<Events...>> collect(const Event& event,
                                               std::string_view buffer = "default") {
    static_assert((std::is_same_v<Event, Events> || ...),
                  "holdfast: what is collected is one of the types that are waited for");
    constexpr std::size_t kWanted = (std::size_t{std::is_same_v<Event, Events>} + ...);
    std::vector<detail::SchemaValue> there = step_.buffer(buffer);
    const auto is_own = [](const detail::SchemaValue& one) { return one.schema == Event::kSchema; };
    if (std::count_if(there.begin(), there.end(), is_own) >= std::ptrdiff_t{kWanted}) {
      step_.saw(buffer);  // it may be one too many no more
      return std::nullopt;
    }
    const Bytes value = detail::bytes_of_value(event);
    there.push_back({Event::kSchema, value});
    std::vector<std::optional<detail::SchemaValue>> set;
    for (const std::string_view schema : {std::string_view(Events::kSchema)...})
      set.push_back(detail::take_first(there, schema));
    if (!std::all_of(set.begin(), set.end(), [](const auto& one) { return one.has_value(); })) {
      step_.collect(buffer, Event::kSchema, value);
      return std::nullopt;
    }
    put_back(buffer, there);
    return [&]<std::size_t... At>(std::index_sequence<At...>) {
      return std::tuple<Events...>{detail::value_of<Events>(set[At]->value)...};
    }
    (std::index_sequence_for<Events...>());
  }
  // The same for `count` of one type; for none the list is empty, and nothing is put aside.
  template <class Event>
  std::optional<std::vector<Event>> collect(const Event& event, std::size_t count,
                                            std::string_view buffer = "default") {
    if (count == 0) return std::vector<Event>();
    const std::vector<detail::SchemaValue> there = step_.buffer(buffer);
    const auto is_own = [](const detail::SchemaValue& one) { return one.schema == Event::kSchema; };
    const auto own = static_cast<std::size_t>(std::count_if(there.begin(), there.end(), is_own));
    if (own + 1 < count) {
      step_.collect(buffer, Event::kSchema, detail::bytes_of_value(event));
      return std::nullopt;
    }
    // Those that came first; the others stay.
    std::vector<Event> all;
    std::vector<detail::SchemaValue> others;
    for (const detail::SchemaValue& one : there) {
      if (is_own(one) && all.size() < count)
        all.push_back(detail::value_of<Event>(one.value));
      else
        others.push_back(one);
    }
    const Bytes value = detail::bytes_of_value(event);
    if (all.size() < count)
      all.push_back(event);
    else
      others.push_back({Event::kSchema, value});
    put_back(buffer, others);
    return all;
  }

  // The store of the run, as it was when this body began, and as it has left it since.
  template <class T>
  std::optional<T> get(std::string_view name) const {
    const auto found = step_.stored(name);
    if (!found) return std::nullopt;
    return detail::value_of<T>(*found);
  }
  template <class T>
  void set(std::string_view name, const T& value) {
    step_.store(name, detail::bytes_of_value(value), false);
  }
  void erase(std::string_view name) { step_.store(name, {}, false); }
  // The new value out of the old one, which is a T() if there is none. If another step changes it
  // meanwhile, this body runs again.
  template <class T, class Change>
  void update(std::string_view name, Change change) {
    T value = get<T>(name).value_or(T());
    change(value);
    step_.store(name, detail::bytes_of_value(value), true);
  }

  // What the program gives to its steps (holdfast/resources.h): by name, or the only one of its
  // type.
  template <class T>
  T& resource(std::string_view name = {}) {
    return resources_.get<T>(name);
  }

  // Drops what another step has to do and does. Bodies of it that are running can see it
  // (stopped()), and what they report is dropped.
  void cancel_step(std::string_view step) { step_.cancel_step(step); }
  void cancel_run(std::string_view reason) { step_.cancel_run(reason); }

 protected:
  template <class Question>
  detail::Asked asked(const Question& question) {
    if (std::string wrong = step_.wrong_put(Question::kSchema); !wrong.empty())
      throw StepError("step.bad_put", wrong);
    return std::pair(Question::kSchema, detail::bytes_of_value(question));
  }

  detail::StepCall& step_;

 private:
  // A set was taken out of a buffer: what is left of it.
  void put_back(std::string_view buffer, const std::vector<detail::SchemaValue>& left) {
    step_.empty(buffer);
    for (const detail::SchemaValue& one : left) step_.collect(buffer, one.schema, one.value);
  }

  template <class Wait>
  static auto now(const Wait& wait) {
    if (wait.is_over()) return wait.answer();
    wait.begin();
    throw detail::Suspended();
  }

  const Call& call_;
  ResourceMaker resources_;
};

// The context of a step that is a coroutine: its waits are awaited. For the rest it is like any.
class TaskContext : public StepContext {
 public:
  using StepContext::StepContext;

  template <class Event>
  WaitFor<Event> wait_for() {
    return WaitFor<Event>(step_, WaitOptions(), std::nullopt);
  }
  template <class Event>
  WaitFor<Event> wait_for(Duration timeout) {
    return WaitFor<Event>(step_, WaitOptions{.timeout = timeout}, std::nullopt);
  }
  template <class Event>
  PreparedWait<Event> wait_for(const WaitOptions& options) {
    return PreparedWait<Event>(step_, options, std::nullopt);
  }
  template <class Event, class Question>
  PreparedWait<Event> ask(const Question& question, const WaitOptions& options = {}) {
    return PreparedWait<Event>(step_, options, asked(question));
  }
  template <class Child, class Event>
  WaitForEnd<Child> run(const Event& start, const RunOptions& options = {}) {
    return WaitForEnd<Child>(step_, start, options);
  }
};

}  // namespace holdfast
