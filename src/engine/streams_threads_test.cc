// SPDX-License-Identifier: Apache-2.0
// Streams and retention as a program uses them, on a real file system.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "env/testing.h"
#include "holdfast/engine.h"

namespace holdfast::streams_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Puts out `count` words; 0 ends the talk, `leave` takes it away.
struct Talk {
  static constexpr std::string_view kSchema = "test/Talk@1";
  std::string name;
  std::uint64_t count = 0;
  bool leave = false;
};

struct Word {
  static constexpr std::string_view kSchema = "test/Word@1";
  std::uint64_t number = 0;
};
struct Pause {
  static constexpr std::string_view kSchema = "test/Pause@1";
  std::string why;
};

struct Talker {
  static constexpr std::string_view kWorkflow = "test/Talker@1";
  struct State {
    std::uint64_t said = 0;
  };
  using Entry = std::variant<Word, Pause>;
  using Events = holdfast::Events<On<Talk, &Talk::name>>;
  using Context = holdfast::Context<Talker>;

  static void step(State& state, const Talk& talk, Context& context) {
    if (talk.leave) return context.remove();
    for (std::uint64_t i = 0; i < talk.count; ++i) context.put(Word{++state.said});
    if (talk.count != 0) return;
    context.put(Pause{"done"});
    context.complete(state.said);
  }
};

using Page = StreamPage<Talker::Entry>;

std::vector<std::string> words(const Result<Page>& page) {
  if (!page) return {page.error().message};
  std::vector<std::string> all;
  if (page->truncated != 0) all.emplace_back("truncated");
  for (const auto& [sequence, value] : page->entries) {
    const auto* word = std::get_if<Word>(&value);
    all.push_back(word != nullptr ? std::to_string(word->number) : std::get<Pause>(value).why);
  }
  if (page->end) all.emplace_back("end");
  return all;
}

