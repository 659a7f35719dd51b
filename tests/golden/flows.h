// SPDX-License-Identifier: Apache-2.0
// The workflows of the golden journals, in which everything happens that a step workflow can do.
// The journals name their definitions: these stay as they are, and something new gets a new name.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/module.h"
#include "holdfast/steps.h"

namespace holdfast::golden {

using namespace std::chrono_literals;

struct Plan {
  static constexpr std::string_view kSchema = "golden/Plan@1";
  std::string id;
  std::uint64_t legs = 0;
  bool is_reviewed = false;
};
struct Answer {
  static constexpr std::string_view kSchema = "golden/Answer@1";
  std::string id;
  bool yes = false;
  std::string by;
};
struct Ask {
  static constexpr std::string_view kSchema = "golden/Ask@1";
  std::string id;
};
struct Question {
  static constexpr std::string_view kSchema = "golden/Question@1";
  std::string text;
};
struct Verdict {
  static constexpr std::string_view kSchema = "golden/Verdict@1";
  bool yes = false;
};
struct Leg {
  static constexpr std::string_view kSchema = "golden/Leg@1";
  std::uint64_t number = 0;
};
struct Priced {
  static constexpr std::string_view kSchema = "golden/Priced@1";
  std::uint64_t cents = 0;
};
struct Total {
  static constexpr std::string_view kSchema = "golden/Total@1";
  std::uint64_t cents = 0;
};
struct Seat {
  static constexpr std::string_view kSchema = "golden/Seat@1";
  std::string place;
};
struct Packed {
  static constexpr std::string_view kSchema = "golden/Packed@1";
  std::string id;
  std::uint64_t cents = 0;
  bool is_reviewed = false;
};
struct Stamp {
  static constexpr std::string_view kSchema = "golden/Stamp@1";
  std::uint64_t number = 0;
};
struct Stamped {
  static constexpr std::string_view kSchema = "golden/Stamped@1";
  std::uint64_t sum = 0;
};
struct Checked {
  static constexpr std::string_view kSchema = "golden/Checked@1";
  bool yes = false;
};
struct Note {
  static constexpr std::string_view kSchema = "golden/Note@1";
  std::string text;
};
struct Outcome {
  static constexpr std::string_view kSchema = "golden/Outcome@1";
  std::uint64_t cents = 0;
  std::string note;
};

// Asks a person, who must be the right one.
struct Review : StepWorkflow {
  static constexpr std::string_view kWorkflow = "golden/Review@1";
  using Events = holdfast::Events<On<Ask, &Ask::id>, On<Answer, &Answer::id>>;
  using Stop = Verdict;
  using Asks = holdfast::Asks<Question>;

  Verdict decide(const Ask& ask, StepContext& context) {
    const auto answer =
        context.ask<Answer>(Question{"may " + ask.id + " go?"},
                            WaitOptions{.timeout = 24h}.where("by", std::string("chief")));
    return {answer.yes};
  }
  static auto steps() { return StepsOf<Review>().step("decide", &Review::decide).timeout(72h); }
};

// A list, retries, a handler of errors, a join; two ways that meet again; what is sent, collected,
// stored and put; waits that are answered, that time out, and for a child.
struct Trip : StepWorkflow {
  static constexpr std::string_view kWorkflow = "golden/Trip@1";
  using Events = holdfast::Events<On<Plan, &Plan::id>, On<Answer, &Answer::id>>;
  using Stop = Outcome;
  using Sends = holdfast::Sends<Stamp>;
  using Asks = holdfast::Asks<Note>;
  using Children = holdfast::Children<Review>;

  std::vector<Leg> split(const Plan& plan, StepContext& context) {
    context.set("id", plan.id);
    context.set("is_reviewed", plan.is_reviewed);
    std::vector<Leg> legs;
    for (std::uint64_t number = 1; number <= plan.legs; ++number) legs.push_back({number});
    return legs;
  }
  // The second leg needs a second attempt, and the third never has a price.
  Priced price(const Leg& leg, StepContext& context) {
    if (leg.number == 2 && context.attempt() == 1) throw StepError("golden.busy", "later");
    if (leg.number == 3) throw StepError("golden.never", "there is no price");
    context.update<std::uint64_t>("priced", [](std::uint64_t& count) { ++count; });
    return {leg.number * 100};
  }
  Priced guess(const StepFailed& failed, StepContext& context) {
    context.put(Note{failed.step + " failed: " + failed.code});
    return {1};
  }
  Total add(const std::vector<Priced>& all, StepContext&) {
    Total total;
    for (const Priced& one : all) total.cents += one.cents;
    return total;
  }
  // Thirteen legs are too many for it, and nobody handles that.
  Seat seat(const Plan& plan, StepContext&) {
    if (plan.legs == 13) throw StepError("golden.full", "no seat is left");
    return {"window"};
  }
  Packed pack(const Total& total, const Seat&, StepContext& context) {
    context.send(Stamp{3});
    context.send(Stamp{4}, "stamp");
    return {context.get<std::string>("id").value_or(""), total.cents,
            context.get<bool>("is_reviewed").value_or(false)};
  }
  std::optional<Stamped> stamp(const Stamp& stamp, StepContext& context) {
    const auto both = context.collect(stamp, 2, "stamps");
    if (!both) return std::nullopt;
    return Stamped{both->at(0).number * 10 + both->at(1).number};
  }
  void remind(const Packed&, StepContext& context) {
    context.put(Note{"somebody may ask"});
    try {
      context.wait_for<Answer>({.timeout = 1h});
    } catch (const WaitTimedOut&) {
      context.put(Note{"nobody has asked"});
    }
  }
  StepTask<Checked> check(const Packed& packed, TaskContext& context) {
    if (!packed.is_reviewed) co_return Checked{true};
    const Ask ask{packed.id + "/review"};
    auto end = context.run<Review>(ask);
    const Verdict verdict = co_await end;
    co_return Checked{verdict.yes};
  }
  Outcome finish(const Stamped& stamped, const Checked& checked, StepContext& context) {
    context.cancel_step("remind");
    context.erase("id");
    return {stamped.sum, checked.yes ? "go" : "stay"};
  }

  static auto steps() {
    return StepsOf<Trip>()
        .step("split", &Trip::split)
        .step("price", &Trip::price, {.workers = 2, .retry = Retry(fixed(2s), after_attempts(2))})
        .on_error("guess", &Trip::guess, {.handles = {"price"}})
        .step("add", &Trip::add)
        .step("seat", &Trip::seat, {.timeout = 1min})
        .step("pack", &Trip::pack)
        .step("stamp", &Trip::stamp, {.workers = 1})
        .step("remind", &Trip::remind)
        .step("check", &Trip::check)
        .step("finish", &Trip::finish);
  }
};

inline std::vector<Module> modules() { return {Module::of<Trip, Review>("golden/code@1")}; }

}  // namespace holdfast::golden
