// SPDX-License-Identifier: Apache-2.0
#include "steps/check_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steps/testing_graph.h"

namespace holdfast::steps::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> wrong_with(const Graph& graph) {
  base::Errors errors;
  check_graph(graph, errors);
  std::vector<std::string> lines;
  for (const base::Error& error : errors) lines.push_back(error.to_string());
  return lines;
}
std::vector<std::string> wrong_with(const char* text) { return wrong_with(graph_of(text)); }

TEST(CheckGraph, what_runs_is_good) {
  EXPECT_THAT(wrong_with("begin: Start -> A \n end: A -> Stop"), IsEmpty());
  EXPECT_THAT(wrong_with(R"(
    split: Start -> A[]
    work: A -> B | Ask
    got: Answer -> C
    use: C -> Stop
    sum: B[] -> Stop
    side: B
    rescue!2 work: StepFailed -> C
    rest!1: StepFailed -> Stop)"),
              IsEmpty());
}

TEST(CheckGraph, there_is_one_beginning_and_one_end) {
  EXPECT_THAT(wrong_with("loop: Answer -> Stop"),
              ElementsAre("steps: exactly one type of event begins a run, and some step takes it"));
  EXPECT_THAT(wrong_with("loop: Start -> Ask"),
              ElementsAre("steps: exactly one type of event ends a run, and some step returns it"));
}

TEST(CheckGraph, an_end_is_for_nobody_and_a_beginning_from_nobody) {
  EXPECT_THAT(wrong_with("a: Start -> Stop \n b: Stop -> Stop"),
              ElementsAre("step 'b': it takes the event that ends the run"));
  EXPECT_THAT(wrong_with("a: Start -> Stop | Start"),
              ElementsAre("step 'a': it returns the event that begins a run"));
}

TEST(CheckGraph, what_is_taken_is_made_and_what_is_made_is_taken) {
  EXPECT_THAT(wrong_with("a: Start -> Stop \n b: B -> Stop"),
              ElementsAre("event 'B': a step takes it, and nobody returns it"));
  EXPECT_THAT(wrong_with("a: Start -> Stop | B"),
              ElementsAre("event 'B': a step returns it, and nobody takes it"));
}

TEST(CheckGraph, what_bodies_send_is_made) {
  const Graph graph = graph_of("a: Start -> Stop \n b: B -> Stop");
  std::vector<EventType> types = graph.types();
  types[*graph.type_named("B")].is_sent = true;
  EXPECT_THAT(wrong_with(Graph(types, graph.steps())), IsEmpty());
}

TEST(CheckGraph, every_step_can_be_reached) {
  EXPECT_THAT(wrong_with("a: Start -> Stop \n b: B -> C | Stop \n c: C -> B"),
              ElementsAre("step 'b': nothing leads to it", "step 'c': nothing leads to it"));
}

TEST(CheckGraph, every_step_leads_to_an_end) {
  EXPECT_THAT(
      wrong_with("a: Start -> B | Stop \n b: B -> C \n c: C -> B"),
      ElementsAre(
          "step 'b': no way leads from it to the end of the run, or to an answer from outside",
          "step 'c': no way leads from it to the end of the run, or to an answer from outside"));
}

TEST(CheckGraph, a_join_has_a_fan_out) {
  EXPECT_THAT(wrong_with("a: Start -> B \n b: B[] -> Stop"),
              ElementsAre("step 'b': it joins a list of 'B', and no fan-out leads to any"));
}

TEST(CheckGraph, what_is_taken_together_comes_to_be_on_one_level) {
  // Of the run, of one fan-out, of a fan-out that nobody joins, behind a join.
  for (const char* const good :
       {"a: Start -> A | B \n pack: A & B -> Stop",
        "a: Start -> P[] \n l: P -> A \n r: P -> B \n pack: A & B -> C \n s: C[] -> Stop",
        "a: Start -> P[] | B \n l: P -> A \n pack: A & B -> Stop",
        "a: Start -> P[] | B \n l: P -> D \n j: D[] -> A \n pack: A & B -> Stop",
        "a: Start -> P | B \n l: P -> D \n h!1: StepFailed -> A \n d: D -> Stop \n pack: A & B -> "
        "Stop",
        "a: Start -> A \n pack: A & Answer -> Stop"}) {
    EXPECT_THAT(wrong_with(good), IsEmpty()) << good;
  }
  EXPECT_THAT(
      wrong_with("a: Start -> P[] | B \n l: P -> A | C \n pack: A & B -> C \n s: C[] -> Stop"),
      ElementsAre(
          "step 'pack': what it takes together never comes out of the same fan-out, or of none"));
}

