// SPDX-License-Identifier: Apache-2.0
// For the tests of step workflows: one line of a table is a state, a tick, the state that comes of
// it and the commands, in their order (steps/testing_text.h says how they are written).
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/normaliser.h"
#include "steps/reduce.h"
#include "steps/testing_text.h"

namespace holdfast::steps::testing {

inline base::ByteView Parser::value(std::string_view json) {
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_json(codec::Schema::any(), json);
  EXPECT_TRUE(made) << json << ": " << made.error().to_string();
  return arena_.keep(*made);
}

// The lines without what indents them.
inline std::string trimmed(std::string_view text) {
  std::string out;
  for (const std::string& line : lines_of(text)) {
    std::string joined;
    for (const std::string& word : words_of(line)) joined += (joined.empty() ? "" : " ") + word;
    out += joined + "\n";
  }
  return out;
}

class Table {
 public:
  // By the first rules, unless a test is about what later ones have added.
  explicit Table(std::string_view graph, std::uint64_t timeout_ns = 0, Rules rules = Rules::kFirst)
      : graph_(graph_of(graph, timeout_ns, rules)), print_(graph_), parse_(graph_) {}

  std::uint64_t now_ns = 5;

  struct Outcome {
    std::string state;
    std::string commands;
  };

  Outcome reduce(std::string_view before, const Tick& tick) {
    State state = parse_.state(before);
    std::vector<Command> commands;
    steps::reduce(graph_, state, tick, now_ns, commands);
    Outcome outcome{print_.state(state), ""};
    for (const Command& command : commands) outcome.commands += print_.command(command) + "\n";
    return outcome;
  }

  void check(std::string_view before, const Tick& tick, std::string_view after,
             std::string_view commands) {
    // What is written in a test is what would be printed.
    EXPECT_EQ(print_.state(parse_.state(before)), trimmed(before));
    const Outcome outcome = reduce(before, tick);
    EXPECT_EQ(outcome.commands, trimmed(commands));
    EXPECT_EQ(outcome.state, trimmed(after));
  }

  // A tick that changes nothing and asks for nothing.
  void check_ignored(std::string_view state, const Tick& tick) { check(state, tick, state, ""); }

  // Ticks, as a test writes them.
  Event event(std::string_view text) { return parse_.event(text); }
  StepIndex step(std::string_view name) const { return *graph_.step_named(name); }
  AddEvent add(std::string_view text) { return {.event = event(text)}; }
  AddEvent add_to(std::string_view step_name, std::string_view text) {
    return {.event = event(text), .target = step(step_name)};
  }
  template <class... Things>
  static StepResult result(std::uint64_t run, Things... things) {
    return {run, {Did(std::move(things))...}};
  }

  // What bodies do.
  Returned returns(std::string_view text) { return {event(text)}; }
  static Returned returns_nothing() { return {}; }
  ReturnedList returns_list(const std::vector<std::string>& texts) {
    ReturnedList list;
    for (const std::string& text : texts) list.events.push_back(event(text));
    return list;
  }
  Sent sends(std::string_view text) { return {event(text), std::nullopt}; }
  Sent sends_to(std::string_view step_name, std::string_view text) {
    return {event(text), step(step_name)};
  }
  Streamed streams(std::string_view text) { return {event(text)}; }
  AddCollected collects(std::string_view text, std::string_view buffer = "default") {
    return {buffer, event(text)};
  }
  static DeleteCollected empties(std::string_view buffer = "default") { return {buffer}; }
  static SawCollected saw(std::string_view buffer = "default") { return {buffer}; }
  AddWaiter waits(std::string_view id, std::string_view type, std::uint64_t timeout_ns = 0) {
    return {.id = id,
            .type = *graph_.type_named(type),
            .requirements = {},
            .timeout_ns = timeout_ns,
            .asks = std::nullopt};
  }
  AddWaiter asks(std::string_view question, AddWaiter waiter) {
    waiter.asks = event(question);
    return waiter;
  }
  AddWaiter where(std::string_view field, std::string_view json, AddWaiter waiter) {
    waiter.requirements.push_back({field, parse_.value(json)});
    return waiter;
  }
  static Failed fails(std::string_view code) { return {{code, "it did not work"}, true, {}}; }
  static Failed fails_and_retries(std::string_view code, std::uint64_t delay_ns) {
    return {{code, "it did not work"}, true, delay_ns};
  }
  static Failed is_lost(std::string_view code) { return {{code, "nobody answered"}, false, {}}; }
  StoreEdit stores(std::string_view key, std::string_view json) {
    return {key, parse_.value(json), false};
  }
  StoreEdit updates(std::string_view key, std::string_view json) {
    return {key, parse_.value(json), true};
  }
  static StoreEdit erases(std::string_view key) { return {key, {}, false}; }
  CancelStep cancels(std::string_view name) const { return {step(name)}; }

  const Graph& graph() const { return graph_; }
  Printer& print() { return print_; }
  Parser& parse() { return parse_; }

 private:
  Graph graph_;
  Printer print_;
  Parser parse_;
};

}  // namespace holdfast::steps::testing
