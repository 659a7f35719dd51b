// SPDX-License-Identifier: Apache-2.0
// For tests: a world without a manifest that runs graphs, with the journal kept. Workers are the
// test itself: it sees which tasks are ready and says what came of them. Conditions are looked at
// as the engine does it.
#pragma once

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codec/cbor_writer.h"
#include "defs/system_names.h"
#include "kernel/effect_error.h"
#include "kernel/testing_blobs.h"
#include "kernel/world.h"
#include "tasks/graph_cell.h"
#include "tasks/graph_machine.h"
#include "tasks/messages.h"
#include "tasks/render.h"
#include "tasks/task_cell.h"
#include "tasks/task_codec.h"
#include "tasks/task_machine.h"
#include "tasks/testing.h"

namespace holdfast::tasks::testing {

class SystemMachines : public kernel::MachineSource {
 public:
  const kernel::Machine* find(const defs::ModuleDef&, std::string_view) const override {
    return nullptr;
  }
  const kernel::Machine* find_system(std::string_view workflow) const override {
    if (workflow == defs::kGraphWorkflow) return &graph_;
    return workflow == defs::kTaskWorkflow ? &task_ : nullptr;
  }

 private:
  GraphMachine graph_;
  TaskMachine task_;
};

class GraphRun {
 public:
  GraphRun() : world_(machines_, blobs_) {}

  kernel::Outcome tick(decltype(kernel::Tick::input) input) {
    kernel::Tick tick;
    now_ns_ += step_ns;
    tick.time_ns = now_ns_;
    tick.entropy.fill(static_cast<std::uint8_t>(now_ns_ / 1000));
    tick.input = input;
    kernel::Outcome outcome = world_.reduce(tick);
    EXPECT_FALSE(outcome.failure) << outcome.failure->to_string();
    if (!outcome.record.empty() && keeps_journal) journal_.push_back(outcome.record);
    take(outcome);
    return outcome;
  }

  // Everything that follows by itself.
  void settle_down() {
    while (world_.has_ready()) tick(kernel::Continue{});
  }

  bool send(std::string_view workflow, std::string_view schema, std::string_view key,
            const codec::Buffer& value, bool starts = false) {
    const base::Bytes bytes = key_bytes(key);
    kernel::EventArrived event{schema, value.view(), {}};
    event.workflow = workflow;
    event.key = bytes;
    event.starts = starts;
    const kernel::Outcome outcome = tick(event);
    settle_down();
    const auto* refused = std::get_if<kernel::Refused>(&outcome.answer);
    if (refused != nullptr) last_refusal = refused->message;
    return refused == nullptr;
  }

  // As a server enters it.
  void submit(const Plan& plan, std::string_view id = "g") {
    codec::Buffer header;
    write_header(header, header_of(plan));
    TaskIndex next = 0;
    const base::Bytes first = part_from(plan, next);
    codec::Buffer opened;
    write_opened(opened, id, header.view(), first, next == plan.total_count);
    ASSERT_TRUE(send(defs::kGraphWorkflow, kGraphOpened, id, opened, true)) << last_refusal;
    if (next == plan.total_count) return;
    while (next < plan.total_count) send_part(part_from(plan, next), id);
    seal(id);
  }
  void send_part(const base::Bytes& part, std::string_view id = "g") {
    codec::Buffer event;
    write_part(event, id, part);
    ASSERT_TRUE(send(defs::kGraphWorkflow, kGraphPart, id, event)) << last_refusal;
  }
  void seal(std::string_view id = "g") {
    codec::Buffer event;
    write_sealed(event, id);
    ASSERT_TRUE(send(defs::kGraphWorkflow, kGraphSealed, id, event)) << last_refusal;
  }

  void cancel(std::string_view id = "g") {
    codec::Buffer event;
    write_cancel_asked(event, id, "no longer needed", "ops");
    ASSERT_TRUE(send(defs::kGraphWorkflow, kGraphCancelAsked, id, event)) << last_refusal;
  }
  void cancel_task(TaskIndex task, std::string_view id = "g") {
    codec::Buffer event;
    write_task_cancel(event, task_key(id, task), "no longer needed", "ops", false);
    ASSERT_TRUE(send(defs::kTaskWorkflow, kTaskCancelAsked, task_key(id, task), event))
        << last_refusal;
  }

