// SPDX-License-Identifier: Apache-2.0
// Step workflows: steps that take events and return events. A step is a function; which events go
// to it, and where what it returns goes, is in its types.
//
//   struct Approval : holdfast::StepWorkflow {
//     static constexpr std::string_view kWorkflow = "shop/Approval@1";
//     using Events = holdfast::Events<holdfast::On<Request, &Request::id>,    // begins a run
//                                     holdfast::On<Decision, &Decision::id>>; // comes later
//     using Stop = Outcome;                                                   // ends it
//
//     Draft write(const Request& request, holdfast::StepContext& context);
//     Outcome decide(const Draft& draft, holdfast::StepContext& context) {
//       const auto decision = context.ask<Decision>(Question{...});
//       ...
//     }
//     static auto steps() {
//       return holdfast::StepsOf<Approval>()
//           .step("write", &Approval::write, {.retry = holdfast::Retry(...)})
//           .step("decide", &Approval::decide);
//     }
//   };
//
//   Engine::open({.modules = {Module::of<Approval>("shop/code@1")},
//                 .handlers = step_handlers(std::make_shared<Approval>())});
//
// What a step returns: an event, a std::optional or a std::variant of them, nothing (void), or a
// std::vector, which fans out: one for each element. A step that takes a std::vector gets all that
// such a fan-out led to, once.
//
// A wait ends a body by an exception that is no std::exception; a body must let it pass.
//
// What a body sends and puts before a wait goes out when the wait begins, once, so that it may wait
// for an answer; a body must do the same each time up to there.
//
// A body runs again when it has failed and is tried again, when what it waited for has come, when
// what it decided by has changed meanwhile, and after a crash. What it did through its context
// counts once, when it has ended well; what it did elsewhere is its own business: `context.key`
// tells the other side that it is the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "holdfast/detail/flow.h"
#include "holdfast/detail/step_call.h"
#include "holdfast/handler.h"
#include "holdfast/module.h"
#include "holdfast/retry.h"

namespace holdfast {

// A step that throws it fails with a code of its own. Any other exception is step.exception.
class StepError : public std::runtime_error {
 public:
  StepError(std::string the_code, const std::string& message)
      : std::runtime_error(message), code(std::move(the_code)) {}
  const std::string code;
};

// Nobody answered in time.
class WaitTimedOut : public StepError {
 public:
  WaitTimedOut() : StepError("step.wait_timed_out", "nobody answered in time") {}
};

// What an error handler takes: a step has failed for good.
struct StepFailed {
  static constexpr std::string_view kSchema = "sys/StepFailed@1";
  std::string code;
  std::string step;
  std::string event;  // the schema of what it had to deal with
  Bytes value;        // and that
  std::string message;
  std::uint64_t attempts = 0;
  std::uint64_t elapsed_ns = 0;
};

// The events that ask somebody outside: using Asks = holdfast::Asks<Question>;
template <class... Types>
struct Asks {};

// The events that bodies send besides what they return: using Sends = holdfast::Sends<Part>;
template <class... Types>
struct Sends {};

struct StepOptions {
  std::uint32_t workers = 4;  // runs at a time
  Retry retry = {};
  std::optional<Duration> timeout = {};  // of one run, from the moment that it is asked for
  std::uint32_t take = 0;                // of a step that joins: the first so many
};

struct ErrorHandlerOptions {
  std::vector<std::string> handles = {};  // steps; none: all that have no other
  std::uint32_t max_recoveries = 1;       // on the way of one event
};

struct WaitOptions {
  Duration timeout{};   // none: for ever
  std::string id = {};  // empty: the first, second, ... wait of the body

  // Only an event that has this value in this field (dotted, if it is inside another).
  template <class T>
  WaitOptions&& where(std::string field, const T& value) && {
    wanted.push_back({std::move(field),
                      detail::encoded([&](Writer& out) { detail::Form<T>::write(out, value); })});
    return std::move(*this);
  }
  std::vector<detail::StepCall::Wanted> wanted = {};
};

namespace detail {

// The body cannot go on before something has come. No std::exception, so that nobody takes it for
// an error.
struct Suspended {};

template <class T>
Bytes bytes_of_value(const T& value) {
  return encoded([&](Writer& out) { Form<T>::write(out, value); });
}

template <class T>
T value_of(ByteSpan bytes) {
  T value{};
  Reader in(bytes);
  if (!Form<T>::read(in, value)) throw StepError("step.bad_value", "a value is of another type");
  return value;
}

}  // namespace detail

class StepContext {
 public:
  StepContext(detail::StepCall& step, const Call& call) : key(call.key), step_(step), call_(call) {}

