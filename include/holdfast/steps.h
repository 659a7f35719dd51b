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
// such a fan-out led to, once. A step that takes several events, each a parameter of its own, gets
// one of each, together: the first that came of each type, then the second, and so on; of what a
// fan-out led to, those of the same fan-out.
//
// A step may be a coroutine. Then it returns a StepTask of any of these and takes a TaskContext,
// whose waits are awaited:
//
//     holdfast::StepTask<Outcome> decide(const Draft& draft, holdfast::TaskContext& context) {
//       const auto answer = context.ask<Decision>(Question{...});
//       const Decision decision = co_await answer;
//       co_return Outcome{...};
//     }
//
// In one that is a plain function a wait ends the body by an exception that is no std::exception;
// it must let that pass, or fails with step.wait_caught. A coroutine is destroyed where it waits.
//
// A step may also be a static member function, a function, or a lambda that captures nothing.
//
// What a body sends and puts before a wait goes out when the wait begins, once, so that it may wait
// for an answer; a body must do the same each time up to there.
//
// A body runs another workflow, of those that `using Children = holdfast::Children<Review>;` names,
// and gets what it completed with: `const Verdict verdict = context.run<Review>(Ask{...});`
//
// A body runs again when it has failed and is tried again, when what it waited for has come, when
// what it decided by has changed meanwhile, and after a crash. What it did through its context
// counts once, when it has ended well; what it did elsewhere is its own business: `context.key`
// tells the other side that it is the same.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "holdfast/detail/flow.h"
#include "holdfast/detail/step_call.h"
#include "holdfast/detail/step_parts.h"
#include "holdfast/handler.h"
#include "holdfast/module.h"
#include "holdfast/resources.h"     // IWYU pragma: export
#include "holdfast/retry.h"         // IWYU pragma: export
#include "holdfast/step_context.h"  // IWYU pragma: export
#include "holdfast/step_error.h"    // IWYU pragma: export
#include "holdfast/step_task.h"     // IWYU pragma: export
#include "holdfast/step_waits.h"    // IWYU pragma: export

namespace holdfast {

// What an error handler takes: a step has failed for good.
struct StepFailed {
  static constexpr std::string_view kSchema = "sys/StepFailed@1";
  std::string code;
  std::string step;
  std::string event;  // the schema of what it had to deal with; of a list or a set, of the first
  Bytes value;        // and that; of a step that takes a list or a set of events, a list
  std::string message;
  std::uint64_t attempts = 0;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t failed_at_ns = 0;  // since 1970, by the clock of the world; 0: not recorded

  // An event is a map.
  bool is_list() const noexcept { return !value.empty() && value.front() >> 5U == 4; }

  // What it had to deal with, if it is one T; for a step that takes a std::vector<T>, if it is a
  // list of them; for one that takes several together, if it is one of each.
  template <class T>
  std::optional<T> as() const {
    return read<T>(T::kSchema, [](Reader& in, T& made) { return detail::Form<T>::read(in, made); });
  }
  template <class T>
  std::optional<std::vector<T>> list_of() const {
    using List = std::vector<T>;
    return read<List>(T::kSchema,
                      [](Reader& in, List& made) { return detail::Form<List>::read(in, made); });
  }
  template <class First, class... More>
  std::optional<std::tuple<First, More...>> set_of() const {
    using Set = std::tuple<First, More...>;
    return read<Set>(First::kSchema, [](Reader& in, Set& made) {
      std::uint64_t count = 0;
      return in.list(count) && count == 1 + sizeof...(More) &&
             std::apply(
                 [&](auto&... each) {
                   return (detail::Form<std::decay_t<decltype(each)>>::read(in, each) && ...);
                 },
                 made);
    });
  }

