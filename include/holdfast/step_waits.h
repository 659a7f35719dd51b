// SPDX-License-Identifier: Apache-2.0
// What the body of a step waits for: an event from outside, or the end of another workflow. A wait
// is made by its context (holdfast/step_context.h); a coroutine awaits it, in a plain function it
// ends the body.
#pragma once

#include <algorithm>
#include <coroutine>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "holdfast/detail/field_path.h"
#include "holdfast/detail/flow.h"
#include "holdfast/detail/step_call.h"
#include "holdfast/detail/step_parts.h"
#include "holdfast/detail/value_bytes.h"
#include "holdfast/step_error.h"
#include "holdfast/step_task.h"
#include "holdfast/workflow.h"

namespace holdfast {

struct WaitOptions {
  std::optional<Duration> timeout = {};  // none: for ever; 0 or less: it is over at once
  std::string id = {};                   // empty: the first, second, ... wait of the body

  // Only an event that has this value in this field (dotted, if it is inside another). A field that
  // the event has not is refused by the wait.
  template <class T>
  WaitOptions&& where(std::string field, const T& value) && {
    wanted.push_back({std::move(field), detail::encoded([&](Writer& out) {
                        if constexpr (std::is_convertible_v<const T&, std::string_view>) {
                          out.text(value);
                        } else {
                          detail::Form<T>::write(out, value);
                        }
                      })});
    return std::move(*this);
  }
  std::vector<detail::StepCall::Wanted> wanted = {};
};

struct RunOptions {
  // Of the wait, as that of any; when it is over the child is cancelled, and at 0 not even started.
  std::optional<Duration> timeout = {};
  std::string id = {};  // as that of a wait
};

namespace detail {

// What a workflow completes with: its Stop, or what it says in `using Result = ...`.
template <class W>
struct ResultOf {
  static_assert(
      requires { typename W::Result; },
      "holdfast: a workflow that is run by a step says what it completes with: "
      "using Result = ...");
  using type = typename W::Result;
};
template <class W>
requires std::is_base_of_v<StepWorkflow, W>
struct ResultOf<W> {
  using type = typename W::Stop;
};

// The body cannot go on before something has come. No std::exception, so that nobody takes it for
// an error.
struct Suspended {};

// What a question is made of, if there is one.
using Asked = std::optional<std::pair<std::string_view, Bytes>>;

// Out of what was collected, the first of this schema.
inline std::optional<SchemaValue> take_first(std::vector<SchemaValue>& all,
                                             std::string_view schema) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const SchemaValue& one) { return one.schema == schema; });
  if (found == all.end()) return std::nullopt;
  const SchemaValue one = *found;
  all.erase(found);
  return one;
}

// A wait that may take no time is over before it begins, unless it began when there was some left.
inline bool is_over_at_once(std::optional<Duration> timeout) {
  return timeout && *timeout <= Duration::zero();
}

// The answer of a wait that is over is that of the wait which the body is at. WaitTimedOut,
// StepError step.not_repeated.
inline const StepCall::Waited& checked(const StepCall::Waited* waited,
                                       std::optional<std::string_view> schema) {
  if (waited == nullptr) throw WaitTimedOut();
  const std::string misfit = StepCall::misfit(*waited, schema);
  if (!misfit.empty()) throw StepError("step.not_repeated", misfit);
  if (!waited->answer && !waited->child) throw WaitTimedOut();
  return *waited;
}

}  // namespace detail

// One wait of a body for an event. Awaited where it was made, or else it is none.
template <class Event>
class [[nodiscard]] WaitFor {
 public:
  WaitFor(detail::StepCall& step, const WaitOptions& options, detail::Asked asks)
      : step_(step),
        id_(step.wait_id(options.id)),
        wanted_(options.wanted),
        timeout_(options.timeout),
        asks_(std::move(asks)),
        waited_(step.find_wait(id_)) {
    if (std::string wrong = step.wrong_wait(Event::kSchema); !wrong.empty())
      throw StepError("step.bad_wait", wrong);
    for (const detail::StepCall::Wanted& one : wanted_) {
      if (!detail::FieldPath<Event>::has(one.field))
        throw StepError("step.bad_wait",
                        "'" + std::string(Event::kSchema) + "' has no field '" + one.field + "'");
    }
  }

  bool is_over() const noexcept { return waited_ != nullptr || detail::is_over_at_once(timeout_); }
  void begin() const {
    step_.wait(id_, Event::kSchema, wanted_, timeout_.value_or(Duration()), asks_);
  }
  Event answer() const {
    return detail::value_of<Event>(detail::checked(waited_, Event::kSchema).answer->value);
  }

  bool await_ready() const noexcept { return is_over(); }
  void await_suspend(std::coroutine_handle<>) const { begin(); }
  Event await_resume() const { return answer(); }

 private:
  detail::StepCall& step_;
  std::string id_;
  std::vector<detail::StepCall::Wanted> wanted_;
  std::optional<Duration> timeout_;
  detail::Asked asks_;
  const detail::StepCall::Waited* waited_;
};

// One that has a question, or options.
template <class Event>
class [[nodiscard]] PreparedWait : public WaitFor<Event> {
 public:
  using WaitFor<Event>::WaitFor;
};

template <class Event>
inline constexpr bool detail::kIsWait<WaitFor<Event>> = true;
template <class Event>
inline constexpr bool detail::kIsWait<PreparedWait<Event>> = true;
template <class Event>
inline constexpr bool detail::kIsPreparedWait<PreparedWait<Event>> = true;

// The wait for the end of a child, which is started with it.
template <class Child>
class [[nodiscard]] WaitForEnd {
 public:
  using Result = typename detail::ResultOf<Child>::type;

  template <class Event>
  WaitForEnd(detail::StepCall& step, const Event& start, const RunOptions& options)
      : step_(step),
        id_(step.wait_id(options.id)),
        params_(detail::params_to_run<Child>(start)),
        timeout_(options.timeout),
        waited_(step.find_wait(id_)) {}

  bool is_over() const noexcept { return waited_ != nullptr || detail::is_over_at_once(timeout_); }
  void begin() const {
    step_.run_child(id_, params_.workflow, params_.key.value_or(Bytes()), params_.event,
                    params_.value, timeout_.value_or(Duration()));
  }
  Result answer() const {
    const detail::ChildEnd& end = *detail::checked(waited_, std::nullopt).child;
    if (end.fate == detail::ChildEnd::Fate::kCancelled)
      throw ChildCancelled(std::string(end.code), std::string(end.message));
    if (end.fate == detail::ChildEnd::Fate::kFailed)
      throw ChildFailed(std::string(end.code), std::string(end.message));
    return detail::value_of<Result>(end.result);
  }

  bool await_ready() const noexcept { return is_over(); }
  void await_suspend(std::coroutine_handle<>) const { begin(); }
  Result await_resume() const { return answer(); }

 private:
  detail::StepCall& step_;
  std::string id_;
  RunWorkflow::Params params_;
  std::optional<Duration> timeout_;
  const detail::StepCall::Waited* waited_;
};

template <class Child>
inline constexpr bool detail::kIsWait<WaitForEnd<Child>> = true;
template <class Child>
inline constexpr bool detail::kIsPreparedWait<WaitForEnd<Child>> = true;

}  // namespace holdfast
