// SPDX-License-Identifier: Apache-2.0
// For tests: a world with one workflow, job/Job@1, whose instances run until job/Finish@1 is sent
// to them, and an outside without memory: it performs what the world has open, due times at once
// and timers in the order of their times. So the world may be killed between any two ticks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "defs/system_names.h"
#include "kernel/testing.h"
#include "schedules/cell.h"
#include "schedules/machine.h"
#include "schedules/testing_zones.h"

namespace holdfast::schedules::testing {

inline constexpr char kJobDefinitions[] = R"json([
{"$kind":"defschema","name":"job/Go@1","type":{"record":{"id":{"text":{}},"due":{"text":{}}}}},
{"$kind":"defschema","name":"job/Finish@1","type":{"record":{"id":{"text":{}},"fails":{"bool":{}}}}},
{"$kind":"defschema","name":"job/Key@1","type":{"text":{}}},
{"$kind":"defschema","name":"job/State@1","type":{"record":{"due":{"text":{}}}}},
{"$kind":"defschema","name":"job/Event@1","type":{"variant":{"Go":{"ref":"job/Go@1"},
  "Finish":{"ref":"job/Finish@1"}}}},
{"$kind":"defmodule","name":"job/code@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"job/Job@1","state":"job/State@1","event":"job/Event@1","key_schema":"job/Key@1",
 "effects_emitted":[],"impl":{"module":"job/code@1","entrypoint":"job"}},
{"$kind":"manifest","air_version":"2","schemas":[{"name":"job/Go@1"},{"name":"job/Finish@1"},{"name":"job/Key@1"},
  {"name":"job/State@1"},{"name":"job/Event@1"}],"modules":[{"name":"job/code@1"}],"effects":[],
 "workflows":[{"name":"job/Job@1"}],"routing":{"subscriptions":[
   {"event":"job/Go@1","workflow":"job/Job@1","key_field":"id"},
   {"event":"job/Finish@1","workflow":"job/Job@1","key_field":"id"}]}}])json";

class ScheduleMachines : public kernel::testing::Machines {
 public:
  ScheduleMachines() : Machines({{"job", step_job}}) {}
  const kernel::Machine* find_system(std::string_view workflow) const override {
    return workflow == defs::kScheduleWorkflow ? &schedule_ : nullptr;
  }

 private:
  static void step_job(const kernel::StepInput& input, kernel::StepOutput& output) {
    const codec::View event = codec::View::of(input.mail.value);
    output.begin_state();
    codec::write_map_head(output.bytes(), 1);
    codec::write_text(output.bytes(), "due");
    const auto due = event.find("due");
    codec::write_text(output.bytes(), due ? due->text().value_or("") : "");
    if (input.mail.schema != "job/Finish@1") return;
    if (event.find("fails")->boolean().value_or(false)) return output.fail("job.broke", "it broke");
    output.begin_result();
    codec::write_null(output.bytes());
  }
  ScheduleMachine schedule_;
};

inline Spec spec_of(std::string cron, Overlap overlap = Overlap::kAllow) {
  Spec spec;
  spec.rule.cron = std::move(cron);
  spec.workflow = "job/Job@1";
  spec.event = "job/Go@1";
  spec.value = kernel::testing::value(R"({"id":"{key}","due":"{due}"})");
  spec.key = "{due}";
  spec.overlap = overlap;
  return spec;
}

class ScheduleWorld {
 public:
  explicit ScheduleWorld(std::string_view now = "2026-01-01T00:00:00Z", std::string zone = "UTC")
      : now_ns_(ns_at(now)), zone_(zone_named(zone)), world_(machines_, blobs_) {
    const base::Bytes definitions = kernel::testing::document(kJobDefinitions);
    tick(kernel::ApplyManifest{definitions});
  }

  kernel::Outcome tick(decltype(kernel::Tick::input) input) {
    if (before_tick) before_tick();
    kernel::Tick tick;
    now_ns_ += 1000;
    tick.time_ns = now_ns_;
    tick.entropy.fill(static_cast<std::uint8_t>(journal_.size()));
    tick.input = input;
    kernel::Outcome outcome = world_.reduce(tick);
    EXPECT_FALSE(outcome.failure) << outcome.failure->to_string();
    if (!outcome.record.empty()) journal_.push_back(outcome.record);
    return outcome;
  }

  // Whether the world took it.
  bool send(std::string_view workflow, std::string_view schema, std::string_view key,
            base::ByteView value, bool starts) {
    const base::Bytes key_bytes = key_of(key);
    kernel::EventArrived event{schema, value, {}};
    event.workflow = workflow;
    event.key = key_bytes;
    event.starts = starts;
    const kernel::Outcome outcome = tick(event);
    const auto* refused = std::get_if<kernel::Refused>(&outcome.answer);
    if (refused != nullptr) last_refusal = refused->message;
    settle();
    return refused == nullptr;
  }
  void add(const Spec& spec, bool replaces = false, bool is_paused = false) {
    codec::Buffer event;
    write_set(event, "s", spec, replaces, is_paused);
    const bool starts = !has_schedule();
    ASSERT_TRUE(send(defs::kScheduleWorkflow, kScheduleSet, "s", event.view(), starts))
        << last_refusal;
  }
  void control(Action action) {
    codec::Buffer event;
    write_control(event, "s", action);
    ASSERT_TRUE(send(defs::kScheduleWorkflow, kScheduleControl, "s", event.view(), false))
        << last_refusal;
  }
  void finish(const std::string& job, bool fails = false) {
    const base::Bytes value =
        kernel::testing::value(R"({"id":")" + job + R"(","fails":)" + (fails ? "true}" : "false}"));
    ASSERT_TRUE(send("job/Job@1", "job/Finish@1", job, value, false)) << last_refusal;
  }

