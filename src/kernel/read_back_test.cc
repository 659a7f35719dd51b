// SPDX-License-Identifier: Apache-2.0
// Snapshots that pass restore and contradict themselves: whatever comes of them, the world says
// that it has failed and why.
#include "kernel/read_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel/cell_codec.h"
#include "kernel/snapshot_parts.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using ::testing::HasSubstr;
using testing::kToKeyed;
using testing::LabTest;
using testing::opened;
using testing::value;

class ReadBackTest : public LabTest {
 protected:
  // One instance that waits for one intent.
  void SetUp() override {
    keyed_ = testing::work;
    begin(kToKeyed);
    intent_ = opened(send("a", 1)).at(0);
    take();
  }

  void take() { snapshot_ = *bench().world().snapshot(); }
  SnapshotParts parts() const { return *read_snapshot(snapshot_); }

  // Both have a size of one byte, which follows the root.
  std::size_t replace(const HashTrie& from, const HashTrie& to) {
    const auto& root = from.root().bytes;
    const auto at = std::search(snapshot_.begin(), snapshot_.end(), root.begin(), root.end());
    EXPECT_NE(at, snapshot_.end());
    const auto size = std::copy(to.root().bytes.begin(), to.root().bytes.end(), at);
    EXPECT_EQ(*size, from.size());
    *size = static_cast<std::uint8_t>(to.size());
    return static_cast<std::size_t>(size - snapshot_.begin());
  }
  void replace_cells(const HashTrie& to, std::uint8_t active) {
    snapshot_[replace(parts().workflows.at(0).index, to) + 1] = active;
  }
  static HashTrie changed(HashTrie trie, Blobs& blobs, const base::Hash& key, base::Bytes entry) {
    TrieCache cache;
    EXPECT_TRUE(trie.apply(blobs, cache, {{key, std::move(entry)}}));
    return trie;
  }

  // The cell of "a" as the test changes it.
  void change_cell(std::uint8_t active, const std::function<void(Cell&)>& change) {
    const HashTrie index = parts().workflows.at(0).index;
    const base::Hash id = key_hash(value("\"a\""));
    TrieCache cache;
    Cell cell = *decode_cell(**index.find(bench().blobs(), cache, id), bench().blobs());
    change(cell);
    replace_cells(changed(index, bench().blobs(), id, *encode_cell(cell, bench().blobs())), active);
  }
  void change_intent(std::uint64_t workflow, std::uint64_t effect, base::ByteView params) {
    codec::Buffer out;
    out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
    codec::write_list_head(out, 8);
    for (const std::uint64_t number : {workflow, effect, std::uint64_t{2}, std::uint64_t{0}})
      codec::write_nat(out, number);
    codec::write_nat(out, 0);
    codec::write_bytes(out, value("\"a\""));
    codec::write_bytes(out, params);
    codec::write_text(out, "");
    replace(parts().intents, changed(parts().intents, bench().blobs(), intent_, out.to_bytes()));
  }

  World restored() {
    auto world = World::restore(machines_, bench().blobs(), snapshot_);
    EXPECT_TRUE(world) << world.error().to_string();
    return std::move(*world);
  }
  Outcome tick(World& world, decltype(Tick::input) input) {
    Tick tick;
    tick.input = input;
    return world.reduce(tick);
  }
  Outcome receipt(World& world) {
    const base::Bytes payload = value(R"({"ok":true})");
    return tick(world, ReceiptArrived{intent_, ReceiptStatus::kOk, payload, {}, {}});
  }
  Outcome progress(World& world) {
    const base::Bytes payload = value("1");
    return tick(world, ProgressArrived{intent_, 1, "log", payload});
  }
  Outcome control(World& world, Control control) {
    const base::Bytes key = value("\"a\"");
    return tick(world, ControlRequested{control, "lab/Keyed@1", key, ""});
  }
  Outcome event(World& world) {
    const base::Bytes bytes = value(go("a", 1));
    return tick(world, EventArrived{"lab/Go@1", bytes, ""});
  }