  // The tasks that wait for a worker, by key.
  std::set<std::string> ready() const {
    std::set<std::string> keys;
    for (const auto& [key, intent] : runs_) keys.insert(key);
    return keys;
  }

  void receipt(const base::Hash& intent, const codec::Buffer& payload,
               kernel::ReceiptStatus status = kernel::ReceiptStatus::kOk) {
    tick(kernel::ReceiptArrived{intent, status, payload.view(), {}, {}});
    settle_down();
  }
  base::Hash take_run(const std::string& key) {
    const auto found = runs_.find(key);
    EXPECT_TRUE(found != runs_.end()) << key << " is not ready";
    if (found == runs_.end()) return {};
    const base::Hash intent = found->second;
    runs_.erase(found);
    return intent;
  }
  void done(const std::string& key, std::string_view result = R"({"ok":true})") {
    codec::Buffer payload;
    codec::write_map_head(payload, 1);
    codec::write_text(payload, "result");
    payload.append(part_of_value(result));
    receipt(take_run(key), payload);
  }
  void failed(const std::string& key, bool is_retryable = false,
              std::string_view message = "it broke") {
    codec::Buffer payload;
    codec::write_map_head(payload, 4);
    codec::write_text(payload, "code");
    codec::write_text(payload, "executor.failed");
    codec::write_text(payload, "details");
    codec::write_null(payload);
    codec::write_text(payload, "message");
    codec::write_text(payload, message);
    codec::write_text(payload, "retryable");
    codec::write_bool(payload, is_retryable);
    receipt(take_run(key), payload, kernel::ReceiptStatus::kError);
  }

  std::optional<kernel::InstanceValues> read(std::string_view workflow, std::string_view key) {
    auto values = world_.read(workflow, key_bytes(key));
    EXPECT_TRUE(values) << values.error().to_string();
    return values ? std::move(*values) : std::nullopt;
  }
  // The state of a task as a word: PENDING also while it runs.
  std::string state(TaskIndex task, std::string_view id = "g") {
    const auto values = read(defs::kTaskWorkflow, task_key(id, task));
    if (!values) return "gone";
    const auto cell = read_task_cell(codec::View::of(values->state));
    EXPECT_TRUE(cell);
    const bool has_end = has_ended(cell->phase);
    EXPECT_EQ(has_end, values->status >= kernel::Status::kCompleted) << task;
    switch (cell->phase) {
      case TaskPhase::kDone: return cell->is_skipped ? "SKIPPED" : "DONE";
      case TaskPhase::kFailed: return "FAILED";
      case TaskPhase::kCancelled: return "CANCELLED";
      case TaskPhase::kStopping: return "CANCELLING";
      default: return "PENDING";
    }
  }
  Lines states(const Plan& plan, std::string_view id = "g") {
    Lines lines;
    for (TaskIndex i = 0; i < plan.total_count; ++i)
      lines.push_back(plan.task(i).name + " " + state(i, id));
    return lines;
  }
  TaskCell task(TaskIndex index, std::string_view id = "g") {
    kept_ = *read(defs::kTaskWorkflow, task_key(id, index));
    return *read_task_cell(codec::View::of(kept_.state));
  }
  std::string result(TaskIndex index, std::string_view id = "g") {
    const auto values = read(defs::kTaskWorkflow, task_key(id, index));
    return values ? json_of(values->outcome) : "gone";
  }
  GraphCell graph(std::string_view id = "g") {
    const auto values = read(defs::kGraphWorkflow, id);
    EXPECT_TRUE(values);
    return *read_graph_cell(codec::View::of(values->state));
  }
  bool has_graph(std::string_view id = "g") { return read(defs::kGraphWorkflow, id).has_value(); }

