// SPDX-License-Identifier: Apache-2.0
#include "sim/survey.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "sim/census.h"

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPatienceWithParts = 20s;
constexpr Duration kBetweenLooks = 4s;
constexpr int kLooks = 5;
constexpr Duration kLongestMeasurement = 15s;

// None: for ever.
std::optional<Duration> patience(const SurveyBegun& plan) {
  if (plan.patience_s == 0) return std::nullopt;
  return std::chrono::seconds(plan.patience_s);
}

std::string run_of(const StepContext& context) { return context.run_key<std::string>(); }

}  // namespace

std::vector<Part> Survey::split(const SurveyBegun& begun, StepContext& context) {
  context.set("plan", begun);
  for (std::uint64_t n = 0; n < begun.samples; ++n) context.send(Sample{n, begun.samples});
  if (begun.samples == 0) context.send(Gathered{});
  if (begun.watched) context.send(Watch{}, kWatch);
  std::vector<Part> parts;
  for (std::uint64_t n = 0; n < begun.parts; ++n)
    parts.push_back({n, (begun.unlucky >> (2 * n)) & 3, ((begun.asking >> n) & 1) != 0});
  return parts;
}

Measured Survey::measure(const Part& part, StepContext& context) {
  if (context.attempt() <= part.fails) throw StepError("measure.unlucky", "it slipped");
  if (part.asks) {
    const std::uint64_t round = kRoundOfPart + part.n;
    try {
      const auto heard = context.ask<Decision>(
          Question{round}, WaitOptions{.timeout = kPatienceWithParts}.where("round", round));
      if (heard.round != round)
        witness.violation("a wait inside a fan-out gets what it did not ask for");
      witness.sometimes("a part of a fan-out hears what it waited for");
    } catch (const WaitTimedOut&) {
      witness.sometimes("a part of a fan-out waits in vain");
    }
  }
  const Measured measured{part.n, witness.measured(run_of(context), part.n)};
  context.put(measured);
  return measured;
}

Measured Survey::mend(const StepFailed& failed, StepContext&) {
  witness.sometimes("an error handler helps");
  return {detail::value_of<Part>(failed.value).n, 0};
}

Summary Survey::total(const std::vector<Measured>& parts, StepContext&) { return {parts}; }

std::optional<Gathered> Survey::gather(const Sample& sample, StepContext& context) {
  context.update<std::uint64_t>("samples", [](std::uint64_t& count) { ++count; });
  const auto all = context.collect(sample, sample.of);
  if (!all) return std::nullopt;
  Gathered gathered;
  for (const Sample& one : *all) gathered.samples.push_back(one.n);
  return gathered;
}

std::optional<Verdict> Survey::ask(const Summary& summary, StepContext& context) {
  const auto plan = context.get<SurveyBegun>("plan");
  if (!plan) witness.violation("what a step stored is not there");
  Verdict verdict{summary.parts, {}};
  for (std::uint64_t round = 1; plan && round <= plan->rounds; ++round) {
    try {
      const auto decision = context.ask<Decision>(
          Question{round}, WaitOptions{.timeout = patience(*plan)}.where("round", round));
      if (decision.round != round) witness.violation("a wait gets what it did not ask for");
      witness.sometimes("a person is heard");
      if (decision.aborts) {
        witness.sometimes("a run cancels itself");
        context.cancel_run("a person said so");
        return std::nullopt;
      }
      verdict.serials.push_back(decision.serial);
    } catch (const WaitTimedOut&) {
      witness.sometimes("a person does not answer in time");
      verdict.serials.push_back(0);
    }
  }
  context.cancel_step(kWatch);
  return verdict;
}

Noted Survey::watch(const Watch& watch, StepContext& context) {
  context.put(watch);  // before it waits: it goes out once, however often the body runs
  for (int looks = 0; looks < kLooks; ++looks) {
    try {
      return {context
                  .wait_for<Decision>(
                      WaitOptions{.timeout = kBetweenLooks}.where("round", kRoundOfWatch))
                  .serial};
    } catch (const WaitTimedOut&) {
      witness.sometimes("a step waits several times");
    }
  }
  return {};
}

std::optional<SurveyDone> Survey::close(const std::variant<Gathered, Verdict>& one,
                                        StepContext& context) {
  const auto both =
      std::visit([&](const auto& event) { return context.collect<Gathered, Verdict>(event); }, one);
  if (!both) return std::nullopt;
  const auto& [gathered, verdict] = *both;
  return SurveyDone{verdict.parts, gathered.samples,
                    context.get<std::uint64_t>("samples").value_or(0), verdict.serials};
}

// None of these asks how much time has passed: that would not be the seed's.
StepsOf<Survey> Survey::steps() {
  const auto stubborn = [] { return Retry(jittered(fixed(2s)), after_attempts(5)); };
  return StepsOf<Survey>()
      .step("split", &Survey::split, {.retry = stubborn()})
      .step("measure", &Survey::measure,
            {.workers = 2,
             .retry = Retry(exponential(1s) + random_wait(0s, 500ms), after_attempts(3)),
             .timeout = kLongestMeasurement})
      .step("total", &Survey::total, {.retry = Retry(fixed(0s), after_attempts(5))})
      .step("gather", &Survey::gather, {.workers = 3, .retry = stubborn()})
      .step("ask", &Survey::ask, {.retry = Retry(incrementing(1s, 1s), after_attempts(5))})
      .step(std::string(kWatch), &Survey::watch, {.retry = stubborn()})
      .step("close", &Survey::close, {.retry = stubborn()})
      .on_error("mend", &Survey::mend, {.handles = {"measure"}});
}

VigilDone Vigil::keep(const VigilBegun& begun, StepContext& context) {
  VigilDone done;
  for (std::uint64_t i = 0; i < begun.nudges; ++i)
    done.serials.push_back(context.wait_for<Nudge>().serial);
  return done;
}

StepsOf<Vigil> Vigil::steps() {
  return StepsOf<Vigil>()
      .step("keep", &Vigil::keep, {.retry = Retry(fixed(1s), after_attempts(5))})
      .timeout(std::chrono::seconds(kTimeoutSeconds));
}

std::vector<Handler> survey_handlers(Witness& witness) {
  std::vector<Handler> handlers = step_handlers(std::make_shared<Survey>(witness));
  const auto add = [&](std::vector<Handler> more) {
    for (Handler& handler : more) handlers.push_back(std::move(handler));
  };
  add(step_handlers(std::make_shared<Vigil>(witness)));
  add(step_handlers(std::make_shared<Census>(witness)));
  add(step_handlers(std::make_shared<Tally>()));
  return handlers;
}

Module survey_module() { return Module::of<Survey, Vigil, Census, Tally>("sim/steps@1"); }

}  // namespace holdfast::sim