  static void expect_corrupt(const Outcome& outcome, std::string_view why) {
    ASSERT_TRUE(outcome.failure);
    EXPECT_EQ(outcome.failure->code(), base::ErrorCode::kCorrupt);
    EXPECT_THAT(outcome.failure->to_string(), HasSubstr(std::string(why)));
  }

  base::Hash intent_;
  base::Bytes snapshot_;
};

TEST_F(ReadBackTest, a_snapshot_that_nobody_changed_works) {
  World world = restored();
  EXPECT_FALSE(progress(world).failure);
  EXPECT_FALSE(receipt(world).failure);
}

TEST_F(ReadBackTest, an_instance_that_waits_for_an_intent_that_is_not_open) {
  replace(parts().intents, HashTrie());
  World cancelled = restored();
  expect_corrupt(control(cancelled, Control::kCancel), "is not open");
  World asked = restored();
  const auto why = asked.why("lab/Keyed@1", value("\"a\""));
  ASSERT_FALSE(why);
  EXPECT_THAT(why.error().to_string(), HasSubstr("is not open"));
  EXPECT_FALSE(receipt(asked).failure) << "the error was the question's own";
}

TEST_F(ReadBackTest, an_intent_that_stands_twice_in_its_instance) {
  change_cell(1, [](Cell& cell) { cell.intents.push_back(*cell.intents.begin()); });
  World world = restored();
  expect_corrupt(control(world, Control::kCancel), "is not open");
}

TEST_F(ReadBackTest, an_open_intent_without_an_instance) {
  replace_cells(HashTrie(), 0);
  World one = restored();
  expect_corrupt(receipt(one), "has no instance");
  World other = restored();
  expect_corrupt(progress(other), "has no instance");
}

TEST_F(ReadBackTest, an_open_intent_of_a_workflow_or_effect_that_the_program_does_not_have) {
  const base::Bytes params = value(R"({"a":1,"b":null})");
  const base::Bytes good = snapshot_;
  for (const auto& [workflow, effect] : {std::pair(3, 0), std::pair(0, 77)}) {
    snapshot_ = good;
    change_intent(static_cast<std::uint64_t>(workflow), static_cast<std::uint64_t>(effect), params);
    World world = restored();
    expect_corrupt(receipt(world), "an open intent is damaged");
    World asked = restored();
    EXPECT_FALSE(asked.visit_intents([](const base::Hash&, const Intent&) { return true; }));
  }
}

TEST_F(ReadBackTest, an_open_intent_whose_params_are_not_those_of_its_effect) {
  change_intent(0, 0, base::Bytes{0xbb});
  World world = restored();
  (void)world.why("lab/Keyed@1", value("\"a\""));
  expect_corrupt(receipt(world), "an open intent is damaged");
}

TEST_F(ReadBackTest, an_instance_that_has_ended_and_has_an_open_intent) {
  change_cell(0, [](Cell& cell) {
    cell.phase = Phase::kCompleted;
    cell.intents = {};
  });
  World one = restored();
  expect_corrupt(receipt(one), "has ended");
  World other = restored();
  expect_corrupt(progress(other), "has ended");
}

TEST_F(ReadBackTest, an_instance_that_has_ended_and_still_waits) {
  change_cell(0, [](Cell& cell) { cell.phase = Phase::kCompleted; });
  World world = restored();
  expect_corrupt(event(world), "a cell in the index is damaged");
}

TEST_F(ReadBackTest, an_instance_that_has_ended_and_has_a_turn) {
  Cell cell;
  cell.phase = Phase::kFailed;
  cell.mail.push_back(Mail());
  testing::MemoryBlobs blobs;
  EXPECT_FALSE(decode_cell(*encode_cell(cell, blobs), blobs));
}