  // The same world, opened from its snapshot.
  void reopen() {
    auto snapshot = world_.snapshot();
    ASSERT_TRUE(snapshot) << snapshot.error().to_string();
    auto restored = kernel::World::restore(machines_, blobs_, *snapshot);
    ASSERT_TRUE(restored) << restored.error().to_string();
    world_ = std::move(*restored);
  }

  // Replaying the journal gives the same world, byte for byte.
  void expect_replays() {
    kernel::World world(machines_, blobs_);
    for (const base::Bytes& record : journal_) {
      const auto outcome = world.replay(record);
      ASSERT_TRUE(outcome) << outcome.error().to_string();
    }
    EXPECT_EQ(json_of(*world.snapshot()), json_of(*world_.snapshot()));
  }

  kernel::World& world() { return world_; }
  const std::vector<base::Bytes>& journal() const { return journal_; }
  std::map<std::string, base::Hash>& runs() { return runs_; }
  std::map<std::string, base::Hash>& timers() { return timers_; }
  const std::string& params(const std::string& key) { return params_[key]; }

  bool keeps_journal = true;
  bool keeps_params = true;
  std::uint64_t step_ns = 1000;
  std::string last_refusal;

 private:
  void take(const kernel::Outcome& outcome) {
    for (const kernel::Command& command : outcome.commands) {
      if (const auto* open = std::get_if<kernel::OpenIntent>(&command)) start(*open);
      if (const auto* stop = std::get_if<kernel::StopIntent>(&command)) {
        std::erase_if(runs_, [&](const auto& run) { return run.second == stop->intent; });
        std::erase_if(timers_, [&](const auto& timer) { return timer.second == stop->intent; });
      }
    }
    // Not while commands are looked at: each may lead to a tick.
    for (auto checks = std::exchange(checks_, {}); const auto& [intent, params] : checks)
      check(intent, params);
  }

  void start(const kernel::OpenIntent& open) {
    const std::string key(codec::View::of(open.key).text().value_or(""));
    if (open.effect->name == defs::kTaskRun) {
      EXPECT_TRUE(runs_.emplace(key, open.intent).second) << key << " is ready twice";
      if (keeps_params) params_[key] = json_of(open.params);
    } else if (open.effect->name == defs::kTaskCheck) {
      checks_.emplace_back(open.intent, base::Bytes(open.params.begin(), open.params.end()));
    } else {
      timers_[key] = open.intent;
    }
  }

  class WorldOutcomes : public Outcomes {
   public:
    WorldOutcomes(GraphRun& run, std::string graph) : run_(run), graph_(std::move(graph)) {}
    std::optional<Outcome> find(TaskIndex task) const override {
      const auto values = run_.read(defs::kTaskWorkflow, task_key(graph_, task));
      if (!values || values->status != kernel::Status::kCompleted) return std::nullopt;
      held_.push_back(values->outcome);
      ids_.push_back(task_key(graph_, task));
      return Outcome{codec::View::of(held_.back()), ids_.back()};
    }

   private:
    GraphRun& run_;
    std::string graph_;
    mutable std::list<base::Bytes> held_;
    mutable std::list<std::string> ids_;
  };

  void check(const base::Hash& intent, const base::Bytes& params) {
    const codec::View view = codec::View::of(params);
    const auto task = read_task(*view.find("task"));
    ASSERT_TRUE(task);
    const auto holds =
        condition_holds(*task, WorldOutcomes(*this, std::string(*view.find("graph")->text())));
    ASSERT_TRUE(holds) << holds.error().to_string();
    codec::Buffer payload;
    codec::write_map_head(payload, 1);
    codec::write_text(payload, "holds");
    codec::write_bool(payload, *holds);
    receipt(intent, payload);
  }

  SystemMachines machines_;
  kernel::testing::MemoryBlobs blobs_;
  kernel::World world_;
  std::vector<base::Bytes> journal_;
  std::uint64_t now_ns_ = 1'000'000'000;
  std::map<std::string, base::Hash> runs_;
  std::map<std::string, base::Hash> timers_;
  std::map<std::string, std::string> params_;
  std::vector<std::pair<base::Hash, base::Bytes>> checks_;
  kernel::InstanceValues kept_;
};

}  // namespace holdfast::tasks::testing
