// SPDX-License-Identifier: Apache-2.0
// What must hold of a workflow, said in sentences. The compiler names the types in the line above
// the sentence: CheckEvent<Order, Placed>.
#pragma once

#include <string_view>

#include "holdfast/workflow.h"

namespace holdfast::detail {

template <class T>
inline constexpr bool kIsEvents = false;
template <class... Ons>
inline constexpr bool kIsEvents<Events<Ons...>> = sizeof...(Ons) != 0;

template <class T>
inline constexpr bool kIsEffects = false;
template <class... Types>
inline constexpr bool kIsEffects<Effects<Types...>> = true;

template <class T>
inline constexpr bool kIsEmits = false;
template <class... Types>
inline constexpr bool kIsEmits<Emits<Types...>> = true;

template <class W>
concept HasParts = requires {
  { W::kWorkflow } -> std::convertible_to<std::string_view>;
  typename W::State;
  typename W::Events;
};

template <class W, class Event>
struct CheckEvent {
  static_assert(HasStep<W, Event>,
                "holdfast: the workflow has no 'static void step(State&, const Event&, "
                "Context<Workflow>&)' for this one of its Events");
  static constexpr bool kGood = true;
};

template <class W, class Effect>
struct CheckEffect {
  static_assert(IsEffect<Effect>,
                "holdfast: an effect needs kEffect, kExecutor, Params and Receipt");
  static_assert(is_name(Effect::kEffect),
                "holdfast: kEffect is a name of the form namespace/name@1");
  static_assert(HasStep<W, Received<Effect>>,
                "holdfast: the workflow has no 'static void step(State&, const "
                "holdfast::Received<Effect>&, Context<Workflow>&)' for this one of its Effects");
  static constexpr bool kGood = true;
};

template <class W, class Event>
struct CheckEmit {
  static_assert(Named<Event>, "holdfast: an event needs a kSchema, such as \"shop/Placed@1\"");
  static_assert(is_name(Event::kSchema),
                "holdfast: kSchema is a name of the form namespace/Name@1");
  static constexpr bool kGood = true;
};

template <class W>
struct CheckWorkflow {
  static_assert(HasParts<W>,
                "holdfast: a workflow needs kWorkflow (\"shop/Order@1\"), a struct State, and "
                "using Events = holdfast::Events<...>");

  template <class... Ons>
  static constexpr bool events(Events<Ons...>) {
    return (CheckEvent<W, typename OnParts<Ons>::Event>::kGood && ...);
  }
  template <class... Types>
  static constexpr bool effects(Effects<Types...>) {
    return (CheckEffect<W, Types>::kGood && ...);
  }
  template <class... Types>
  static constexpr bool emits(Emits<Types...>) {
    return (CheckEmit<W, Types>::kGood && ...);
  }
  static constexpr bool check() {
    if constexpr (HasParts<W>) {
      static_assert(is_name(W::kWorkflow),
                    "holdfast: kWorkflow is a name of the form namespace/Name@1");
      static_assert(kIsEvents<typename W::Events>,
                    "holdfast: Events is a holdfast::Events<...> with at least one event");
      static_assert(kIsEffects<typename Parts<W>::Effects>,
                    "holdfast: Effects is a holdfast::Effects<...>");
      static_assert(kIsEmits<typename Parts<W>::Emits>,
                    "holdfast: Emits is a holdfast::Emits<...>");
      return events(typename W::Events()) && effects(typename Parts<W>::Effects()) &&
             emits(typename Parts<W>::Emits());
    }
    return true;
  }
};

template <class W>
inline constexpr bool kIsWorkflow = CheckWorkflow<W>::check();

}  // namespace holdfast::detail