TEST_F(ReadBackTest, mail_of_an_effect_that_the_program_does_not_have) {
  change_cell(1, [&](Cell& cell) {
    cell.paused = true;
    Mail mail;
    mail.kind = MailKind::kReceipt;
    mail.origin = {intent_, "lab/none@1", "", 2};
    mail.value = value(R"({"ok":true})");
    cell.mail.push_back(mail);
  });
  World world = restored();
  expect_corrupt(control(world, Control::kResume), "does not fit its workflow");
}

TEST_F(ReadBackTest, values_that_are_none_or_not_of_their_schema) {
  const base::Bytes good = snapshot_;
  const std::vector<std::function<void(Cell&)>> changes{
      [](Cell& cell) { cell.state = {0xbb}; }, [](Cell& cell) { cell.state = value("7"); },
      [](Cell& cell) { cell.key = value("\"b\""); },
      [](Cell& cell) {
        cell.phase = Phase::kCompleted;
        cell.intents = {};
        cell.outcome = {0x82, 0x01};
      },
      [](Cell& cell) {
        Mail mail;
        mail.schema = "lab/Go@1";
        mail.value = {0xa1};
        cell.mail.push_back(mail);
      }};
  for (const auto& change : changes) {
    snapshot_ = good;
    change_cell(1, change);
    World world = restored();
    expect_corrupt(event(world), "does not fit its workflow");
  }
}

TEST_F(ReadBackTest, a_state_in_a_blob_that_is_no_state) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, kInlineValueBytes + 1}) {
    const base::Hash blob = *bench().blobs().put(base::Bytes(size, 0xbb));
    const base::Bytes good = snapshot_;
    change_cell(1, [&](Cell& cell) {
      cell.state.clear();
      cell.state_blob = blob;
    });
    World world = restored();
    expect_corrupt(event(world), "a state in a blob does not fit");
    snapshot_ = good;
  }
}

TEST_F(ReadBackTest, mail_that_the_world_does_not_count) {
  const base::Bytes good = snapshot_;
  // No value, another size, not there.
  const base::Hash blob = *bench().blobs().put(base::Bytes(2000, 0xbb));
  const base::Hash missing = base::Hash{{1}};
  const PutAway wrong[] = {{blob, 2000}, {blob, 2001}, {missing, 2000}};
  for (const PutAway& away : wrong) {
    change_cell(1, [&](Cell& cell) {
      Mail mail;
      mail.schema = "lab/Go@1";
      mail.away = away;
      cell.paused = true;
      cell.mail.push_back(mail);
    });
    World world = restored();
    const Outcome outcome = control(world, Control::kResume);
    expect_corrupt(outcome, "more mail waits than is counted");
    snapshot_ = good;
  }
}

// Whoever asks for it reads it from its blob.
TEST_F(ReadBackTest, an_outcome_in_a_blob_is_not_read_by_ticks_whatever_it_is) {
  const base::Hash blob = *bench().blobs().put(base::Bytes(2000, 0xbb));
  replace(parts().intents, HashTrie());
  change_cell(0, [&](Cell& cell) {
    cell.phase = Phase::kCompleted;
    cell.intents = {};
    cell.outcome_blob = blob;
  });
  World world = restored();
  const Outcome late = event(world);
  EXPECT_FALSE(late.failure);
  EXPECT_EQ(std::get<Accepted>(late.answer).ignored, 1u);
}

// Identities are made of the number of the record, among others.
TEST_F(ReadBackTest, numbers_of_records_that_began_again) {
  constexpr std::size_t kNextRecord = 5;  // after the tag, the list and the version
  ASSERT_EQ(snapshot_[kNextRecord], 3);
  snapshot_[kNextRecord] = 2;
  World known = restored();
  ASSERT_NE(*known.find_intent(intent_), nullptr);
  expect_corrupt(event(known), "opened twice");
  World unknown = restored();
  EXPECT_EQ(opened(event(unknown)).at(0), intent_) << "nobody looked for it";
  const auto again = unknown.snapshot();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), base::ErrorCode::kCorrupt);
}

