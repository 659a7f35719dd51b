// SPDX-License-Identifier: Apache-2.0
// For the kernel's tests: worlds out of JSON definitions, machines out of lambdas, ticks out of
// JSON.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "kernel/record_view.h"
#include "kernel/testing_blobs.h"
#include "kernel/world.h"

namespace holdfast::kernel::testing {

using Step = std::function<void(const StepInput&, StepOutput&)>;

class LambdaMachine : public Machine {
 public:
  explicit LambdaMachine(Step step) : step_(std::move(step)) {}
  void step(const StepInput& input, StepOutput& output) const override { step_(input, output); }
  bool migrate(const EarlierState& earlier, codec::Buffer& out, std::string& why) const override {
    return migrate_ ? migrate_(earlier, out, why) : Machine::migrate(earlier, out, why);
  }

  using Migrate = std::function<bool(const EarlierState&, codec::Buffer&, std::string&)>;
  void set_migrate(Migrate migrate) { migrate_ = std::move(migrate); }

 private:
  Step step_;
  Migrate migrate_;
};

// Machines by entrypoint. Those in `unfit` object to their definitions.
class Machines : public MachineSource {
 public:
  std::set<std::string, std::less<>> unfit;
  std::set<std::string, std::less<>> defined;  // these are in their definitions

  Machines(std::initializer_list<std::pair<const char*, Step>> steps) {
    for (const auto& [entrypoint, step] : steps) {
      machines_[entrypoint] = std::make_unique<LambdaMachine>(step);
    }
  }
  void set_migrate(std::string_view entrypoint, LambdaMachine::Migrate migrate) {
    machines_.find(entrypoint)->second->set_migrate(std::move(migrate));
  }
  const Machine* find(const defs::ModuleDef&, std::string_view entrypoint) const override {
    const auto found = machines_.find(entrypoint);
    return found == machines_.end() ? nullptr : found->second.get();
  }
  std::shared_ptr<const Machine> make(const defs::ModuleDef&, const defs::WorkflowDef& workflow,
                                      const defs::Catalogue&) const override {
    if (!defined.contains(workflow.impl.entrypoint)) return nullptr;
    return std::make_shared<LambdaMachine>(*machines_.at(workflow.impl.entrypoint));
  }
  std::optional<std::string> objection(const defs::WorkflowDef& workflow,
                                       const defs::Catalogue&) const override {
    if (!unfit.contains(workflow.impl.entrypoint)) return std::nullopt;
    return "'" + workflow.state + "' is another one in the code";
  }

 private:
  std::map<std::string, std::unique_ptr<LambdaMachine>, std::less<>> machines_;
};

// The canonical bytes of a JSON value, without the self-describe tag.
inline base::Bytes value(std::string_view json) {
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_json(codec::Schema::any(), json);
  EXPECT_TRUE(made) << made.error().to_string();
  return {made->begin(), made->end()};
}

inline void write(codec::Buffer& out, std::string_view json) { out.append(value(json)); }

inline std::string json_of(base::ByteView value) {
  return value.empty() ? "" : codec::to_json(codec::View::of(value));
}

// Definitions as they stand in a tick: JSON text as a canonical value.
inline base::Bytes document(std::string_view json) { return value(json); }

// A world on definitions, that keeps its journal, and a clock that moves by one second with every
// tick. Its first record applies the definitions.
class Bench {
 public:
  Bench(std::string_view definitions, const MachineSource& machines, WorldOptions options = {})
      : machines_(machines), options_(options), world_(machines, blobs_, options) {
    const Outcome applied = apply(definitions);
    if (const auto* refusal = std::get_if<Refused>(&applied.answer)) {
      ADD_FAILURE() << refusal->message << ::testing::PrintToString(refusal->details);
    }
  }

  World& world() { return world_; }
  MemoryBlobs& blobs() { return blobs_; }
  const std::vector<base::Bytes>& journal() const { return journal_; }
  std::uint64_t now_ns() const { return now_s_ * 1'000'000'000; }

  Outcome tick(decltype(Tick::input) input) {
    Tick tick;
    ++now_s_;
    tick.time_ns = now_ns();
    tick.entropy.fill(static_cast<std::uint8_t>(now_s_));
    tick.input = input;
    Outcome outcome = world_.reduce(tick);
    if (!outcome.record.empty()) journal_.push_back(outcome.record);
    return outcome;
  }

  Outcome apply(std::string_view definitions) {
    const base::Bytes bytes = document(definitions);
    return tick(ApplyManifest{bytes});
  }

  Outcome event(std::string_view schema, std::string_view json, std::string_view id = {}) {
    const base::Bytes bytes = value(json);
    return tick(EventArrived{schema, bytes, id});
  }

  Outcome receipt(const base::Hash& intent, std::string_view json,
                  ReceiptStatus status = ReceiptStatus::kOk) {
    const base::Bytes bytes = value(json);
    return tick(ReceiptArrived{intent, status, bytes, {}, {}});
  }

  Outcome progress(const base::Hash& intent, std::uint64_t sequence, std::string_view json) {
    const base::Bytes bytes = value(json);
    return tick(ProgressArrived{intent, sequence, "log", bytes});
  }

  Outcome control(Control control, std::string_view workflow, std::string_view key_json) {
    const base::Bytes key = key_json.empty() ? base::Bytes() : value(key_json);
    return tick(ControlRequested{control, workflow, key, "because"});
  }

  const Cell* find(std::string_view workflow, std::string_view key_json) {
    const auto found = world_.find(workflow, key_json.empty() ? base::Bytes() : value(key_json));
    EXPECT_TRUE(found) << found.error().to_string();
    return found ? *found : nullptr;
  }

  // The same world, put away and taken out again.
  void put_away() {
    auto snapshot = world_.snapshot();
    ASSERT_TRUE(snapshot) << snapshot.error().to_string();
    auto restored = World::restore(machines_, blobs_, *snapshot, options_);
    ASSERT_TRUE(restored) << restored.error().to_string();
    world_ = std::move(*restored);
  }

  // Replays the journal into a new world; every record must come out as it was.
  World replayed() {
    World world(machines_, blobs_, options_);
    for (const base::Bytes& record : journal_) {
      const auto outcome = world.replay(record);
      EXPECT_TRUE(outcome) << outcome.error().to_string();
      if (!outcome) break;
    }
    return world;
  }

  // Replaying the journal comes to the same world, byte for byte.
  void expect_replays() { EXPECT_EQ(json_of(*replayed().snapshot()), json_of(*world_.snapshot())); }

 private:
  const MachineSource& machines_;
  WorldOptions options_;
  MemoryBlobs blobs_;
  World world_;
  std::vector<base::Bytes> journal_;
  std::uint64_t now_s_ = 0;
};

// The intents that an outcome opens.
inline std::vector<base::Hash> opened(const Outcome& outcome) {
  std::vector<base::Hash> all;
  for (const Command& command : outcome.commands) {
    if (const auto* open = std::get_if<OpenIntent>(&command)) all.push_back(open->intent);
  }
  return all;
}

}  // namespace holdfast::kernel::testing
