// SPDX-License-Identifier: Apache-2.0
// How the index follows the records: when it works, what it says of itself, and what damage does to
// it.
#include <gmock/gmock.h>

#include "node/testing_history.h"

namespace holdfast::node {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::HistoryTest;
using testing::kSecond;

TEST_F(HistoryTest, with_nothing_to_do_it_does_nothing) {
  history_->work();
  clock_.advance_ns(options_.gather_ns);
  history_->work();
  EXPECT_EQ(history_->figures().lag, 0u);
  clock_.advance_ns(10 * 3600 * kSecond);
  EXPECT_FALSE(history_->has_work());
}

TEST_F(HistoryTest, slices_that_are_not_full_are_some_time_apart) {
  options_.slice.records = 3;
  make();
  history_->work();
  EXPECT_EQ(history_->figures().lag, 0u);
  send("a", 1);
  EXPECT_FALSE(history_->has_work()) << "so shortly after the last";
  send("a", 1);
  send("a", 1);
  EXPECT_TRUE(history_->has_work()) << "a whole slice";
  history_->work();
  send("a", 1);
  clock_.advance_ns(options_.gather_ns);
  EXPECT_TRUE(history_->has_work());
}

TEST_F(HistoryTest, the_journal_keeps_what_the_index_has_not_seen_up_to_a_bound) {
  EXPECT_EQ(history_->needs_from(), 1u);
  catch_up();
  EXPECT_EQ(history_->needs_from(), open_->journal().durable() + 1);
  options_.most_lag = 10;
  make();
  send_many(200);
  EXPECT_EQ(history_->needs_from(), open_->journal().durable() - 9);
  ASSERT_TRUE(open_->take_snapshot(1, {.keep = 1, .readers_need = history_->needs_from()}));
  ASSERT_GT(open_->journal().first(), 2u);
  history_->work();
  EXPECT_THAT(trouble_, HasSubstr("the journal begins with record"));
  EXPECT_EQ(history_->figures().failures, 1u);
  EXPECT_FALSE(history_->figures().is_well);
  pass(2);
  EXPECT_EQ(history_->figures().lag, 0u) << "it was begun anew";
  EXPECT_TRUE(history_->figures().is_well);
  EXPECT_GT(history_->index()->cursor().begins, 1u);
  EXPECT_THAT(words(read("order-1")), ElementsAre("truncated"));
}

// What failed in the last moments of a program is what its operator looks for.
TEST_F(HistoryTest, what_the_index_had_not_seen_when_the_program_died_is_told_by_the_next) {
  std::vector<std::string> told;
  options_.failed = [](const FailedEffect&) {};
  options_.instance_failed = [&](const FailedInstance& failed) { told.push_back(failed.key); };
  keyed_ = [](const kernel::StepInput& input, kernel::StepOutput& output) {
    kernel::testing::state(output, kernel::testing::number(input));
    output.fail("lab.broken", "as it was told");
  };
  open_.reset();
  history_.reset();
  open();
  make();
  send("a", 1);
  catch_up();
  EXPECT_THAT(told, ElementsAre("a"));
  send("b", 1);
  restart();
  catch_up();
  EXPECT_THAT(told, ElementsAre("a", "b")) << "each once";
  // An index that is made anew has nothing to tell of what was before.
  history_.reset();
  ASSERT_TRUE(disk_->remove("./world/history.db"));
  make();
  catch_up();
  EXPECT_EQ(told.size(), 2u);
  send("c", 1);
  catch_up();
  EXPECT_EQ(told.size(), 3u);
}

TEST_F(HistoryTest, an_index_that_is_damaged_is_begun_anew_and_the_world_hears_nothing_of_it) {
  send("a", 2);
  catch_up();
  history_.reset();
  {
    auto file = disk_->open("./world/history.db", env::OpenMode::kReadWrite).take();
    const base::Bytes junk(4096, 0x5a);
    ASSERT_TRUE(env::write_all(*file, 0, junk));
  }
  make();
  history_->work();
  EXPECT_THAT(trouble_, HasSubstr("history"));
  pass(2);
  EXPECT_EQ(history_->figures().lag, 0u);
  EXPECT_THAT(words(read("a")), ElementsAre("2/0", "2/1")) << trouble_;
  send("a", 0);
  EXPECT_EQ(query("a", 0).ended_as, "completed");
}

TEST_F(HistoryTest, an_index_that_cannot_be_read_is_begun_anew_by_whoever_asks_first) {
  for (const bool lists : {true, false}) {
    for (int i = 0; i < 200; ++i) send("k" + std::to_string(i), 2);
    catch_up();
    restart();  // so that nothing of it is in memory
    history_->work();
    ASSERT_NE(history_->index(), nullptr);
    const std::uint64_t before = history_->figures().failures;
    // What was not moved into the file yet is in its log.
    for (const char* name : {"./world/history.db", "./world/history.db-wal"}) {
      auto file = disk_->open(name, env::OpenMode::kReadWrite).take();
      const std::uint64_t size = file->size().take();
      if (size <= 8192) continue;
      ASSERT_TRUE(env::write_all(*file, 8192, base::Bytes(size - 8192, 0x5a)));
    }
    std::optional<base::Error> told;
    if (lists) {
      ASSERT_TRUE(history_->ask(store::HistoryQuery{}, [&](base::Result<HistoryList> list) {
        if (!list) told.emplace(std::move(list).error());
      }));
    } else {
      ASSERT_TRUE(history_->ask(query("k7", 0), [&](base::Result<StreamPage> page) {
        if (!page) told.emplace(std::move(page).error());
      }));
    }
    history_->work();
    ASSERT_TRUE(told) << "it could be read";
    EXPECT_EQ(told->to_string().find("history.db"), std::string::npos) << told->to_string();
    EXPECT_GT(history_->figures().failures, before);
    EXPECT_THAT(trouble_, HasSubstr("history.db"));
    pass(3);
    EXPECT_TRUE(history_->figures().is_well) << trouble_;
    EXPECT_THAT(words(read("k7")), Contains("2/1"));
  }
}

TEST_F(HistoryTest, those_who_wait_for_the_index_to_go_on_are_counted) {
  options_.most_queries = 1;
  make();
  send("a", 1);
  history_->work();
  send("a", 77);  // it goes: only the index can tell how it was, and has not seen that yet
  int told = 0;
  const auto ask = [&] { return history_->ask(query("a", 0), [&](auto) { ++told; }); };
  ASSERT_TRUE(ask());
  history_->work();
  ASSERT_EQ(told, 0);
  EXPECT_EQ(ask().error().code(), base::ErrorCode::kUnavailable);
  catch_up();
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(ask());
}

TEST_F(HistoryTest, damage_to_the_journal_costs_the_index_nothing) {
  send("a", 2);
  catch_up();
  send("b", 3);
  for (const std::string& name : disk_->list("./world/journal").take()) {
    auto file = disk_->open("./world/journal/" + name, env::OpenMode::kReadWrite).take();
    base::Bytes bytes(std::size_t{64} << 10);
    bytes.resize(file->read_at(0, bytes).take());
    const std::string_view mark = "3/2";
    const auto found = std::search(bytes.begin(), bytes.end(), mark.begin(), mark.end());
    if (found == bytes.end()) continue;
    const base::Bytes other{'x'};
    ASSERT_TRUE(env::write_all(*file, static_cast<std::uint64_t>(found - bytes.begin()), other));
  }
  pass(3);
  EXPECT_GE(history_->figures().failures, 1u);
  EXPECT_EQ(history_->figures().lag, 1u);
  EXPECT_EQ(std::count(trouble_.begin(), trouble_.end(), '\n'), 2)
      << "the index and the seals, once each: " << trouble_;
  EXPECT_THAT(words(read("a")), ElementsAre("2/0", "2/1"));
  EXPECT_EQ(read("b").error().code(), base::ErrorCode::kCorrupt);
}

TEST_F(HistoryTest, without_room_it_waits_and_goes_on_when_there_is_some) {
  catch_up();
  send_many(30);
  disk_->set_capacity(0);
  for (int i = 0; i < 10; ++i) {
    clock_.advance_ns(3600 * kSecond);
    if (history_->has_work()) history_->work();
  }
  EXPECT_GE(history_->figures().failures, 10u);
  EXPECT_EQ(std::count(trouble_.begin(), trouble_.end(), '\n'), 2)
      << "the index and the seals, once each: " << trouble_;
  EXPECT_NE(history_->figures().lag, 0u);
  disk_->set_capacity(std::nullopt);
  pass(70);
  EXPECT_EQ(history_->figures().lag, 0u);
  EXPECT_TRUE(history_->figures().is_well);
  EXPECT_THAT(words(read("order-1")), ElementsAre("1/0"));
  EXPECT_EQ(sealed(), open_->journal().last());
}

// Whatever fails while the index is written, once, it goes on a while later: one that could not
// even undo what it had begun is opened again.
TEST_F(HistoryTest, an_index_that_has_ended_is_opened_again) {
  catch_up();
  bool has_ended = false;
  for (const auto fault : {env::DiskFault::kNoSpace, env::DiskFault::kIoError}) {
    for (std::uint64_t call = 0; call < 12; ++call) {
      SCOPED_TRACE(call);
      send_many(1);
      clock_.advance_ns(options_.gather_ns);
      disk_->fail_call(call, fault);
      // The seals come first; with a lag of less than a second they have nothing to do.
      history_->work();
      const store::HistoryIndex* index = history_->index();
      has_ended = has_ended || index == nullptr || index->has_ended();
      disk_->fail_call(1'000'000'000, fault);
      pass(130);
      ASSERT_EQ(history_->figures().lag, 0u) << trouble_;
      ASSERT_TRUE(history_->figures().is_well) << trouble_;
    }
  }
  EXPECT_TRUE(has_ended);
}

TEST_F(HistoryTest, records_are_sealed_a_second_later_or_at_the_end) {
  send("a", 1);
  pass(1);
  EXPECT_EQ(sealed(), 2u);
  send_many(3);
  history_->work();
  EXPECT_EQ(sealed(), 2u) << "they wait for company";
  pass(1);
  EXPECT_EQ(sealed(), 5u);
  send_many(2);
  EXPECT_EQ(history_->needs_from(), 6u) << "the journal keeps what is not sealed";
  history_->finish();
  EXPECT_EQ(sealed(), 7u);
}

TEST_F(HistoryTest, a_list_has_everything_that_was_durable_when_it_was_asked_for) {
  send("a", 1);
  catch_up();
  send("b", 1);
  ASSERT_EQ(history_->figures().lag, 1u) << "so shortly after the last slice";
  const auto both = list({});
  ASSERT_TRUE(both) << both.error().to_string();
  EXPECT_EQ(both->page.rows.size(), 2u);
  EXPECT_EQ(both->seen, open_->journal().durable());
  EXPECT_EQ(both->lag, 0u);
  EXPECT_EQ(list({.limit = 0}).error().code(), base::ErrorCode::kInvalid);
}

TEST_F(HistoryTest, a_list_waits_for_one_slice_and_says_how_far_the_index_is_behind) {
  options_.slice.records = 2;
  make();
  history_->work();
  for (const char* id : {"a", "b", "c"}) send(id, 1);
  const auto lagging = list({});
  ASSERT_TRUE(lagging) << lagging.error().to_string();
  EXPECT_EQ(lagging->page.rows.size(), 2u);
  EXPECT_EQ(lagging->lag, 1u);
  EXPECT_EQ(lagging->seen + 1, open_->journal().durable());
}

TEST_F(HistoryTest, a_list_is_answered_with_what_there_is_when_the_index_cannot_go_on) {
  send("a", 1);
  catch_up();
  send_many(30);
  disk_->set_capacity(0);
  const auto lagging = list({});
  ASSERT_TRUE(lagging) << lagging.error().to_string();
  EXPECT_EQ(lagging->page.rows.size(), 1u);
  EXPECT_EQ(lagging->lag, 30u);
  EXPECT_FALSE(history_->figures().is_well);
}

TEST_F(HistoryTest, only_so_many_may_wait_for_lists_and_all_are_let_go_of_at_the_end) {
  options_.most_lists = 1;
  make();
  int told = 0;
  ASSERT_TRUE(history_->ask(store::HistoryQuery{}, [&](auto) { ++told; }));
  EXPECT_TRUE(history_->has_work());
  EXPECT_EQ(history_->ask(store::HistoryQuery{}, [&](auto) { ++told; }).error().code(),
            base::ErrorCode::kUnavailable);
  history_->stop();
  history_->finish();
  EXPECT_EQ(told, 0);
  EXPECT_EQ(history_->ask(store::HistoryQuery{}, [&](auto) { ++told; }).error().code(),
            base::ErrorCode::kUnavailable);
}

TEST_F(HistoryTest, a_query_is_refused_when_too_many_wait_and_let_go_of_at_the_end) {
  options_.most_queries = 1;
  make();
  int told = 0;
  ASSERT_TRUE(history_->ask(query("a", 0), [&](auto) { ++told; }));
  EXPECT_EQ(history_->ask(query("a", 0), [&](auto) { ++told; }).error().code(),
            base::ErrorCode::kUnavailable);
  history_->stop();
  EXPECT_FALSE(history_->wait_for_work());
  history_->finish();
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace holdfast::node