  const std::string key;  // of this run of this step; the same after a crash

  // From 1, and anew when what the body waited for has come.
  std::uint64_t attempt() const { return step_.failures() + 1; }
  bool stopped() const { return call_.stopped(); }  // nobody waits for it any more

  // What names the run of the workflow.
  template <class T>
  T run_key() const {
    return detail::value_of<T>(step_.key());
  }

  // An event besides what is returned, to all that take it or to one step.
  template <class Event>
  void send(const Event& event, std::string_view step = {}) {
    step_.send(Event::kSchema, detail::bytes_of_value(event), step);
  }
  // An entry of the run's stream.
  template <class Event>
  void put(const Event& event) {
    step_.put(Event::kSchema, detail::bytes_of_value(event));
  }

  // Waits for an event from outside; the body begins anew when it has come, and gets it here.
  // WaitTimedOut: it has not come in time.
  template <class Event>
  Event wait_for(const WaitOptions& options = {}) {
    return wait<Event>(options, std::nullopt);
  }
  // The same, and puts a question into the stream when the wait begins.
  template <class Event, class Question>
  Event ask(const Question& question, const WaitOptions& options = {}) {
    return wait<Event>(options, std::pair(Question::kSchema, detail::bytes_of_value(question)));
  }

  // Puts `event` aside until there is one of each type; then all of them, in the order of the
  // types. One of a type that is there already is left out.
  template <class... Events, class Event>
  std::optional<std::tuple<Events...>> collect(const Event& event,
                                               std::string_view buffer = "default") {
    static_assert((std::is_same_v<Event, Events> || ...),
                  "holdfast: what is collected is one of the types that are waited for");
    const std::vector<detail::SchemaValue> before = step_.buffer(buffer);
    const Bytes value = detail::bytes_of_value(event);
    const auto find = [&](std::string_view schema) -> std::optional<detail::ByteSpan> {
      for (const detail::SchemaValue& one : before) {
        if (one.schema == schema) return one.value;
      }
      if (schema == Event::kSchema) return value;
      return std::nullopt;
    };
    if ((find(Events::kSchema).has_value() && ...)) {
      step_.empty(buffer);
      return std::tuple<Events...>{detail::value_of<Events>(*find(Events::kSchema))...};
    }
    bool is_surplus = false;
    for (const detail::SchemaValue& one : before) is_surplus |= one.schema == Event::kSchema;
    if (!is_surplus) step_.collect(buffer, Event::kSchema, value);
    return std::nullopt;
  }
  // The same for so many of one type.
  template <class Event>
  std::optional<std::vector<Event>> collect(const Event& event, std::size_t count,
                                            std::string_view buffer = "default") {
    const std::vector<detail::SchemaValue> before = step_.buffer(buffer);
    if (before.size() + 1 < count) {
      step_.collect(buffer, Event::kSchema, detail::bytes_of_value(event));
      return std::nullopt;
    }
    std::vector<Event> all;
    for (const detail::SchemaValue& one : before) all.push_back(detail::value_of<Event>(one.value));
    all.push_back(event);
    step_.empty(buffer);
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

  // Drops what another step has to do and does.
  void cancel_step(std::string_view step) { step_.cancel_step(step); }
  void cancel_run(std::string_view reason) { step_.cancel_run(reason); }

 private:
  template <class Event>
  Event wait(const WaitOptions& options,
             const std::optional<std::pair<std::string_view, Bytes>>& asks) {
    const std::string id = step_.wait_id(options.id);
    if (const auto* waited = step_.find_wait(id)) {
      if (!waited->answer) throw WaitTimedOut();
      return detail::value_of<Event>(waited->answer->value);
    }
    step_.wait(id, Event::kSchema, options.wanted, options.timeout, asks);
    throw detail::Suspended();
  }

  detail::StepCall& step_;
  const Call& call_;
};

namespace detail {

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

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
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
struct SendsOf {
  using type = Sends<>;
};
template <class W>
requires requires { typename W::Sends; }
struct SendsOf<W> {
  using type = typename W::Sends;
};

}  // namespace detail

template <class W>
class StepsOf {
 public:
  template <class Returns, class Takes>
  StepsOf&& step(std::string name, Returns (W::*body)(const Takes&, StepContext&),
                 StepOptions options = {}) && {
    add<Returns, Takes>(std::move(name), body, std::move(options));
    return std::move(*this);
  }