  // All that follows at once.
  void settle() {
    for (;;) {
      while (world_.has_ready()) tick(kernel::Continue{});
      const auto next = find_open(defs::kScheduleNext);
      if (next.empty()) return;
      answer(next.front());
    }
  }

  // Lets time pass, with everything that is due on the way.
  void go_until(std::string_view when) {
    const std::uint64_t until = ns_at(when);
    settle();
    while (ring_first(until)) settle();
    now_ns_ = std::max(now_ns_, until);
  }
  // Time passes and nothing runs.
  void be_down_until(std::string_view when) { now_ns_ = std::max(now_ns_, ns_at(when)); }
  void set_clock(std::string_view when) { now_ns_ = ns_at(when); }

  // The keys of all jobs that were ever started, in order.
  std::vector<std::string> jobs() {
    std::vector<std::string> keys;
    EXPECT_TRUE(world_.visit_instances([&](std::string_view workflow, const kernel::Cell& cell) {
      if (workflow == "job/Job@1") keys.emplace_back(codec::View::of(cell.key).text().value_or(""));
      return true;
    }));
    std::sort(keys.begin(), keys.end());
    return keys;
  }
  std::string status_of_job(std::string_view key) {
    const auto found = world_.find("job/Job@1", key_of(key));
    return found && *found ? std::string(kernel::name_of((*found)->status())) : "gone";
  }
  bool has_schedule() {
    const auto values = world_.read(defs::kScheduleWorkflow, key_of("s"));
    return values && values->has_value();
  }
  Cell schedule() {
    const auto values = world_.read(defs::kScheduleWorkflow, key_of("s"));
    EXPECT_TRUE(values && *values);
    auto cell = read_cell(codec::View::of((*values)->state));
    EXPECT_TRUE(cell);
    return cell ? std::move(*cell) : Cell();
  }
  // "2026-01-01T00:01:00Z skipped", oldest first.
  std::vector<std::string> recent() {
    std::vector<std::string> lines;
    for (const Due& due : schedule().recent)
      lines.push_back(due_text(due.due_ns) + " " + std::string(name_of(due.outcome)));
    return lines;
  }

  // The same world after a crash: from its journal, or from a snapshot.
  void crash() {
    kernel::World world(machines_, blobs_);
    for (const base::Bytes& record : journal_) {
      const auto outcome = world.replay(record);
      ASSERT_TRUE(outcome) << outcome.error().to_string();
    }
    world_ = std::move(world);
  }
  void put_away() {
    auto snapshot = world_.snapshot();
    ASSERT_TRUE(snapshot) << snapshot.error().to_string();
    auto restored = kernel::World::restore(machines_, blobs_, *snapshot);
    ASSERT_TRUE(restored) << restored.error().to_string();
    world_ = std::move(*restored);
  }

  kernel::World& world() { return world_; }
  std::size_t records() const { return journal_.size(); }

  std::function<void()> before_tick;
  bool has_zones = true;  // false: due times cannot be found
  std::string last_refusal;

 private:
  struct Open {
    base::Hash intent;
    base::Bytes params;
  };

  std::vector<Open> find_open(std::string_view effect) {
    std::vector<Open> found;
    EXPECT_TRUE(world_.visit_intents([&](const base::Hash& hash, const kernel::Intent& intent) {
      const kernel::OpenIntent open = world_.command_of(hash, intent);
      if (open.effect->name == effect)
        found.push_back({hash, {open.params.begin(), open.params.end()}});
      return true;
    }));
    return found;
  }

  void answer(const Open& open) {
    codec::Buffer payload;
    if (!has_zones) {
      const base::Bytes error = kernel::testing::value(
          R"({"code":"schedule.zone","message":"gone","retryable":true,"details":null})");
      tick(kernel::ReceiptArrived{open.intent, kernel::ReceiptStatus::kError, error, {}, {}});
      return;
    }
    const auto asked = read_query(codec::View::of(open.params));
    ASSERT_TRUE(asked);
    write_due_times(payload, due_times(asked->rule, zone_, asked->query));
    tick(kernel::ReceiptArrived{open.intent, kernel::ReceiptStatus::kOk, payload.view(), {}, {}});
  }

  bool ring_first(std::uint64_t until) {
    std::optional<Open> first;
    std::uint64_t first_ns = 0;
    for (Open& open : find_open(defs::kTimerSet)) {
      const std::uint64_t at = *codec::View::of(open.params).find("deliver_at_ns")->nat();
      if (at > until || (first && at >= first_ns)) continue;
      first = std::move(open);
      first_ns = at;
    }
    if (!first) return false;
    now_ns_ = std::max(now_ns_, first_ns);
    codec::Buffer payload;
    codec::write_map_head(payload, 2);
    codec::write_text(payload, "key");
    codec::write_null(payload);
    codec::write_text(payload, "delivered_at_ns");
    codec::write_nat(payload, now_ns_);
    tick(kernel::ReceiptArrived{first->intent, kernel::ReceiptStatus::kOk, payload.view(), {}, {}});
    return true;
  }

  ScheduleMachines machines_;
  kernel::testing::MemoryBlobs blobs_;
  std::uint64_t now_ns_;
  Zone zone_;
  kernel::World world_;
  std::vector<base::Bytes> journal_;
};

}  // namespace holdfast::schedules::testing