class StreamsTest : public ::testing::Test {
 protected:
  EngineOptions options() {
    EngineOptions made;
    made.dir = folder_.path() + "/world";
    made.modules = {Module::of<Talker>("test/code@1")};
    made.any_file_system = true;
    made.retention = retention_;
    made.snapshot_every = 50;
    made.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_ += std::string(line) + "\n";
    };
    return made;
  }
  void open() {
    auto opened = Engine::open(options());
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }
  void reopen() {
    engine_.reset();
    open();
  }
  void talk(const std::string& name, std::uint64_t count) {
    const auto sent = engine_->send(Talk{name, count});
    ASSERT_TRUE(sent) << sent.error().message;
  }
  // All that there is, a few at a time, until the end comes.
  std::vector<std::string> read_all(const std::string& name, std::size_t limit) {
    std::vector<std::string> all;
    for (std::uint64_t after = 0;;) {
      const auto page = engine_->follow<Talker>(name, after, limit, seconds(60));
      for (const std::string& word : words(page)) all.push_back(word);
      if (!page || page->end) return all;
      after = page->last;
    }
  }
  bool comes_true(const std::function<bool()>& what) {
    for (int i = 0; i < 6000; ++i) {
      if (what()) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }

  env::testing::TemporaryFolder folder_;
  seconds retention_{0};
  std::mutex mutex_;
  std::string log_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(StreamsTest, entries_are_read_in_order_behind_a_sequence) {
  open();
  talk("Ada", 2);
  talk("Ada", 1);
  const auto page = engine_->stream<Talker>("Ada");
  EXPECT_THAT(words(page), ElementsAre("1", "2", "3"));
  EXPECT_THAT(words(engine_->stream<Talker>("Ada", page->entries[0].sequence)),
              ElementsAre("2", "3"));
  EXPECT_THAT(words(engine_->stream<Talker>("Ada", 0, 2)), ElementsAre("1", "2"));
  EXPECT_THAT(words(engine_->stream<Talker>("Ada", page->last)), ElementsAre());
  talk("Ada", 0);
  const auto end = engine_->stream<Talker>("Ada", page->last);
  EXPECT_THAT(words(end), ElementsAre("done", "end"));
  EXPECT_EQ(end->end->kind, StreamEnd::Kind::kCompleted);
  EXPECT_EQ(end->last, end->end->sequence);
}

TEST_F(StreamsTest, what_cannot_be_read_is_refused) {
  open();
  EXPECT_EQ(engine_->stream<Talker>("nobody").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(engine_->stream<Talker>("Ada", 0, 0).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(engine_->stream<Talker>("Ada", 0, 1001).error().code, ErrorCode::kInvalid);
  talk("Ada", 1);
  const auto wrong = engine_->stream<Talker, std::string>("Ada");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kCorrupt);
}

TEST_F(StreamsTest, without_history_there_are_no_streams_and_all_else_works) {
  EngineOptions without = options();
  without.history = false;
  without.retention = seconds(1);
  auto opened = Engine::open(std::move(without));
  ASSERT_TRUE(opened);
  engine_ = std::move(*opened);
  talk("Ada", 0);
  EXPECT_EQ(engine_->stream<Talker>("Ada").error().code, ErrorCode::kConflict);
  EXPECT_TRUE(engine_->wait<Talker>("Ada", seconds(60)));
  EXPECT_THAT(log_, HasSubstr("without history nothing is forgotten"));
  reopen();
  EXPECT_THAT(words(engine_->stream<Talker>("Ada")), ElementsAre("done", "end"));
}

TEST_F(StreamsTest, whoever_follows_hears_everything_once_while_it_happens) {
  open();
  std::vector<std::string> expected;
  for (int i = 1; i <= 200; ++i) expected.push_back(std::to_string(i));
  expected.emplace_back("done");
  expected.emplace_back("end");
  std::vector<std::vector<std::string>> heard(3);
  std::vector<std::thread> readers;
  for (std::size_t i = 0; i < heard.size(); ++i)
    readers.emplace_back([&, i] { heard[i] = read_all("Ada", 1 + 6 * i); });
  for (int i = 0; i < 100; ++i) talk("Ada", 2);
  talk("Ada", 0);
  for (std::thread& reader : readers) reader.join();
  for (const auto& all : heard) EXPECT_EQ(all, expected);
}

TEST_F(StreamsTest, a_stream_goes_on_after_a_restart_where_its_reader_was) {
  open();
  talk("Ada", 3);
  const std::uint64_t after = engine_->stream<Talker>("Ada", 0, 2)->last;
  reopen();
  talk("Ada", 1);
  EXPECT_THAT(words(engine_->stream<Talker>("Ada", after)), ElementsAre("3", "4"));
  for (int i = 0; i < 200; ++i) talk("Bob", 1);  // snapshots are taken, and the journal is trimmed
  reopen();
  EXPECT_THAT(words(engine_->stream<Talker>("Ada", after)), ElementsAre("3", "4"));
}

TEST_F(StreamsTest, a_removed_instance_ends_its_stream_and_the_next_one_has_its_own) {
  open();
  talk("Ada", 1);
  ASSERT_TRUE(engine_->send(Talk{"Ada", 0, true}));
  const auto gone = engine_->stream<Talker>("Ada");
  EXPECT_THAT(words(gone), ElementsAre("1", "end"));
  EXPECT_EQ(gone->end->kind, StreamEnd::Kind::kRemoved);
  talk("Ada", 2);
  EXPECT_THAT(words(engine_->stream<Talker>("Ada")), ElementsAre("1", "2"));
  EXPECT_THAT(words(engine_->stream<Talker>("Ada", gone->entries[0].sequence)),
              ElementsAre("truncated", "1", "2"));
}

TEST_F(StreamsTest, thousands_follow_and_each_is_told) {
  constexpr int kFollowers = 3000;
  open();
  std::mutex mutex;
  std::condition_variable changed;
  int told = 0;
  int wrong = 0;
  for (int i = 0; i < kFollowers; ++i) {
    const std::string name = "t" + std::to_string(i % 10);
    // The inbox is bounded: whoever finds it full tries again.
    for (bool is_in = false; !is_in;) {
      const auto is_refused = std::make_shared<std::atomic<bool>>(false);
      engine_->follow<Talker>(name, 0, 10, [&, is_refused](Result<Page> page) {
        if (!page && page.error().code == ErrorCode::kUnavailable) {
          *is_refused = true;
          return;
        }
        const std::lock_guard lock(mutex);
        ++told;
        if (!page || page->entries.empty()) ++wrong;
        changed.notify_one();
      });
      is_in = !*is_refused;
      if (!is_in) std::this_thread::sleep_for(milliseconds(1));
    }
  }
  for (int i = 0; i < 10; ++i) talk("t" + std::to_string(i), 1);
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, seconds(60), [&] { return told == kFollowers; })) << told;
  EXPECT_EQ(wrong, 0);
}

TEST_F(StreamsTest, whoever_does_not_want_to_wait_any_more_is_let_go_of) {
  open();
  std::promise<Result<Page>> answer;
  auto told = answer.get_future();
  const Engine::Stop stop = engine_->follow<Talker>(
      "Ada", 0, 10, [&](Result<Page> page) { answer.set_value(std::move(page)); });
  stop();
  ASSERT_EQ(told.wait_for(seconds(60)), std::future_status::ready);
  EXPECT_EQ(told.get().error().code, ErrorCode::kEnded);
  stop();
  EXPECT_EQ(engine_->follow<Talker>("Ada", 0, 10, milliseconds(20)).error().code,
            ErrorCode::kTimedOut);
  talk("Ada", 1);
  EXPECT_THAT(words(engine_->stream<Talker>("Ada")), ElementsAre("1"));
}

