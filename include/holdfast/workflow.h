// SPDX-License-Identifier: Apache-2.0
// A workflow is a struct: a name, a state, the events that reach it, the effects it may open, and a
// static `step` for each of them. A step changes the state, which is the default one at first, and
// asks the context for the rest.
//
//   struct Order {
//     static constexpr std::string_view kWorkflow = "shop/Order@1";
//     struct State { std::uint64_t cents = 0; };
//     using Events = holdfast::Events<holdfast::On<Placed, &Placed::id>>;
//     using Effects = holdfast::Effects<Charge>;
//     using Context = holdfast::Context<Order>;
//
//     static void step(State& state, const Placed& placed, Context& context);
//     static void step(State& state, const holdfast::Received<Charge>& charged, Context& context);
//   };
//
// A step must be a function of its arguments alone: a replay runs it again and must come to the
// same end. One that throws fails its instance with native.exception and what the exception says;
// nothing else of it is kept. One that runs out of memory (std::bad_alloc) pauses its instance:
// with more memory it would have come to another end. When the instance is resumed, the same
// message is tried again. holdfast/module.h makes definitions and code out of workflows.
//
// A version of a workflow may say what becomes of the states of an earlier one, so that instances
// under way can move to it (Engine::migrate). It is pure, as a step is; std::nullopt and an
// exception mean that this state does not fit, and its instance stays where it is:
//
//     using Earlier = v1::Order::State;
//     static std::optional<State> migrate(const Earlier& earlier);
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "holdfast/context.h"
#include "holdfast/detail/value_bytes.h"

