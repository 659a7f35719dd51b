// SPDX-License-Identifier: Apache-2.0
// For the tests of steps in C++: one run of one body, given what the engine would give it, and what
// it says it did.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/view.h"
#include "holdfast/steps.h"
#include "native/flow_graph.h"
#include "steps/results_codec.h"
#include "steps/run_params.h"

namespace holdfast::native::testing {

template <class W>
class BodyOf {
 public:
  explicit BodyOf(std::shared_ptr<W> the_host = std::make_shared<W>(),
                  const std::shared_ptr<Resources>& resources = nullptr)
      : host(std::move(the_host)),
        graph(graph_of(Module::of<W>("test/code@1").flows().at(0))),
        state_(graph.steps().size()),
        handlers_(step_handlers(host, resources)) {}

  template <class Event>
  steps::Event event(const Event& value) {
    return {*graph.type_named(Event::kSchema), false,
            state_.arena.keep(detail::bytes_of_value(value))};
  }

  std::optional<steps::Failure> last_error;  // of the attempt before

  // A wait of the item is over, with an answer or without.
  template <class Event>
  void answer(std::string_view step, std::string_view id, const Event& value) {
    add_waiter(step, id).resolved = event(value);
  }
  void time_out(std::string_view step, std::string_view id) {
    add_waiter(step, id).is_timed_out = true;
  }

  // What the body did, a line each.
  template <class Event>
  std::vector<std::string> run(std::string_view step, const Event& taken) {
    return run_with(step, event(taken));
  }
  std::vector<std::string> run_with(std::string_view step, const steps::Event& taken) {
    const steps::StepIndex index = *graph.step_named(step);
    steps::Running running;
    running.attempt.event = taken;
    running.attempt.item = 1;
    running.attempt.last = last_error;
    codec::Buffer params;
    codec::Buffer key;
    codec::write_text(key, "k");
    const base::Bytes key_bytes = key.to_bytes();
    steps::RunParams{graph, state_, key_bytes, 5}.write(params, index, running);
    const base::Bytes results = perform(step, params.view());
    const auto did = steps::read_results(results, graph, state_.arena);
    EXPECT_TRUE(did) << did.error().to_string();
    std::vector<std::string> lines;
    if (did) {
      for (const steps::Did& one : *did) lines.push_back(line_of(one));
    }
    return lines;
  }

  // What it reports that runs with these params (sys/StepRun@1).
  base::Bytes perform(std::string_view step, base::ByteView params) const {
    const std::atomic<bool> stopped = false;
    codec::Buffer receipt;
    {
      Writer out(receipt);
      for (const Handler& handler : handlers_) {
        if (handler.effect != detail::step_effect(W::kWorkflow, step)) continue;
        const auto error = handler.run(Reader(params), Call("c", stopped), out);
        EXPECT_FALSE(error) << error->message;
      }
    }
    const base::Bytes written = receipt.to_bytes();
    const auto results = codec::View::of(written).find("results")->bytes();
    return {results->begin(), results->end()};
  }

  const std::shared_ptr<W> host;
  const steps::Graph graph;

 private:
  steps::Waiter& add_waiter(std::string_view step, std::string_view id) {
    steps::Waiter& waiter = state_.steps[*graph.step_named(step)].waiters.emplace_back();
    waiter.id = state_.arena.keep(id);
    waiter.trigger.item = 1;
    return waiter;
  }

  std::string text(const steps::Event& event) const {
    return graph.type(event.type).schema + codec::to_json(codec::View::of(event.value));
  }
  std::string line_of(const steps::Did& did) const {
    if (const auto* returned = std::get_if<steps::Returned>(&did))
      return "returned" + (returned->event ? " " + text(*returned->event) : "");
    if (const auto* list = std::get_if<steps::ReturnedList>(&did))
      return "returned " + std::to_string(list->events.size());
    if (const auto* failed = std::get_if<steps::Failed>(&did))
      return "failed " + std::string(failed->failure.code) + ": " +
             std::string(failed->failure.message);
    if (const auto* waits = std::get_if<steps::AddWaiter>(&did))
      return "waits " + std::string(waits->id) + " " + graph.type(waits->type).schema +
             (waits->asks ? " asks " + text(*waits->asks) : "");
    if (const auto* streamed = std::get_if<steps::Streamed>(&did))
      return "put " + text(streamed->event);
    if (const auto* cancels = std::get_if<steps::CancelStep>(&did))
      return "cancels " + graph.step(cancels->step).name + (cancels->stops ? ", told" : "");
    return "something else";
  }

  steps::State state_;
  std::vector<Handler> handlers_;
};

}  // namespace holdfast::native::testing
