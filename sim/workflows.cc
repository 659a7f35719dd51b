// SPDX-License-Identifier: Apache-2.0
#include "sim/workflows.h"

#include <new>

#include "base/check.h"
#include "codec/normaliser.h"
#include "sim/survey.h"

namespace holdfast::sim {
namespace {

constexpr std::uint64_t kRelays = 5;

void use_memory() {
  if (runs_out_of_memory && runs_out_of_memory()) throw std::bad_alloc();
}

}  // namespace

std::function<bool()> runs_out_of_memory;

void Alarm::step(State& alarm, const AlarmSet& set, Context& context) {
  if (!context.is_new()) return;
  alarm.wanted = set.count;
  for (std::uint64_t i = 0; i < set.count; ++i) {
    const auto at = static_cast<std::int64_t>(set.first_ns + i * set.apart_ns);
    context.open<Timer>({static_cast<std::uint64_t>(at), std::to_string(i)});
  }
}

void Alarm::step(State& alarm, const Received<Timer>& rung, Context& context) {
  if (!rung.ok()) return context.fail("not_rung", rung.error.message);
  use_memory();
  context.put(Entry{++alarm.rung});
  if (alarm.rung % 2 == 0) context.put(Entry{100 + alarm.rung});
  if (alarm.rung == alarm.wanted) context.complete(alarm.rung);
}

void Storm::step(State& storm, const StormBegun& begun, Context& context) {
  if (!context.is_new()) return;
  storm = {begun.timers, begun.again};
  for (std::uint64_t i = 0; i < begun.timers; ++i) context.open<Timer>({0, std::to_string(i)});
}

void Storm::step(State& storm, const Received<Timer>& rung, Context& context) {
  if (!rung.ok()) return context.fail("not_rung", rung.error.message);
  if (storm.again != 0) {
    --storm.again;
    return void(context.open<Timer>({0, "again"}));
  }
  if (--storm.open == 0) context.complete(true);
}

void Relay::step(State& relay, const WordPassed& word, Context& context) {
  use_memory();
  ++relay.passed;
  if (word.hops == 0) return;
  context.emit(WordPassed{"r-" + std::to_string(word.hops % kRelays), word.hops - 1});
}

std::vector<Module> modules(Load load) {
  std::vector<Module> all{demo::order_module(), Module::of<Alarm, Relay, Storm>("sim/code@1")};
  if (load == Load::kWithSteps) all.push_back(survey_module());
  return all;
}

base::Bytes definitions(const std::vector<Module>& modules) {
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_json(codec::Schema::any(), definitions_of(modules));
  CHECK(made.has_value());
  return {made->begin(), made->end()};
}

}  // namespace holdfast::sim
