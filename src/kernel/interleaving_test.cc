// SPDX-License-Identifier: Apache-2.0
// Two cells with identical effects: in whatever order their events, receipts and repetitions come,
// and wherever the world is put away in between, a receipt wakes only the cell that opened its
// intent.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kernel/testing_input.h"

namespace holdfast::kernel {
namespace {

using testing::Input;
using testing::MemoryBlobs;
using testing::Prepared;
using testing::ScriptMachines;
using testing::ScriptState;
using testing::text_key;

constexpr int kInterleavings = 10'000;
constexpr int kPerWorld = 100;
constexpr std::size_t kIntentsPerCell = 3;

// One of the two cells, and what should have happened to it.
struct Twin {
  std::string name;
  std::vector<base::Hash> intents;
  std::uint64_t receipts = 0;
};

class Interleaving : public ::testing::Test {
 protected:
  Interleaving() { begin(); }

  // An empty world.
  void begin() {
    world_ = World(machines_, blobs_);
    Input apply;
    apply.kind = Input::Kind::kApply;
    send(apply, {});
  }

  Outcome send(const Input& input, const std::vector<base::Hash>& intents) {
    const Prepared prepared(input, intents, ticks_++);
    return world_.reduce(prepared.tick());
  }

  // The same event to both, but for the key: the same effects with the same params.
  void open_effect(Twin& twin) {
    Input input;
    input.event = {"t/Text@1", twin.name, 0, "a"};
    const Outcome outcome = send(input, {});
    ASSERT_EQ(outcome.commands.size(), 1u);
    const auto& command = std::get<OpenIntent>(outcome.commands[0]);
    ASSERT_EQ(base::as_text(command.key), text_key(twin.name));
    twin.intents.push_back(command.intent);
  }

  void answer(Twin& twin, std::size_t which) {
    Input input;
    input.kind = Input::Kind::kReceipt;
    input.intent = which;
    const Outcome first = send(input, twin.intents);
    ASSERT_EQ(std::get<Accepted>(first.answer).deliveries, 1u);
    ++twin.receipts;
    if (chance_() % 4 != 0) return;
    const Outcome again = send(input, twin.intents);
    ASSERT_TRUE(std::holds_alternative<Repeated>(again.answer) && again.record.empty());
  }

  void put_away() {
    auto restored = World::restore(machines_, blobs_, *world_.snapshot());
    ASSERT_TRUE(restored.has_value()) << restored.error().to_string();
    world_ = std::move(*restored);
  }

  void check(const Twin& twin) {
    const Cell* cell = *world_.find("w/Full@1", base::as_bytes(text_key(twin.name)));
    ASSERT_EQ(cell != nullptr, !twin.intents.empty());
    if (cell == nullptr) return;
    const ScriptState state = ScriptState::read(codec::View::of(cell->state));
    ASSERT_EQ(state.heard[static_cast<std::size_t>(MailKind::kEvent)], twin.intents.size());
    ASSERT_EQ(state.heard[static_cast<std::size_t>(MailKind::kReceipt)], twin.receipts);
    ASSERT_EQ(cell->intents.size(), twin.intents.size() - twin.receipts);
  }

  std::mt19937 chance_{20240607};
  ScriptMachines machines_;
  MemoryBlobs blobs_;
  World world_{machines_, blobs_};
  std::uint64_t ticks_ = 0;
};

TEST_F(Interleaving, a_receipt_wakes_only_its_origin) {
  for (int round = 0; round < kInterleavings && !HasFatalFailure(); ++round) {
    if (round % kPerWorld == 0) begin();
    Twin twins[2] = {{"a" + std::to_string(round), {}, 0}, {"b" + std::to_string(round), {}, 0}};
    // Each number below 2 is a turn of that twin to open or to answer; 2 is the world put away.
    std::vector<int> turns;
    for (std::size_t i = 0; i < 2 * kIntentsPerCell; ++i) turns.insert(turns.end(), {0, 1});
    if (round % 16 == 0) turns.push_back(2);
    std::shuffle(turns.begin(), turns.end(), chance_);
    std::vector<std::size_t> open[2];
    for (const int turn : turns) {
      if (turn == 2) {
        put_away();
        continue;
      }
      Twin& twin = twins[turn];
      std::vector<std::size_t>& waiting = open[turn];
      const bool may_open = twin.intents.size() < kIntentsPerCell;
      if (waiting.empty() || (may_open && chance_() % 2 == 0)) {
        waiting.push_back(twin.intents.size());
        open_effect(twin);
      } else {
        const std::size_t which = chance_() % waiting.size();
        answer(twin, waiting[which]);
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(which));
      }
      for (const Twin& each : twins) check(each);
      if (HasFatalFailure()) FAIL() << "interleaving " << round;
    }
    ASSERT_EQ(twins[0].receipts + twins[1].receipts, 2 * kIntentsPerCell);
    for (const base::Hash& intent : twins[0].intents)
      ASSERT_EQ(std::count(twins[1].intents.begin(), twins[1].intents.end(), intent), 0);
    ASSERT_EQ(world_.open_intents(), 0u);
  }
}

}  // namespace
}  // namespace holdfast::kernel