 private:
  template <class T, class Read>
  std::optional<T> read(std::string_view schema, Read fill) const {
    std::optional<T> made(std::in_place);
    Reader in(value);
    if (event != schema || !fill(in, *made)) made.reset();
    return made;
  }
};

namespace detail {

// Of runs that began by earlier rules it comes without its time.
template <>
struct Form<StepFailed> {
  using Inner = TypeList<>;
  static std::string type(Schemas&) {
    return R"({"ref":")" + std::string(StepFailed::kSchema) + R"("})";
  }
  static bool read(Reader& in, StepFailed& failed) {
    std::uint64_t count = 0;
    const auto named = [&](std::string_view wanted) {
      std::string_view name;
      return in.text(name) && name == wanted;
    };
    if (!in.map(count) || (count != 7 && count != 8)) return false;
    if (!named("code") || !Form<std::string>::read(in, failed.code) || !named("step") ||
        !Form<std::string>::read(in, failed.step) || !named("event") ||
        !Form<std::string>::read(in, failed.event) || !named("value") ||
        !Form<Bytes>::read(in, failed.value) || !named("message") ||
        !Form<std::string>::read(in, failed.message) || !named("attempts") ||
        !in.nat(failed.attempts) || !named("elapsed_ns") || !in.nat(failed.elapsed_ns))
      return false;
    return count == 7 || (named("failed_at_ns") && (in.null() || in.nat(failed.failed_at_ns)));
  }
  static void write(Writer& out, const StepFailed& failed) {
    out.map(8);
    out.text("code");
    out.text(failed.code);
    out.text("step");
    out.text(failed.step);
    out.text("event");
    out.text(failed.event);
    out.text("value");
    out.bytes(failed.value);
    out.text("message");
    out.text(failed.message);
    out.text("attempts");
    out.nat(failed.attempts);
    out.text("elapsed_ns");
    out.nat(failed.elapsed_ns);
    out.text("failed_at_ns");
    out.nat(failed.failed_at_ns);
  }
};

}  // namespace detail

// The events that ask a person or program outside: using Asks = holdfast::Asks<Question>;
template <class... Types>
struct Asks {};

// The events that bodies only show to readers of the run's stream (StepContext::publish, put); no
// step takes them: using Publishes = holdfast::Publishes<Token>;
template <class... Types>
struct Publishes {};

// The events that bodies send besides what they return: using Sends = holdfast::Sends<Part>;
template <class... Types>
struct Sends {};

struct StepOptions {
  std::uint32_t workers = 4;  // runs at a time
  Retry retry = {};
  // Of one run of it, from the moment that it is asked for; more than 0.
  std::optional<Duration> timeout = {};
  std::uint32_t take = 0;  // of a step that joins: how many it takes
};

struct ErrorHandlerOptions {
  std::vector<std::string> handles = {};  // steps; none: all that have no other
  std::uint32_t max_recoveries = 1;       // on the way of one event
};

template <class W>
class StepsOf {
 public:
  template <class Body>
  StepsOf&& step(std::string name, Body body, StepOptions options = {}) && {
    add(std::move(name), detail::step_function(body), std::move(options));
    return std::move(*this);
  }

  // A step that takes failures of others: those that it names, or all. It has one slot, and is not
  // tried again.
  template <class Body>
  StepsOf&& on_error(std::string name, Body body, ErrorHandlerOptions options = {}) && {
    const auto function = detail::step_function(body);
    using Takes = typename detail::StepBody<std::decay_t<decltype(function)>>::Takes;
    static_assert(std::is_same_v<Takes, std::tuple<StepFailed>>,
                  "holdfast: an error handler takes a StepFailed");
    detail::Flow::Step& step = add(std::move(name), function, StepOptions{.workers = 1});
    step.is_handler = true;
    step.handles = std::move(options.handles);
    step.max_recoveries = options.max_recoveries;
    return std::move(*this);
  }

  // How long a run may take; more than 0. Without it: for ever.
  StepsOf&& timeout(Duration timeout) && {
    timeout_ns_ = positive(timeout, "the timeout of a run");
    return std::move(*this);
  }

  // For the engine.
  detail::Flow flow(detail::Schemas& schemas) const {
    detail::Flow flow{std::string(W::kWorkflow), {}, {}, timeout_ns_};
    flow.errors = errors_;
    add_events(flow, schemas, typename W::Events());
    static_assert(detail::HasStop<W>,
                  "holdfast: a step workflow says which event ends a run: using Stop = ...");
    if constexpr (detail::HasStop<W>) add_type<typename W::Stop>(flow, schemas, Role::kStop);
    add_asks(flow, schemas, typename detail::AsksOf<W>::type());
    add_publishes(flow, schemas, typename detail::PublishesOf<W>::type());
    for (const Entry& entry : entries_) {
      entry.describe(flow, schemas);
      flow.steps.push_back(entry.step);
    }
    add_sends(flow, schemas, typename detail::SendsOf<W>::type());
    add_children(flow, typename detail::ChildrenOf<W>::type());
    return flow;
  }
  std::vector<Handler> handlers(const std::shared_ptr<W>& host,
                                const std::shared_ptr<Resources>& resources = nullptr) const {
    std::vector<Handler> all;
    const auto routes = std::make_shared<const detail::StepRoutes>(this->routes());
    for (const Entry& entry : entries_) {
      all.push_back({detail::step_effect(W::kWorkflow, entry.step.name), worker(W::kWorkflow),
                     [host, resources, routes, run = entry.run, retry = entry.retry](
                         Reader params, const Call& call, Writer& receipt) {
                       detail::StepCall step(params, routes.get());
                       return perform(*host, resources, run, retry, step, call, receipt);
                     }});
    }
    return all;
  }

 private:
  using Role = detail::Flow::Role;
  using Run = std::function<void(W&, detail::StepCall&, TaskContext&)>;
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
  // To the graph they are the same as questions: nobody inside need take them.
  template <class... Types>
  static void add_publishes(detail::Flow& flow, detail::Schemas& schemas, Publishes<Types...>) {
    (add_type<Types>(flow, schemas, Role::kInputRequired), ...);
  }
  template <class... Types>
  static void add_sends(detail::Flow& flow, detail::Schemas& schemas, Sends<Types...>) {
    (add_type<Types>(flow, schemas, Role::kPlain), ...);
    for (detail::Flow::Type& type : flow.types)
      type.is_sent = ((type.schema == Types::kSchema) || ...);
  }
  template <class... Workflows>
  static void add_children(detail::Flow& flow, Children<Workflows...>) {
    (flow.children.emplace_back(Workflows::kWorkflow), ...);
  }