TEST_F(StreamsTest, whoever_follows_is_told_that_the_engine_closes) {
  open();
  talk("Ada", 1);
  const std::uint64_t after = engine_->stream<Talker>("Ada")->last;
  std::vector<std::promise<ErrorCode>> told(2);
  engine_->follow<Talker>("Ada", after, 10,
                          [&](Result<Page> page) { told[0].set_value(page.error().code); });
  engine_->follow<Talker>("nobody", 0, 10,
                          [&](Result<Page> page) { told[1].set_value(page.error().code); });
  ASSERT_TRUE(engine_->close());
  for (auto& each : told) EXPECT_EQ(each.get_future().get(), ErrorCode::kEnded);
  EXPECT_EQ(engine_->stream<Talker>("Ada").error().code, ErrorCode::kEnded);
}

TEST_F(StreamsTest, the_index_follows_and_a_damaged_one_is_begun_anew) {
  open();
  talk("Ada", 2);
  EXPECT_TRUE(comes_true([&] { return engine_->figures().history_lag == 0; }));
  engine_.reset();
  const std::string index = folder_.path() + "/world/history.db";
  ASSERT_TRUE(std::filesystem::exists(index));
  {
    std::ofstream file(index, std::ios::binary | std::ios::in | std::ios::out);
    file << std::string(8192, 'x');
  }
  open();
  talk("Ada", 1);
  EXPECT_TRUE(comes_true([&] { return engine_->figures().history_is_well; }));
  EXPECT_TRUE(comes_true([&] {
    return words(engine_->stream<Talker>("Ada")) == std::vector<std::string>{"1", "2", "3"};
  }));
  EXPECT_GE(engine_->figures().history_failures, 1u);
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(log_, HasSubstr("history"));
}

TEST_F(StreamsTest, what_ended_is_forgotten_after_its_time_and_its_key_begins_again) {
  retention_ = seconds(1);
  open();
  std::promise<bool> ended;  // waited for before, as it may be forgotten soon after
  engine_->wait<Talker>("Ada", [&](Result<Instance<Talker>> told) { ended.set_value(bool(told)); });
  talk("Ada", 0);
  talk("Bob", 1);
  ASSERT_TRUE(ended.get_future().get());
  EXPECT_TRUE(comes_true([&] {
    const auto seen = engine_->query<Talker>("Ada");
    return !seen && seen.error().code == ErrorCode::kNotFound;
  }));
  EXPECT_TRUE(comes_true([&] {
    const auto page = engine_->stream<Talker>("Ada");
    return !page && page.error().code == ErrorCode::kNotFound;
  }));
  EXPECT_TRUE(engine_->query<Talker>("Bob"));
  reopen();
  EXPECT_FALSE(engine_->query<Talker>("Ada"));
  talk("Ada", 1);
  EXPECT_THAT(words(engine_->stream<Talker>("Ada")), ElementsAre("1"));
}

TEST_F(StreamsTest, who_goes_on_with_what_is_forgotten_meanwhile_is_told_the_end) {
  retention_ = seconds(1);
  open();
  talk("Ada", 5);
  const auto part = engine_->stream<Talker>("Ada", 0, 2);
  ASSERT_THAT(words(part), ElementsAre("1", "2"));
  talk("Ada", 0);  // from now on it may be forgotten at any time
  EXPECT_TRUE(comes_true([&] {
    const auto page = engine_->stream<Talker>("Ada");
    return !page && page.error().code == ErrorCode::kNotFound;
  }));
  for (const std::uint64_t after : {part->last, std::uint64_t{0}}) {
    std::promise<Result<RawStreamPage>> answer;
    auto told = answer.get_future();
    engine_->go_on_raw("test/Talker@1", Bytes{0x63, 'A', 'd', 'a'}, after, PartLimits(),
                       [&](Result<RawStreamPage> page) { answer.set_value(std::move(page)); });
    ASSERT_EQ(told.wait_for(seconds(60)), std::future_status::ready) << "it waits for nothing";
    const auto page = told.get();
    ASSERT_TRUE(page) << page.error().message;
    ASSERT_TRUE(page->end);
    EXPECT_EQ(page->end->kind, StreamEnd::Kind::kForgotten);
    EXPECT_EQ(page->end->sequence, after);
  }
}

TEST_F(StreamsTest, a_retention_that_cannot_be_is_refused) {
  for (const seconds wrong : {seconds(-1), seconds::max()}) {
    retention_ = wrong;
    EXPECT_EQ(Engine::open(options()).error().code, ErrorCode::kInvalid);
  }
}

TEST_F(StreamsTest, a_callback_may_read_on) {
  open();
  for (int i = 0; i < 20; ++i) talk("Ada", 1);
  talk("Ada", 0);
  std::promise<int> pages;
  int count = 0;
  std::function<void(Result<Page>)> next = [&](Result<Page> page) {
    ++count;
    if (!page || page->end) return pages.set_value(count);
    engine_->follow<Talker>("Ada", page->last, 3, next);
  };
  engine_->follow<Talker>("Ada", 0, 3, next);
  EXPECT_EQ(pages.get_future().get(), 7);
}

}  // namespace
}  // namespace holdfast::streams_test
