// SPDX-License-Identifier: Apache-2.0
// Context: what a step may know besides state and message, and what it may ask for. Everything it
// knows is derived from the journal, so a replay repeats it. Everything it asks for is kept
// together with the new state, or not at all.
#pragma once

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "holdfast/step.h"

namespace holdfast {

// The effects a workflow may open: using Effects = holdfast::Effects<Charge, holdfast::Timer>;
template <class... Types>
struct Effects {};

// The events a workflow may emit: using Emits = holdfast::Emits<Shipped>;
template <class... Types>
struct Emits {};

// One event that goes to a workflow, and the field that says to which instance; a path of fields if
// it is inside nested structs. Without a field, the workflow has one instance.
template <class EventType, auto... Path>
struct On {};

// using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
template <class... Ons>
struct Events {};

// The workflows that a workflow may run: using Children = holdfast::Children<Invoice>; A native
// workflow hears of their ends as Received<RunWorkflow>.
template <class... Workflows>
struct Children {};

// How an effect is opened. Both may stay empty.
struct OpenOptions {
  std::string_view idempotency_key;  // part of the identity of the effect
  std::string_view ref;              // comes back as origin.ref of the answers
};

namespace detail {

template <class W>
struct Parts;  // holdfast/workflow.h

struct NoEntry {};

template <class W>
inline constexpr bool kDeclaresContext = requires {
  requires W::kDeclaresContext;
};

// What names the instance that an event starts, and the event (holdfast/workflow.h).
template <class Workflow, class Event>
RunWorkflow::Params params_to_run(const Event& start);

template <class T, class List>
inline constexpr bool kIsIn = false;
template <class T, template <class...> class List, class... Types>
inline constexpr bool kIsIn<T, List<Types...>> = kIsOneOf<T, Types...>;

}  // namespace detail

// What a step may know besides its state and its message: for workflows that declare it,
// static constexpr bool kDeclaresContext = true;
struct WorkflowContext {
  static constexpr std::string_view kSchema = "sys/WorkflowContext@1";
  std::uint64_t now_ns = 0;
  std::uint64_t logical_now_ns = 0;  // never goes back
  std::uint64_t journal_height = 0;  // the record that the step becomes part of
  Bytes entropy;
  Hash event_hash{};
  Hash manifest_hash{};
  std::string workflow;
  std::optional<Hash> workflow_hash;
  std::optional<Bytes> key;  // canonical
  bool cell_mode = false;    // the workflow has keys
};

template <class Workflow>
class Context {
 public:
  explicit Context(Step& step) noexcept : step_(step) {}

  Time now() const { return detail::time_of(step_.time_ns()); }
  std::uint64_t record() const { return step_.record(); }  // that this step becomes part of
  Hash entropy() const { return step_.entropy(); }         // 32 bytes for this step alone
  Uuid uuid() { return step_.uuid(); }                     // another one with each call
  bool is_new() const { return !step_.has_state(); }       // the first step of the instance

  // All of it as one value, as the definition of the workflow declares it.
  WorkflowContext declared() const {
    static_assert(detail::kDeclaresContext<Workflow>,
                  "holdfast: a workflow that asks for its context declares it: static constexpr "
                  "bool kDeclaresContext = true;");
    WorkflowContext declared;
    const Bytes bytes = step_.declared_context();
    Reader in(bytes);
    static_cast<void>(detail::Form<WorkflowContext>::read(in, declared));  // the engine wrote it
    return declared;
  }

  // What names this instance.
  auto key() const {
    typename detail::Parts<Workflow>::Key key{};
    Reader in = step_.key();
    static_cast<void>(detail::Form<decltype(key)>::read(in, key));  // the engine has checked it
    return key;
  }

  // Asks for an effect; its end comes as a Received<Effect>.
  template <class Effect>
  void open(const typename Effect::Params& params, OpenOptions options = {}) {
    static_assert(detail::kIsIn<Effect, typename detail::Parts<Workflow>::Effects>,
                  "holdfast: a workflow opens only what its Effects name");
    if (step_.ended()) return;
    Writer out = step_.begin_effect(Effect::kEffect, options.idempotency_key, options.ref);
    detail::Form<typename Effect::Params>::write(out, params);
  }

  // Runs an instance of another workflow, under the key that its event has; its end comes as a
  // Received<RunWorkflow>. It is cancelled when this one ends before.
  template <class Child, class Event>
  void run(const Event& start, std::string_view ref = {}) {
    static_assert(detail::kIsIn<Child, typename detail::Parts<Workflow>::Children>,
                  "holdfast: a workflow runs only what its Children name");
    open<RunWorkflow>(detail::params_to_run<Child>(start), {.idempotency_key = {}, .ref = ref});
  }

  // Asks to be woken; comes as a Received<Timer>. A time that has passed is now.
  void timer(Time at, std::string_view ref = {}) {
    const auto ns = std::max<std::int64_t>(0, at.time_since_epoch().count());
    open<Timer>({static_cast<std::uint64_t>(ns), {}}, {.idempotency_key = {}, .ref = ref});
  }

  template <class Event>
  void emit(const Event& event) {
    static_assert(detail::Named<Event>,
                  "holdfast: an event needs a kSchema, such as \"shop/Placed@1\"");
    static_assert(detail::kIsIn<Event, typename detail::Parts<Workflow>::Emits>,
                  "holdfast: a workflow emits only what its Emits name");
    if (step_.ended()) return;
    Writer out = step_.begin_event(Event::kSchema);
    detail::Form<Event>::write(out, event);
  }

  // Puts an entry into the stream of the instance, for those who read along: a value of the type
  // Workflow::Entry. At most 32 a step.
  template <class Value>
  void put(const Value& value) {
    using Entry = typename detail::Parts<Workflow>::Entry;
    static_assert(!std::is_same_v<Entry, detail::NoEntry>,
                  "holdfast: a workflow that puts entries out names their type: using Entry = ...");
    static_assert(std::is_convertible_v<const Value&, Entry>,
                  "holdfast: a workflow puts out only what its Entry is");
    if (step_.ended()) return;
    Writer out = step_.begin_entry();
    detail::Form<Entry>::write(out, Entry(value));
  }

  // Three ways to end the instance. What earlier steps opened is cancelled. What this step opened
  // is dropped and never begun, for nobody could hear of it. What it emitted goes out. The first
  // end counts: from then on the step is deaf to open, timer, emit, put and other
  // ends.

  // For good, with a result or with an error. The state that the step leaves is the last one, which
  // people see.
  template <class Result>
  void complete(const Result& result) {
    if (step_.ended()) return;
    Writer out = step_.begin_result();
    detail::Form<Result>::write(out, result);
  }
  void fail(std::string_view code, std::string_view message) {
    if (!step_.ended()) step_.fail(code, message);
  }

  // And forgets it: the same key may begin again.
  void remove() {
    if (!step_.ended()) step_.remove();
  }

 private:
  Step& step_;
};

}  // namespace holdfast