TEST(CheckGraph, a_step_takes_events_together_or_alone) {
  const Graph mixed = graph_of("a: Start -> A | B \n pack: A & B -> Stop");
  std::vector<StepDef> steps = mixed.steps();
  steps.at(1).accepts = steps.at(1).slots;
  EXPECT_THAT(wrong_with(Graph(mixed.types(), steps)),
              ElementsAre("step 'pack': it takes some events together and others alone"));
  steps.at(1).accepts.clear();
  steps.at(1).slots.resize(kMaxSlots + 1, steps.at(1).slots[0]);
  EXPECT_THAT(wrong_with(Graph(mixed.types(), steps)),
              ElementsAre("step 'pack': it takes more than 16 events together"));
}

TEST(CheckGraph, names_are_words_and_different) {
  EXPECT_THAT(wrong_with("a.b: Start -> Stop"),
              ElementsAre("step 'a.b': a name is a letter, then letters, digits and underscores, "
                          "64 at most"));
  EXPECT_THAT(wrong_with("a: Start -> Stop \n a: Start -> Stop"),
              ElementsAre("step 'a': there are two of that name"));
}

TEST(CheckGraph, a_step_has_slots_and_takes_something) {
  EXPECT_THAT(wrong_with("a*0: Start -> Stop"), ElementsAre("step 'a': it has no slot to run in"));
  EXPECT_THAT(wrong_with("a*1025: Start -> Stop"),
              ElementsAre("step 'a': it has more than 1024 slots"));
  EXPECT_THAT(wrong_with("a: Start -> Stop \n b: -> Stop"),
              ElementsAre("step 'b': it takes no event"));
}

TEST(CheckGraph, handlers_are_unambiguous) {
  EXPECT_THAT(wrong_with("a: Start -> Stop \n h!1: StepFailed -> Stop \n i!1: StepFailed -> Stop"),
              ElementsAre("step 'i': there is another error handler of all steps"));
  EXPECT_THAT(
      wrong_with("a: Start -> Stop \n h!1 a: StepFailed -> Stop \n i!1 a: StepFailed -> Stop"),
      ElementsAre("step 'i': it handles 'a', which has another error handler"));
  EXPECT_THAT(wrong_with("a: Start -> Stop \n h!1 x: StepFailed -> Stop"),
              ElementsAre("step 'h': it handles 'x', which is no step"));
  EXPECT_THAT(wrong_with("a: Start -> Stop \n h!1 i: StepFailed -> Stop \n"
                         "i!1: StepFailed -> Stop"),
              ElementsAre("step 'h': it handles 'i', which is an error handler"));
}

TEST(CheckGraph, a_handler_takes_failures_and_nobody_else_does) {
  EXPECT_THAT(wrong_with("a: Start -> Stop \n h!1: Answer -> Stop"),
              ElementsAre("step 'h': an error handler takes failures of steps and nothing else"));
  EXPECT_THAT(wrong_with("a: Start -> Stop \n h: StepFailed -> Stop"),
              ElementsAre("step 'h': it takes failures of steps, and is no error handler"));
  EXPECT_THAT(wrong_with("a: Start -> Stop \n h!0: StepFailed -> Stop"),
              ElementsAre("step 'h': it may never help"));
}

TEST(CheckGraph, there_are_not_too_many) {
  EXPECT_THAT(wrong_with(Graph({}, {})),
              ElementsAre("steps: there are none",
                          "steps: exactly one type of event begins a run, and some step takes it",
                          "steps: exactly one type of event ends a run, and some step returns it"));
  std::string many = "a: Start -> Stop \n";
  for (int i = 0; i < 256; ++i) many += "b" + std::to_string(i) + ": Start -> Stop \n";
  EXPECT_THAT(wrong_with(many.c_str()), ElementsAre("steps: there are more than 256"));
}

}  // namespace
}  // namespace holdfast::steps::testing