  template <class Returns, class Takes>
  static void describe(detail::Flow& flow, detail::Schemas& schemas) {
    const auto add_each = [&]<class T>() {
      add_type<T>(flow, schemas, std::is_same_v<T, StepFailed> ? Role::kStepFailed : Role::kPlain);
    };
    detail::StepTaken<Takes>::types(add_each);
    detail::StepValue<Returns>::types(add_each);
  }

  template <class Body>
  detail::Flow::Step& add(std::string name, Body body, StepOptions options) {
    using Returns = typename detail::StepBody<Body>::Returns;
    using Takes = typename detail::StepBody<Body>::Takes;
    Entry& entry = entries_.emplace_back();
    detail::Flow::Step& step = entry.step;
    step.name = std::move(name);
    step.workers = options.workers;
    step.take = options.take;
    if (options.timeout)
      step.timeout_ns = positive(*options.timeout, "the timeout of step '" + step.name + "'");
    detail::StepTaken<Takes>::describe(step);
    constexpr bool kFansOut = detail::kIsVector<typename detail::Unwrapped<Returns>::type>;
    detail::StepValue<Returns>::types(
        [&]<class T>() { (kFansOut ? step.returns_list : step.returns).emplace_back(T::kSchema); });
    entry.describe = &describe<Returns, Takes>;
    entry.run = [body](W& host, detail::StepCall& call, TaskContext& context) {
      const Takes taken = detail::StepTaken<Takes>::read(call);
      report<Returns>(call, [&] {
        return std::apply(
            [&](const auto&... events) {
              return detail::call_step(host, body, events..., context);
            },
            taken);
      });
    };
    entry.retry = std::move(options.retry);
    return step;
  }

  detail::StepRoutes routes() const {
    detail::StepRoutes made;
    detail::Schemas schemas;
    for (const detail::Flow::Type& type : flow(schemas).types) made.types.push_back(type.schema);
    if constexpr (detail::HasStop<W>) made.stop = W::Stop::kSchema;
    for (const Entry& entry : entries_) {
      std::vector<std::string> takes = entry.step.accepts;
      takes.insert(takes.end(), entry.step.slots.begin(), entry.step.slots.end());
      if (!entry.step.join.empty()) takes.push_back(entry.step.join);
      made.steps.push_back({entry.step.name, std::move(takes)});
    }
    return made;
  }

  // What a body came to. One that is a coroutine may have come to a wait: that stands among what it
  // did, and its frame ends here.
  template <class Returns, class Function>
  static void report(detail::StepCall& call, Function run) {
    using Returned = decltype(run());
    if constexpr (detail::kIsTask<Returned>) {
      Returned task = run();
      if (task.run()) report<Returns>(call, [&]() -> Returns { return task.result(); });
    } else if constexpr (std::is_void_v<Returns>) {
      run();
      call.return_nothing();
    } else {
      detail::StepValue<Returns>::report(call, run());
    }
  }

  static std::optional<EffectError> perform(W& host, const std::shared_ptr<Resources>& resources,
                                            const Run& run, const Retry& retry,
                                            detail::StepCall& step, const Call& call,
                                            Writer& receipt) {
    if (!step.good()) return EffectError{"step.params", "they are not what a step is run with"};
    const auto begun = std::chrono::steady_clock::now();
    if (!step.is_judging()) {
      TaskContext context(step, call, resources);
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
    if (step.has_failed()) {
      step.judge([&](const StepFailure& failure) { return judge(retry, failure, step); },
                 std::chrono::steady_clock::now() - begun);
    }
    step.write_receipt(receipt);
    return std::nullopt;
  }

  // What a policy throws says nothing about the step, which had failed before.
  static std::optional<Duration> judge(const Retry& retry, const StepFailure& failure,
                                       detail::StepCall& step) {
    try {
      return retry.judge(failure);
    } catch (const std::exception& error) {
      step.policy_threw(error.what());
    } catch (...) {
      step.policy_threw({});
    }
    return std::nullopt;
  }

  // Nothing could ever be done in no time: that is a mistake, and said with the others of the
  // graph.
  std::uint64_t positive(Duration duration, const std::string& what) {
    if (duration <= Duration::zero()) errors_.push_back(what + " must be more than 0");
    return static_cast<std::uint64_t>(std::max<std::int64_t>(1, duration.count()));
  }

  std::vector<Entry> entries_;
  std::vector<std::string> errors_;
  std::uint64_t timeout_ns_ = 0;
};

// What performs the steps of a workflow in this program. The host has the bodies, and whatever they
// need: several run at a time. What has to be made for them can be among the resources.
template <class W>
std::vector<Handler> step_handlers(std::shared_ptr<W> host,
                                   std::shared_ptr<Resources> resources = nullptr) {
  return W::steps().handlers(host, resources);
}

}  // namespace holdfast