namespace holdfast {

template <class Effect>
template <class T>
std::optional<T> Progress<Effect>::as() const {
  Reader in = step->value();
  std::optional<T> value(std::in_place);
  if (!detail::Form<T>::read(in, *value)) value.reset();
  return value;
}

template <class T>
std::optional<T> RunWorkflow::Receipt::as() const {
  Reader in{result};
  std::optional<T> value(std::in_place);
  if (!detail::Form<T>::read(in, *value)) value.reset();
  return value;
}

namespace detail {

template <class Owner, class Field>
Field field_type(Field Owner::*);

template <auto... Path>
struct KeyField {
  using Key = NoKey;
  static std::string path() { return {}; }
};
template <auto First, auto... Rest>
struct KeyField<First, Rest...> {
  using Key =
      typename std::conditional_t<sizeof...(Rest) == 0,
                                  std::type_identity<decltype(field_type(First))>,
                                  std::type_identity<typename KeyField<Rest...>::Key>>::type;
  static std::string path() {
    std::string names(kMemberName<First>);
    ((names += "." + std::string(kMemberName<Rest>)), ...);
    return names;
  }
};

template <class Key>
inline constexpr bool kCanBeKey =
    SignedInteger<Key> || UnsignedInteger<Key> || kIsOneOf<Key, NoKey, std::string, Uuid, Hash>;

template <class T>
struct OnParts;
template <class E, auto... Path>
struct OnParts<On<E, Path...>> {
  static_assert(Named<E>, "holdfast: an event needs a kSchema, such as \"shop/Placed@1\"");
  using Event = E;
  using Key = typename KeyField<Path...>::Key;
  static_assert(kCanBeKey<Key>,
                "holdfast: a key is a std::int64_t, std::uint64_t, std::string, Uuid or Hash");
  static std::string key_field() { return KeyField<Path...>::path(); }
};

template <class T>
struct EventParts;
template <class First, class... Rest>
struct EventParts<Events<First, Rest...>> {
  using Key = typename OnParts<First>::Key;
  static_assert((std::is_same_v<typename OnParts<Rest>::Key, Key> && ...),
                "holdfast: all events of a workflow carry its key, and the keys are of one type");
};

template <class W>
struct EffectsOf {
  using type = Effects<>;
};
template <class W>
requires requires { typename W::Effects; }
struct EffectsOf<W> {
  using type = typename W::Effects;
};
template <class W>
struct EmitsOf {
  using type = Emits<>;
};
template <class W>
requires requires { typename W::Emits; }
struct EmitsOf<W> {
  using type = typename W::Emits;
};

template <class W>
struct ChildrenOf {
  using type = Children<>;
};
template <class W>
requires requires { typename W::Children; }
struct ChildrenOf<W> {
  using type = typename W::Children;
};

// A workflow with children hears of their ends.
template <class EffectList, class ChildList>
struct WithRuns {
  using type = EffectList;
};
template <class... Types, class First, class... Rest>
requires(
    !kIsOneOf<RunWorkflow, Types...>) struct WithRuns<Effects<Types...>, Children<First, Rest...>> {
  using type = Effects<Types..., RunWorkflow>;
};

template <class W>
struct EntryOf {
  using type = NoEntry;
};
template <class W>
requires requires { typename W::Entry; }
struct EntryOf<W> {
  using type = typename W::Entry;
};

template <class W>
struct Parts {
  using Events = typename W::Events;
  using Key = typename EventParts<Events>::Key;
  using Children = typename ChildrenOf<W>::type;
  using Effects = typename WithRuns<typename EffectsOf<W>::type, Children>::type;
  using Emits = typename EmitsOf<W>::type;
  using Entry = typename EntryOf<W>::type;
};

template <auto First, auto... Rest>
const auto& field_in(const auto& event) {
  if constexpr (sizeof...(Rest) == 0) {
    return event.*First;
  } else {
    return field_in<Rest...>(event.*First);
  }
}

// Nothing: the workflow has no key.
template <class Event, auto... Path>
std::optional<Bytes> key_in(On<Event, Path...>, const Event& event) {
  if constexpr (sizeof...(Path) == 0) {
    return std::nullopt;
  } else {
    using Key = typename KeyField<Path...>::Key;
    return bytes_of_value<Key>(field_in<Path...>(event));
  }
}

template <class Event, class List>
struct OnOf;
template <class Event>
struct OnOf<Event, Events<>> {
  static_assert(!std::is_same_v<Event, Event>,
                "holdfast: the workflow has no such event among its Events");
  using type = On<Event>;
};
template <class Event, class First, class... Rest>
struct OnOf<Event, Events<First, Rest...>> {
  using type =
      typename std::conditional_t<std::is_same_v<typename OnParts<First>::Event, Event>,
                                  std::type_identity<First>, OnOf<Event, Events<Rest...>>>::type;
};

template <class Workflow, class Event>
RunWorkflow::Params params_to_run(const Event& start) {
  using Started = typename OnOf<Event, typename Workflow::Events>::type;
  return {std::string(Workflow::kWorkflow), key_in(Started(), start), std::string(Event::kSchema),
          bytes_of_value(start)};
}

template <class W, class Message>
concept HasStep = requires(typename W::State& state, const Message& message, Context<W>& context) {
  W::step(state, message, context);
};

// Fails a step before the workflow was asked; then there is no new state.
inline bool refuse(Step& step, std::string_view code, std::string_view message) {
  step.fail(code, message);
  return false;
}

// This and what follows return whether the state is one to keep.
template <class W, class Event>
bool step_event(Step& step, typename W::State& state) {
  Event event{};
  Reader in = step.value();
  if (!Form<Event>::read(in, event)) {
    return refuse(step, "native.bad_event", "the event does not fit the struct that is to hold it");
  }
  Context<W> context(step);
  W::step(state, event, context);
  return true;
}

template <class W, class... Ons>
bool run_event(Step& step, typename W::State& state, Events<Ons...>) {
  const std::string_view schema = step.schema();
  bool keep = false;
  const bool known = ((schema == OnParts<Ons>::Event::kSchema &&
                       (keep = step_event<W, typename OnParts<Ons>::Event>(step, state), true)) ||
                      ...);
  if (known) return keep;
  return refuse(step, "native.unknown_event", "the workflow has no step for such an event");
}

bool read_error(Reader in, EffectError& error);  // a sys/EffectError@1

template <class W, class Effect>
bool step_received(Step& step, typename W::State& state) {
  Received<Effect> received;
  received.origin = step.origin();
  received.status = step.status();
  bool fits = false;
  if (received.ok()) {
    Reader in = step.value();
    fits = Form<typename Effect::Receipt>::read(in, received.receipt);
  } else {
    fits = read_error(step.value(), received.error);
  }
  if (!fits)
    return refuse(step, "native.bad_receipt", "the receipt does not fit the struct of its effect");
  Context<W> context(step);
  W::step(state, received, context);
  return true;
}

template <class W, class Effect>
bool step_rejected(Step& step, typename W::State& state) {
  if constexpr (HasStep<W, Rejected<Effect>>) {
    Context<W> context(step);
    W::step(state, Rejected<Effect>{step.origin(), step.status(), step.note(), step.fault()},
            context);
    return true;
  } else {
    static_cast<void>(state);
    return refuse(step, step.fault(), step.note());
  }
}

template <class W, class Effect>
bool step_progress(Step& step, typename W::State& state) {
  if constexpr (HasStep<W, Progress<Effect>>) {
    Context<W> context(step);
    W::step(state, Progress<Effect>{step.origin(), step.sequence(), step.note(), &step}, context);
  } else {
    static_cast<void>(step);
    static_cast<void>(state);
  }
  return true;
}

template <class W, class Effect>
bool step_answer(Step& step, typename W::State& state) {
  switch (step.kind()) {
    case MessageKind::kReceipt: return step_received<W, Effect>(step, state);
    case MessageKind::kRejected: return step_rejected<W, Effect>(step, state);
    case MessageKind::kProgress: return step_progress<W, Effect>(step, state);
    case MessageKind::kEvent: break;
  }
  return true;
}

template <class W, class... Types>
bool run_answer(Step& step, typename W::State& state, Effects<Types...>) {
  [[maybe_unused]] const std::string_view effect = step.effect();
  bool keep = false;
  const bool known =
      ((effect == Types::kEffect && (keep = step_answer<W, Types>(step, state), true)) || ...);
  if (known) return keep;
  return refuse(step, "native.unknown_effect", "the workflow has no step for such an effect");
}

template <class W>
void run_step(Step& step) {
  typename W::State state{};
  if (step.has_state()) {
    Reader in = step.state();
    if (!Form<typename W::State>::read(in, state))
      return step.fail("native.bad_state", "the stored state does not fit the struct State");
  }
  const bool keep = step.kind() == MessageKind::kEvent
                        ? run_event<W>(step, state, typename Parts<W>::Events())
                        : run_answer<W>(step, state, typename Parts<W>::Effects());
  if (!keep || step.removed()) return;
  Writer out = step.begin_state();
  Form<typename W::State>::write(out, state);
}

template <class W>
concept Migrates = requires(const typename W::Earlier& earlier) {
  std::optional<typename W::State>(W::migrate(earlier));
};

template <class W>
bool migrate_state(std::span<const std::uint8_t> state, Bytes& made, std::string& why) {
  typename W::Earlier earlier{};
  Reader in(state);
  if (!Form<typename W::Earlier>::read(in, earlier)) {
    why = "its state is not of the version that the migration is for";
    return false;
  }
  const std::optional<typename W::State> next(W::migrate(earlier));
  if (!next) {
    why = "the migration says that its state does not fit";
    return false;
  }
  made = bytes_of_value(*next);
  return true;
}

// As `run`, for a migration.
template <class W>
bool migrate(std::span<const std::uint8_t> state, Bytes& made, std::string& why) {
#ifdef __cpp_exceptions
  try {
    return migrate_state<W>(state, made, why);
  } catch (const std::exception& thrown) {
    why = std::string("the migration threw: ") + thrown.what();
  } catch (...) {
    why = "the migration threw an exception that is no std::exception";
  }
  return false;
#else
  return migrate_state<W>(state, made, why);
#endif
}

// What an exception says stands in the record, and a replay takes it from there: another release of
// the standard library may say it in other words.
inline void fail_thrown(Step& step, std::string_view what) {
#ifdef __cpp_exceptions
  try {
    step.threw(what);
  } catch (...) {
    step.give_up();
  }
#else
  step.threw(what);
#endif
}

// The whole of one step, as the engine calls it. The engine is built without exceptions: one that
// went through it would leave the world half changed. So they end here, where the code of the
// workflow is compiled.
template <class W>
void run(Step& step) {
#ifdef __cpp_exceptions
  try {
    run_step<W>(step);
  } catch (const std::bad_array_new_length& thrown) {
    // Asked for what no machine has: it is the same everywhere.
    fail_thrown(step, thrown.what());
  } catch (const std::bad_alloc&) {
    step.give_up();
  } catch (const std::exception& thrown) {
    fail_thrown(step, thrown.what());
  } catch (...) {
    fail_thrown(step, "the step threw an exception that is no std::exception");
  }
#else
  run_step<W>(step);
#endif
}

}  // namespace detail

}  // namespace holdfast
