// SPDX-License-Identifier: Apache-2.0
#include "node/history.h"

#include <gmock/gmock.h>

#include "codec/json_writer.h"
#include "node/stream_entries.h"
#include "node/testing_world.h"

namespace holdfast::node {
namespace {

using kernel::testing::number;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;

// An event with number n puts out n entries; 0 ends the instance, 77 removes it.
void put(const kernel::StepInput& input, kernel::StepOutput& output) {
  const std::uint64_t n = number(input);
  if (n == 77) return output.remove();
  kernel::testing::state(output, n);
  for (std::uint64_t i = 0; i < std::max<std::uint64_t>(n, 1); ++i) {
    output.begin_annotation();
    kernel::testing::write(output.bytes(),
                           R"({"note":")" + std::to_string(n) + "/" + std::to_string(i) + R"("})");
  }
  if (n == 0) kernel::testing::complete(output, R"({"sum":1})");
}

class HistoryTest : public testing::LabWorldTest {
 protected:
  void SetUp() override {
    keyed_ = put;
    begin();
    make();
  }

  void make() {
    HistoryOptions options = options_;
    options.send = [this](Input input, Heard heard) -> base::Result<void> {
      ++forgets_;
      const kernel::Outcome outcome = tick(input.tick());
      heard(outcome.answer);
      return {};
    };
    options.trouble = [this](const base::Error& error) { trouble_ += error.to_string() + "\n"; };
    history_ = std::make_unique<History>(open_->folder(), open_->journal(), clock_, options);
  }
  // The process dies, and another one goes on.
  void restart() {
    auto next = disk_->after_process_death();
    history_.reset();
    open_.reset();
    disk_ = std::move(next);
    open();
    make();
  }

  void catch_up() {
    for (int i = 0; i < 100 && history_->figures().lag != 0; ++i) {
      clock_.advance_ns(options_.gather_ns);
      history_->work();
    }
    EXPECT_EQ(history_->figures().lag, 0u);
  }
  // Everything that is due, for so long.
  void pass(std::int64_t seconds) {
    for (; seconds > 0; --seconds) {
      clock_.advance_ns(kSecond);
      for (int i = 0; i < 20 && history_->has_work(); ++i) history_->work();
    }
  }

  StreamQuery query(const std::string& id, std::uint64_t after, std::size_t limit = 100) {
    StreamQuery made{{"lab/Keyed@1", kernel::testing::value("\"" + id + "\"")}, after, limit};
    const auto cell = open_->world().find(made.instance.workflow, made.instance.key).take();
    if (cell != nullptr) made.last_record = cell->last_record;
    if (cell != nullptr && cell->terminal()) made.ended_as = name_of(cell->status());
    made.durable = open_->journal().durable();
    return made;
  }
  base::Result<StreamPage> read(const std::string& id, std::uint64_t after = 0,
                                std::size_t limit = 100) {
    std::optional<base::Result<StreamPage>> answer;
    EXPECT_TRUE(history_->ask(query(id, after, limit), [&](base::Result<StreamPage> page) {
      answer.emplace(std::move(page));
    }));
    history_->work();
    if (!answer) return base::Error(base::ErrorCode::kUnavailable, "is parked");
    return std::move(*answer);
  }
  // The entries in words, and how it ends.
  static std::vector<std::string> words(const base::Result<StreamPage>& page) {
    if (!page) return {page.error().to_string()};
    std::vector<std::string> all;
    if (page->truncated != 0) all.push_back("truncated");
    for (const store::StreamEntry& entry : page->entries)
      all.emplace_back(*codec::View::of(entry.value).find("note")->text());
    if (page->end) all.push_back(page->end->status);
    return all;
  }
  // The last record that is.
  store::RecordNumber sealed() {
    const auto look = store::SealsLook::open(store::WorldPlace::of(open_->folder())).take();
    store::RecordNumber last = 0;
    while (const auto seal = look->next().take()) last = seal->last;
    return last;
  }
  bool is_there(const std::string& id) { return query(id, 0).last_record != 0; }
  bool has_row(const std::string& id) {
    return history_->index()
        ->find("lab/Keyed@1", kernel::testing::value("\"" + id + "\""))
        ->has_value();
  }

