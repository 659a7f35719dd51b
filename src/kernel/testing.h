// SPDX-License-Identifier: Apache-2.0
// For the kernel's tests: worlds out of JSON definitions, machines out of lambdas, ticks out of
// JSON.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "defs/builtin.h"
#include "defs/load.h"
#include "kernel/record.h"
#include "kernel/testing_blobs.h"
#include "kernel/world.h"

namespace holdfast::kernel::testing {

using Step = std::function<void(const StepInput&, StepOutput&)>;

class LambdaMachine : public Machine {
 public:
  explicit LambdaMachine(Step step) : step_(std::move(step)) {}
  void step(const StepInput& input, StepOutput& output) const override { step_(input, output); }

 private:
  Step step_;
};

// Machines by entrypoint.
class Machines : public MachineSource {
 public:
  Machines(std::initializer_list<std::pair<const char*, Step>> steps) {
    for (const auto& [entrypoint, step] : steps) {
      machines_[entrypoint] = std::make_unique<LambdaMachine>(step);
    }
  }
  const Machine* find(const defs::ModuleDef&, std::string_view entrypoint) const override {
    const auto found = machines_.find(entrypoint);
    return found == machines_.end() ? nullptr : found->second.get();
  }

 private:
  std::map<std::string, std::unique_ptr<LambdaMachine>, std::less<>> machines_;
};

// The canonical bytes of a JSON value, without the self-describe tag.
inline base::Bytes value(std::string_view json) {
  codec::Normaliser normaliser;
  const auto made = normaliser.from_json(codec::Schema::any(), json);
  EXPECT_TRUE(made) << made.error().to_string();
  return {made->begin() + 3, made->end()};
}

inline void write(codec::Buffer& out, std::string_view json) { out.append(value(json)); }

inline std::string json_of(base::ByteView value) {
  return value.empty() ? "" : codec::to_json(codec::View::of(value));
}

inline std::shared_ptr<const Program> program_of(std::string definitions,
                                                 const Machines& machines) {
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = defs::load({{"test", std::move(definitions)}}, &builtin);
  for (const base::Error& error : bundle.errors) ADD_FAILURE() << error.to_string();
  codec::Errors errors;
  auto program = Program::build(bundle, machines, errors);
  for (const base::Error& error : errors) ADD_FAILURE() << error.to_string();
  return program;
}

// A world that keeps its journal, and a clock that moves by one second with every tick.
class Bench {
 public:
  explicit Bench(std::shared_ptr<const Program> program)
      : program_(program), world_(std::move(program), blobs_) {}

  World& world() { return world_; }
  const std::vector<base::Bytes>& journal() const { return journal_; }

  Outcome tick(decltype(Tick::input) input) {
    Tick tick;
    tick.time_ns = ++now_s_ * 1'000'000'000;
    tick.entropy.fill(static_cast<std::uint8_t>(now_s_));
    tick.input = input;
    Outcome outcome = world_.reduce(tick);
    if (!outcome.record.empty()) journal_.push_back(outcome.record);
    return outcome;
  }

  Outcome event(std::string_view schema, std::string_view json, std::string_view id = {}) {
    const base::Bytes bytes = value(json);
    return tick(EventArrived{schema, bytes, id});
  }

  Outcome receipt(const base::Hash& intent, std::string_view json,
                  ReceiptStatus status = ReceiptStatus::kOk) {
    const base::Bytes bytes = value(json);
    return tick(ReceiptArrived{intent, status, bytes});
  }

  // The same world, put away and taken out again.
  void put_away() {
    auto snapshot = world_.snapshot();
    ASSERT_TRUE(snapshot) << snapshot.error().to_string();
    auto restored = World::restore(program_, blobs_, *snapshot);
    ASSERT_TRUE(restored) << restored.error().to_string();
    world_ = std::move(*restored);
  }

  // Replays the journal into a new world; every record must come out as it was.
  World replayed() {
    World world(program_, blobs_);
    for (const base::Bytes& record : journal_) {
      const auto tick = tick_of(record);
      EXPECT_TRUE(tick) << tick.error().to_string();
      if (!tick) break;
      EXPECT_EQ(json_of(world.reduce(*tick).record), json_of(record));
    }
    return world;
  }

 private:
  std::shared_ptr<const Program> program_;
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