TEST_F(ReadBackTest, another_manifest_while_intents_are_open_that_no_instance_has) {
  replace_cells(HashTrie(), 0);
  World world = restored();
  const base::Bytes definitions = testing::document(testing::lab_without_keyed());
  expect_corrupt(tick(world, ApplyManifest{definitions}), "intents are open");
}

TEST_F(ReadBackTest, another_manifest_while_an_instance_that_is_not_counted_has_a_turn) {
  keyed_ = [](const StepInput& input, StepOutput& output) {
    const std::uint64_t n = testing::number(input);
    testing::state(output, n);
    if (n == 0) return;
    for (int i = 0; i < 255; ++i) testing::emit(output, "lab/Go@1", go("a", 0));
    testing::emit(output, "lab/Go@1", go("a", n - 1));
  };
  begin(kToKeyed);
  send("a", 9);
  ASSERT_TRUE(bench().world().has_ready()) << "more than one tick delivers";
  take();
  replace_cells(parts().workflows.at(0).index, 0);
  World world = restored();
  ASSERT_TRUE(world.has_ready());
  const base::Bytes definitions = testing::document(testing::lab_without_keyed());
  expect_corrupt(tick(world, ApplyManifest{definitions}), "turns left");
}

// One blob has other bytes under its name.
class OneChanged : public testing::MemoryBlobs {
 public:
  OneChanged(const Blobs& good, const base::Hash& hash, base::Bytes bytes)
      : good_(good), hash_(hash), bytes_(std::move(bytes)) {}
  base::Result<base::Bytes> get(const base::Hash& hash) const override {
    if (hash == hash_) return bytes_;
    auto own = MemoryBlobs::get(hash);
    return own ? std::move(own) : good_.get(hash);
  }

 private:
  const Blobs& good_;
  base::Hash hash_;
  base::Bytes bytes_;
};

TEST_F(ReadBackTest, a_changed_byte_anywhere_in_the_indexes_is_survived) {
  bench().progress(intent_, 1, "1");
  bench().control(Control::kPause, "lab/Keyed@1", "\"a\"");
  bench().progress(intent_, 2, "2");  // waits as mail
  take();
  std::size_t failed = 0;
  for (const base::Hash& root : {parts().workflows.at(0).index.root(), parts().intents.root()}) {
    const base::Bytes good = *bench().blobs().get(root);
    for (std::size_t at = 0; at < 2 * good.size(); ++at) {
      base::Bytes bad = good;
      const std::uint8_t flipped = at % 2 == 0 ? 0x01 : 0x80;
      bad[at / 2] = static_cast<std::uint8_t>(bad[at / 2] ^ flipped);
      OneChanged blobs(bench().blobs(), root, bad);
      auto world = World::restore(machines_, blobs, snapshot_);
      bool has_failed = !world;
      for (int i = 0; i < 6 && !has_failed; ++i) {
        (void)world->why("lab/Keyed@1", value("\"a\""));
        has_failed = (i == 0   ? control(*world, Control::kResume)
                      : i == 1 ? progress(*world)
                      : i == 2 ? receipt(*world)
                      : i == 3 ? event(*world)
                      : i == 4 ? control(*world, Control::kCancel)
                               : event(*world))
                         .failure.has_value();
      }
      if (!has_failed) {
        const auto go_on = [](std::string_view, const Cell&) { return true; };
        has_failed = !world->visit_instances(go_on) || !world->snapshot();
      }
      if (has_failed) ++failed;
    }
  }
  EXPECT_GT(failed, 0u);
}

TEST_F(ReadBackTest, more_instances_that_have_not_ended_than_there_are) {
  replace_cells(parts().workflows.at(0).index, 2);
  EXPECT_FALSE(World::restore(machines_, bench().blobs(), snapshot_));
}

}  // namespace
}  // namespace holdfast::kernel