  HistoryOptions options_;
  env::ManualClock clock_;
  std::unique_ptr<History> history_;
  std::string trouble_;
  int forgets_ = 0;
};

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

TEST_F(HistoryTest, a_stream_has_its_entries_in_order_and_one_end) {
  send("a", 2);
  send("b", 1);
  send("a", 0);
  send("a", 5);  // ignored
  catch_up();
  const auto page = read("a");
  EXPECT_THAT(words(page), ElementsAre("2/0", "2/1", "0/0", "completed"));
  EXPECT_EQ(page->entries[1].sequence, sequence_of(2, 1));
  EXPECT_EQ(page->end->sequence, sequence_of(4, 1));
  EXPECT_THAT(words(read("a", sequence_of(2, 0))), ElementsAre("2/1", "0/0", "completed"));
  EXPECT_THAT(words(read("a", sequence_of(4, 0))), ElementsAre("completed"));
  EXPECT_THAT(words(read("a", page->end->sequence)), ElementsAre("completed"))
      << "it is over, whoever asks";
  EXPECT_THAT(words(read("b")), ElementsAre("1/0"));
  EXPECT_THAT(words(read("b", sequence_of(3, 0))), IsEmpty());
}

TEST_F(HistoryTest, pages_follow_each_other_without_a_gap) {
  options_.gather_ns = 3600 * kSecond;
  make();
  for (std::uint64_t n : {7u, 5u, 3u}) send("a", n);
  history_->work();
  for (std::uint64_t n : {2u, 4u, 0u}) send("a", n);
  ASSERT_NE(history_->figures().lag, 0u) << "half of it is in the journal only";
  const auto whole = words(read("a"));
  EXPECT_EQ(whole.size(), 7u + 5 + 3 + 2 + 4 + 1 + 1);
  for (std::size_t limit = 1; limit < 9; ++limit) {
    std::vector<std::string> all;
    std::uint64_t after = 0;
    for (int pages = 0; pages < 50; ++pages) {
      const auto page = read("a", after, limit);
      for (const std::string& word : words(page)) all.push_back(word);
      if (page->end) break;
      ASSERT_FALSE(page->entries.empty());
      ASSERT_LE(page->entries.size(), limit);
      after = page->entries.back().sequence;
    }
    EXPECT_EQ(all, whole) << limit;
  }
}

TEST_F(HistoryTest, who_reads_is_not_kept_waiting_by_an_index_that_lags) {
  options_.gather_ns = 3600 * kSecond;
  make();
  send("a", 1);
  history_->work();
  send("a", 2);
  send("late", 1);
  EXPECT_EQ(history_->figures().lag, 2u);
  EXPECT_THAT(words(read("a", sequence_of(2, 0))), ElementsAre("2/0", "2/1"));
  EXPECT_THAT(words(read("late")), ElementsAre("1/0"));
  EXPECT_EQ(history_->figures().lag, 2u) << "reading feeds nothing";
  send("late", 0);
  EXPECT_THAT(words(read("late")), ElementsAre("1/0", "0/0", "completed"));
  send("late", 9);  // ignored
  EXPECT_THAT(words(read("late", sequence_of(5, 1))), ElementsAre("completed"));
}

TEST_F(HistoryTest, whoever_is_gone_is_only_told_of_by_the_index) {
  options_.gather_ns = 3600 * kSecond;
  make();
  history_->work();
  send("a", 1);
  send("a", 77);
  std::optional<base::Result<StreamPage>> answer;
  ASSERT_TRUE(history_->ask(query("a", 0), [&](auto page) { answer.emplace(std::move(page)); }));
  history_->work();
  EXPECT_FALSE(answer) << "it waits";
  catch_up();
  ASSERT_TRUE(answer);
  EXPECT_THAT(words(*answer), ElementsAre("1/0", "deleted"));
  EXPECT_EQ(read("nobody").error().code(), base::ErrorCode::kNotFound);
}

TEST_F(HistoryTest, a_key_that_begins_again_has_another_stream_and_its_readers_are_told) {
  for (const bool lags : {false, true}) {
    options_.gather_ns = lags ? 3600 * kSecond : 1;
    make();
    const std::string id = lags ? "b" : "a";
    send(id, 2);
    clock_.advance_ns(1);
    history_->work();
    const std::uint64_t first = read(id)->entries[0].sequence;
    send(id, 77);
    send(id, 3);
    if (!lags) catch_up();
    EXPECT_THAT(words(read(id)), ElementsAre("3/0", "3/1", "3/2"));
    EXPECT_THAT(words(read(id, first)), ElementsAre("truncated", "3/0", "3/1", "3/2"));
    const std::uint64_t last = read(id)->entries[0].sequence;
    EXPECT_THAT(words(read(id, last)), ElementsAre("3/1", "3/2"));
  }
}

TEST_F(HistoryTest, a_cancelled_instance_ends_its_stream) {
  send("a", 1);
  const base::Bytes key = kernel::testing::value(R"("a")");
  tick(kernel::ControlRequested{kernel::Control::kCancel, "lab/Keyed@1", key, "enough"});
  send("a", 5);  // ignored
  catch_up();
  EXPECT_THAT(words(read("a")), ElementsAre("1/0", "cancelled"));
  EXPECT_EQ(read("a")->end->sequence, sequence_of(3, 0));
}

TEST_F(HistoryTest, streams_are_there_after_a_restart_and_after_the_journal_was_trimmed) {
  send("a", 2);
  send("a", 0);
  catch_up();
  for (int i = 0; i < 4; ++i) {
    send_many(60);
    pass(1);
    ASSERT_TRUE(open_->take_snapshot(1, {.keep = 1, .readers_need = history_->needs_from()}));
  }
  ASSERT_GT(open_->journal().first(), 4u);
  restart();
  EXPECT_THAT(words(read("a")), ElementsAre("2/0", "2/1", "0/0", "completed"));
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

TEST_F(HistoryTest, a_list_has_the_rows_of_the_index_and_says_how_far_it_is_behind) {
  const auto list = [this](const store::HistoryQuery& query) {
    std::optional<base::Result<HistoryList>> answer;
    EXPECT_TRUE(history_->ask(
        query, [&](base::Result<HistoryList> found) { answer.emplace(std::move(found)); }));
    history_->work();
    return std::move(answer).value();
  };
  send("a", 1);
  catch_up();
  send("b", 1);
  const auto lagging = list({});
  ASSERT_TRUE(lagging) << lagging.error().to_string();
  ASSERT_EQ(lagging->page.rows.size(), 1u);
  EXPECT_EQ(lagging->page.rows[0].key_text, R"("a")");
  EXPECT_EQ(lagging->lag, 1u);
  EXPECT_EQ(lagging->seen + 1, open_->journal().durable());
  catch_up();
  EXPECT_EQ(list({})->page.rows.size(), 2u);
  EXPECT_EQ(list({.limit = 0}).error().code(), base::ErrorCode::kInvalid);
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

// Retention.

class RetentionTest : public HistoryTest {
 protected:
  static constexpr std::int64_t kKeepS = 1000;

  RetentionTest() { options_.retention_ns = kKeepS * kSecond; }
  // The world's time is that of the ticks, one second each.
  void set_age(std::int64_t seconds) {
    clock_.set_wall_ns((static_cast<std::int64_t>(now_s_) + seconds) * kSecond);
  }
};

TEST_F(RetentionTest, what_ended_long_ago_is_forgotten_with_its_stream) {
  send("ended", 0);
  send("goes on", 1);
  send("removed", 77);
  set_age(0);
  pass(kKeepS - 10);
  EXPECT_TRUE(is_there("ended")) << "not yet";
  EXPECT_EQ(forgets_, 0);
  pass(20);
  EXPECT_FALSE(is_there("ended"));
  EXPECT_FALSE(has_row("ended"));
  EXPECT_FALSE(has_row("removed"));
  EXPECT_TRUE(is_there("goes on"));
  EXPECT_EQ(read("ended").error().code(), base::ErrorCode::kNotFound);
  const int forgets = forgets_;
  pass(kKeepS);
  EXPECT_EQ(forgets_, forgets) << "nothing is named twice";
  EXPECT_EQ(trouble_, "");
}

TEST_F(RetentionTest, one_who_asked_before_it_was_forgotten_is_not_told_half_of_it) {
  send("a", 0);
  catch_up();
  const StreamQuery before = query("a", 0);
  clock_.advance_ns(2 * kKeepS * kSecond);
  set_age(kKeepS + 1);
  pass(3);
  ASSERT_FALSE(has_row("a"));
  for (const bool again : {false, true}) {
    if (again) send("a", 5);
    catch_up();
    std::optional<base::Result<StreamPage>> answer;
    ASSERT_TRUE(history_->ask(before, [&](auto page) { answer.emplace(std::move(page)); }));
    history_->work();
    ASSERT_TRUE(answer);
    ASSERT_FALSE(*answer);
    EXPECT_EQ(answer->error().code(), base::ErrorCode::kNotFound);
  }
}

TEST_F(RetentionTest, whoever_was_touched_in_the_meantime_stays) {
  options_.gather_ns = 5000 * kSecond;
  make();
  send("a", 0);
  history_->work();
  send("a", 3);  // ignored, and not seen by the index
  clock_.advance_ns(2 * kKeepS * kSecond);
  set_age(kKeepS + 1);
  history_->work();
  EXPECT_EQ(forgets_, 1);
  EXPECT_TRUE(is_there("a"));
  clock_.advance_ns(options_.gather_ns);
  set_age(10);
  history_->work();
  EXPECT_EQ(history_->figures().lag, 0u);
  EXPECT_TRUE(has_row("a"));
  EXPECT_EQ(trouble_, "");
}

TEST_F(RetentionTest, very_many_go_in_portions) {
  for (int i = 0; i < 700; ++i) send("e-" + std::to_string(i), 0);
  set_age(kKeepS + 1);
  pass(3);
  EXPECT_FALSE(is_there("e-0"));
  EXPECT_FALSE(is_there("e-699"));
  EXPECT_EQ(forgets_, 3);
  EXPECT_EQ(history_->figures().lag, 0u);
}

TEST_F(RetentionTest, without_retention_nothing_goes) {
  options_.retention_ns = 0;
  make();
  send("a", 0);
  set_age(1'000'000'000);
  pass(10);
  EXPECT_TRUE(is_there("a"));
}

TEST_F(RetentionTest, a_world_that_takes_nothing_is_asked_again_later) {
  bool is_full = true;
  HistoryOptions options = options_;
  int asked = 0;
  options.send = [&](Input input, Heard heard) -> base::Result<void> {
    if (++asked == 1) return base::Error(base::ErrorCode::kUnavailable, "too many inputs wait");
    if (is_full) {
      heard(kernel::Refused(base::ErrorCode::kUnavailable, "the disk is full"));
    } else {
      heard(tick(input.tick()).answer);
    }
    return {};
  };
  options.trouble = [this](const base::Error& error) { trouble_ += error.to_string(); };
  history_ = std::make_unique<History>(open_->folder(), open_->journal(), clock_, options);
  send("a", 0);
  set_age(kKeepS + 1);
  pass(10);
  EXPECT_GE(asked, 3);
  EXPECT_LE(asked, 11);
  EXPECT_TRUE(is_there("a"));
  is_full = false;
  pass(5);
  EXPECT_FALSE(is_there("a"));
  EXPECT_EQ(trouble_, "");
}

// Wherever it is cut, everything goes on: nobody is forgotten too early, and in the end everybody
// is who should be, once.
TEST_F(RetentionTest, the_process_may_die_between_any_two_steps) {
  options_.slice.records = 4;
  make();
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 5; ++i)
      send("r" + std::to_string(round) + "-" + std::to_string(i), i % 2 == 0 ? 0 : 2);
    set_age(kKeepS + 1);
    for (int step = 0; step < round; ++step) {
      clock_.advance_ns(kSecond);
      history_->work();
    }
    restart();
  }
  pass(30);
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 5; ++i) {
      const std::string id = "r" + std::to_string(round) + "-" + std::to_string(i);
      EXPECT_EQ(is_there(id), i % 2 != 0) << id;
      EXPECT_EQ(has_row(id), i % 2 != 0) << id;
    }
  }
  const base::Bytes before = state();
  restart();
  EXPECT_EQ(state(), before);
  EXPECT_EQ(trouble_, "");
}

}  // namespace
}  // namespace holdfast::node
