// SPDX-License-Identifier: Apache-2.0
// What holdfast/steps.h finds out of the type of a step: what it takes, and how that is read; what
// it returns, and how that is reported; whether it is a coroutine. Mistakes are told at compile
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "holdfast/detail/flow.h"
#include "holdfast/detail/step_call.h"
#include "holdfast/detail/value_bytes.h"
#include "holdfast/step_error.h"
#include "holdfast/step_task.h"

namespace holdfast {

class StepContext;
class TaskContext;
template <class... Types>
struct Publishes;
template <class... Types>
struct Asks;
template <class... Types>
struct Sends;

namespace detail {

template <class T>
T value_of(ByteSpan bytes) {
  T value{};
  Reader in(bytes);
  if (!Form<T>::read(in, value)) throw StepError("step.bad_value", "a value is of another type");
  return value;
}

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsVariant = false;
template <class... Types>
inline constexpr bool kIsVariant<std::variant<Types...>> = true;

// What a step takes or returns: which types these are, and how it is reported.
template <class T>
struct StepValue {
  static_assert(Named<T>,
                "holdfast: a step takes and returns events (structs with a kSchema), a "
                "std::optional, std::variant or std::vector of them, or nothing");
  template <class Visit>
  static void types(Visit visit) {
    visit.template operator()<T>();
  }
  static std::pair<std::string_view, Bytes> event(const T& value) {
    return {T::kSchema, bytes_of_value(value)};
  }
  static void report(StepCall& step, const T& value) {
    step.return_event(T::kSchema, bytes_of_value(value));
  }
};
template <class... Types>
struct StepValue<std::variant<Types...>> {
  template <class Visit>
  static void types(Visit visit) {
    (StepValue<Types>::types(visit), ...);
  }
  static std::pair<std::string_view, Bytes> event(const std::variant<Types...>& value) {
    return std::visit(
        [](const auto& one) { return StepValue<std::decay_t<decltype(one)>>::event(one); }, value);
  }
  static void report(StepCall& step, const std::variant<Types...>& value) {
    const auto [schema, bytes] = event(value);
    step.return_event(schema, bytes);
  }
};
template <class T>
struct StepValue<std::vector<T>> {
  template <class Visit>
  static void types(Visit visit) {
    StepValue<T>::types(visit);
  }
  static void report(StepCall& step, const std::vector<T>& values) {
    std::vector<std::pair<std::string_view, Bytes>> events;
    events.reserve(values.size());
    for (const T& value : values) events.push_back(StepValue<T>::event(value));
    step.return_list(events);
  }
};
template <class T>
struct StepValue<std::optional<T>> {
  template <class Visit>
  static void types(Visit visit) {
    StepValue<T>::types(visit);
  }
  static void report(StepCall& step, const std::optional<T>& value) {
    if (!value) return step.return_nothing();
    StepValue<T>::report(step, *value);
  }
};
template <>
struct StepValue<void> {
  template <class Visit>
  static void types(Visit) {}
};

// The parameters of a step: what the graph says of them, and how they are read.
template <class Takes>
struct StepTaken;
template <class T>
struct StepTaken<std::tuple<T>> {
  template <class Visit>
  static void types(Visit visit) {
    StepValue<T>::types(visit);
  }
  static void describe(Flow::Step& step) {
    if constexpr (kIsVector<T>) {
      step.join = T::value_type::kSchema;
    } else {
      types([&]<class Event>() { step.accepts.emplace_back(Event::kSchema); });
    }
  }
  static std::tuple<T> read(const StepCall& call) {
    if constexpr (kIsVariant<T>) {
      return {read_arm(call, static_cast<T*>(nullptr))};
    } else {
      return {value_of<T>(call.value())};
    }
  }