  template <class Returns, class Takes>
  StepsOf&& step(std::string name, Returns (W::*body)(const Takes&, StepContext&) const,
                 StepOptions options = {}) && {
    add<Returns, Takes>(std::move(name), body, std::move(options));
    return std::move(*this);
  }

  // A step that takes failures of others: those that it names, or all. It has one slot, and is not
  // tried again.
  template <class Returns>
  StepsOf&& on_error(std::string name, Returns (W::*body)(const StepFailed&, StepContext&),
                     ErrorHandlerOptions options = {}) && {
    detail::Flow::Step& step =
        add<Returns, StepFailed>(std::move(name), body, StepOptions{.workers = 1});
    step.is_handler = true;
    step.handles = std::move(options.handles);
    step.max_recoveries = options.max_recoveries;
    return std::move(*this);
  }

  // How long a run may take.
  StepsOf&& timeout(Duration timeout) && {
    timeout_ns_ = static_cast<std::uint64_t>(std::max<std::int64_t>(0, timeout.count()));
    return std::move(*this);
  }

  // For the engine.
  detail::Flow flow(detail::Schemas& schemas) const {
    detail::Flow flow{std::string(W::kWorkflow), {}, {}, timeout_ns_};
    add_events(flow, schemas, typename W::Events());
    add_type<typename W::Stop>(flow, schemas, Role::kStop);
    add_asks(flow, schemas, typename detail::AsksOf<W>::type());
    for (const Entry& entry : entries_) {
      entry.describe(flow, schemas);
      flow.steps.push_back(entry.step);
    }
    add_sends(flow, schemas, typename detail::SendsOf<W>::type());
    return flow;
  }
  std::vector<Handler> handlers(const std::shared_ptr<W>& host) const {
    std::vector<Handler> all;
    for (const Entry& entry : entries_) {
      all.push_back({detail::step_effect(W::kWorkflow, entry.step.name), worker(W::kWorkflow),
                     [host, run = entry.run, retry = entry.retry](Reader params, const Call& call,
                                                                  Writer& receipt) {
                       return perform(*host, run, retry, params, call, receipt);
                     }});
    }
    return all;
  }

 private:
  using Role = detail::Flow::Role;
  using Run = std::function<void(W&, detail::StepCall&, StepContext&)>;
  struct Entry {
    detail::Flow::Step step;
    void (*describe)(detail::Flow&, detail::Schemas&);
    Run run;
    Retry retry;
  };

  // The first that says what a type is for is right: those of the workflow itself come first.
  template <class T>
  static void add_type(detail::Flow& flow, detail::Schemas& schemas, Role role) {
    for (const detail::Flow::Type& type : flow.types) {
      if (type.schema == T::kSchema) return;
    }
    static_cast<void>(detail::Form<T>::type(schemas));
    flow.types.push_back({std::string(T::kSchema), role});
  }
  template <class First, class... Rest>
  static void add_events(detail::Flow& flow, detail::Schemas& schemas, Events<First, Rest...>) {
    add_type<typename detail::OnParts<First>::Event>(flow, schemas, Role::kStart);
    (add_type<typename detail::OnParts<Rest>::Event>(flow, schemas, Role::kResponse), ...);
  }
  template <class... Types>
  static void add_asks(detail::Flow& flow, detail::Schemas& schemas, Asks<Types...>) {
    (add_type<Types>(flow, schemas, Role::kInputRequired), ...);
  }
  template <class... Types>
  static void add_sends(detail::Flow& flow, detail::Schemas& schemas, Sends<Types...>) {
    (add_type<Types>(flow, schemas, Role::kPlain), ...);
    for (detail::Flow::Type& type : flow.types)
      type.is_sent = ((type.schema == Types::kSchema) || ...);
  }
  template <class Returns, class Takes>
  static void describe(detail::Flow& flow, detail::Schemas& schemas) {
    const auto add_each = [&]<class T>() {
      add_type<T>(flow, schemas, std::is_same_v<T, StepFailed> ? Role::kStepFailed : Role::kPlain);
    };
    detail::StepValue<Takes>::types(add_each);
    detail::StepValue<Returns>::types(add_each);
  }