 private:
  // A variant stands by the schema of its arm, and not as one value.
  template <class... Types>
  static std::variant<Types...> read_arm(const StepCall& call, std::variant<Types...>*) {
    std::optional<std::variant<Types...>> value;
    static_cast<void>((
        (call.schema() == Types::kSchema && (value.emplace(value_of<Types>(call.value())), true)) ||
        ...));
    if (!value) throw StepError("step.bad_value", "an event is of a type that the step has not");
    return *std::move(value);
  }
};
template <class First, class... More>
requires(sizeof...(More) != 0) struct StepTaken<std::tuple<First, More...>> {
  template <class Visit>
  static void types(Visit visit) {
    visit.template operator()<First>();
    (visit.template operator()<More>(), ...);
  }
  static void describe(Flow::Step& step) {
    step.slots = {std::string(First::kSchema), std::string(More::kSchema)...};
  }
  // One list, of the events in the order of the slots.
  static std::tuple<First, More...> read(const StepCall& call) {
    std::tuple<First, More...> all;
    std::uint64_t count = 0;
    Reader in(call.value());
    const bool good =
        call.is_list() && in.list(count) && count == 1 + sizeof...(More) &&
        std::apply(
            [&](First& first, More&... more) {
              return Form<First>::read(in, first) && (Form<More>::read(in, more) && ...);
            },
            all);
    if (!good) throw StepError("step.bad_value", "a value is of another type");
    return all;
  }
};

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};

// What a step is, out of the type of its function.
template <class R>
struct Ended {
  using type = R;
};
template <class R>
struct Ended<StepTask<R>> {
  using type = R;
};
// One parameter of a step: an event, a std::variant of them, or a list of all that a fan-out led
// to.
template <class T>
inline constexpr bool kIsTaken = Named<T> || kIsVariant<T>;
template <class T>
inline constexpr bool kIsTaken<std::vector<T>> = Named<T>;

// All but the context.
template <class Context, class... Events>
struct StepParams {
  static_assert(std::is_same_v<Context, StepContext&> || std::is_same_v<Context, TaskContext&>,
                "holdfast: the last parameter of a step is a StepContext&, or, of a coroutine, a "
                "TaskContext&");
  static_assert(sizeof...(Events) != 0, "holdfast: a step takes an event, and then its context");
  static_assert((std::is_same_v<Events, const std::remove_cvref_t<Events>&> && ...),
                "holdfast: a step takes its events as const references");
  static_assert(
      (kIsTaken<std::remove_cvref_t<Events>> && ...),
      "holdfast: a step takes an event, a std::variant of events, or a std::vector of one "
      "type of event");
  static_assert(sizeof...(Events) == 1 || (Named<std::remove_cvref_t<Events>> && ...),
                "holdfast: a step that takes several events together takes plain events");
  using Takes = std::tuple<std::remove_cvref_t<Events>...>;
};
template <class Params, std::size_t... At>
StepParams<std::tuple_element_t<sizeof...(At), Params>, std::tuple_element_t<At, Params>...>
    split_params(std::index_sequence<At...>);

template <class R, class... Params>
struct StepParts {
  static_assert(sizeof...(Params) != 0, "holdfast: a step takes an event, and then its context");
  using All = std::tuple<Params...>;
  using Split = decltype(split_params<All>(std::make_index_sequence<sizeof...(Params) - 1>()));
  using Takes = typename Split::Takes;      // a tuple; of more than one: a slot for each
  using Returns = typename Ended<R>::type;  // what comes of it
  static_assert(kIsTask<R> ==
                    std::is_same_v<std::tuple_element_t<sizeof...(Params) - 1, All>, TaskContext&>,
                "holdfast: a step that is a coroutine returns a StepTask and takes a TaskContext&; "
                "one that is none does neither");
};
template <class Body>
inline constexpr bool kIsStepFunction = false;
template <class Body>
struct StepBody {
  static_assert(kIsStepFunction<Body>,
                "holdfast: a step is a member function, a function, or a lambda that captures "
                "nothing: what it needs is in the host, or among the resources");
  using Takes = std::tuple<>;
  using Returns = void;
};
template <class R, class... Params>
struct StepBody<R (*)(Params...)> : StepParts<R, Params...> {};
template <class R, class... Params>
struct StepBody<R (*)(Params...) noexcept> : StepParts<R, Params...> {};
template <class R, class C, class... Params>
struct StepBody<R (C::*)(Params...)> : StepParts<R, Params...> {};
template <class R, class C, class... Params>
struct StepBody<R (C::*)(Params...) const> : StepParts<R, Params...> {};
template <class R, class C, class... Params>
struct StepBody<R (C::*)(Params...) noexcept> : StepParts<R, Params...> {};
template <class R, class C, class... Params>
struct StepBody<R (C::*)(Params...) const noexcept> : StepParts<R, Params...> {};

// What a step is given as: a lambda without captures is a function.
template <class Body>
constexpr auto step_function(Body body) {
  if constexpr (std::is_class_v<Body> && requires { +body; }) {
    return +body;
  } else {
    return body;
  }
}
template <class Host, class Body, class... Args>
decltype(auto) call_step([[maybe_unused]] Host& host, Body body, Args&... args) {
  if constexpr (std::is_member_function_pointer_v<Body>) {
    return (host.*body)(args...);
  } else {
    return body(args...);
  }
}

template <class W>
concept HasStop = requires {
  typename W::Stop;
};

template <class W>
struct AsksOf {
  using type = Asks<>;
};
template <class W>
requires requires { typename W::Asks; }
struct AsksOf<W> {
  using type = typename W::Asks;
};

template <class W>
struct PublishesOf {
  using type = Publishes<>;
};
template <class W>
requires requires { typename W::Publishes; }
struct PublishesOf<W> {
  using type = typename W::Publishes;
};

template <class W>
struct SendsOf {
  using type = Sends<>;
};
template <class W>
requires requires { typename W::Sends; }
struct SendsOf<W> {
  using type = typename W::Sends;
};

}  // namespace detail

}  // namespace holdfast