  template <class Returns, class Takes, class BodyOf>
  detail::Flow::Step& add(std::string name, BodyOf body, StepOptions options) {
    Entry& entry = entries_.emplace_back();
    detail::Flow::Step& step = entry.step;
    step.name = std::move(name);
    step.workers = options.workers;
    step.take = options.take;
    if (options.timeout)
      step.timeout_ns =
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, options.timeout->count()));
    if constexpr (detail::kIsVector<Takes>) {
      static_assert(detail::Named<typename Takes::value_type>,
                    "holdfast: a step that joins takes a std::vector of one type of event");
      step.join = Takes::value_type::kSchema;
    } else {
      static_assert(detail::Named<Takes> || detail::kIsVariant<Takes>,
                    "holdfast: a step takes an event, a std::variant of events, or a std::vector "
                    "of one type of event");
      detail::StepValue<Takes>::types([&]<class T>() { step.accepts.emplace_back(T::kSchema); });
    }
    constexpr bool kFansOut = detail::kIsVector<typename detail::Unwrapped<Returns>::type>;
    detail::StepValue<Returns>::types(
        [&]<class T>() { (kFansOut ? step.returns_list : step.returns).emplace_back(T::kSchema); });
    entry.describe = &describe<Returns, Takes>;
    entry.run = [body](W& host, detail::StepCall& call, StepContext& context) {
      const Takes taken = read<Takes>(call);
      if constexpr (std::is_void_v<Returns>) {
        (host.*body)(taken, context);
        call.return_nothing();
      } else {
        detail::StepValue<Returns>::report(call, (host.*body)(taken, context));
      }
    };
    entry.retry = std::move(options.retry);
    return step;
  }

  template <class Takes>
  static Takes read(const detail::StepCall& call) {
    if constexpr (detail::kIsVariant<Takes>) {
      return read_arm(call, static_cast<Takes*>(nullptr));
    } else {
      return detail::value_of<Takes>(call.value());
    }
  }
  // A variant stands by the schema of its arm, and not as one value.
  template <class... Types>
  static std::variant<Types...> read_arm(const detail::StepCall& call, std::variant<Types...>*) {
    std::optional<std::variant<Types...>> value;
    static_cast<void>(((call.schema() == Types::kSchema &&
                        (value.emplace(detail::value_of<Types>(call.value())), true)) ||
                       ...));
    if (!value) throw StepError("step.bad_value", "an event is of a type that the step has not");
    return *std::move(value);
  }

  static std::optional<EffectError> perform(W& host, const Run& run, const Retry& retry,
                                            Reader params, const Call& call, Writer& receipt) {
    detail::StepCall step(params);
    if (!step.good()) return EffectError{"step.params", "they are not what a step is run with"};
    const auto begun = std::chrono::steady_clock::now();
    if (!step.is_judging()) {
      StepContext context(step, call);
      try {
        run(host, step, context);
      } catch (const detail::Suspended&) {
        // What it waits for is among what it did.
      } catch (const StepError& error) {
        step.fail(error.code, error.what());
      } catch (const std::exception& error) {
        step.fail("step.exception", error.what());
      } catch (...) {
        step.fail("step.exception", "something that is no std::exception was thrown");
      }
    }
    if (step.has_failed()) step.judge(retry, std::chrono::steady_clock::now() - begun);
    step.write_receipt(receipt);
    return std::nullopt;
  }

  std::vector<Entry> entries_;
  std::uint64_t timeout_ns_ = 0;
};

// What performs the steps of a workflow in this program. The host has the bodies, and whatever they
// need: several run at a time.
template <class W>
std::vector<Handler> step_handlers(std::shared_ptr<W> host) {
  return W::steps().handlers(host);
}

}  // namespace holdfast
