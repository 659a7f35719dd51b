// SPDX-License-Identifier: Apache-2.0
// An engine as a program uses it, on a real file system.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/testing_greeting.h"
#include "env/posix_disk.h"
#include "env/testing.h"
#include "holdfast/engine.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using engine::testing::Greet;
using engine::testing::Greeting;
using engine::testing::Nudge;
using engine::testing::Say;

class EngineTest : public ::testing::Test {
 protected:
  using Speak = std::function<Performed<Say>(const Say::Params&, const Call&)>;

  EngineOptions options() {
    EngineOptions made;
    made.dir = folder_.path() + "/world";
    made.modules = {Module::of<Greeting>("test/code@1")};
    made.handlers = {handle<Say>(
        [this](const Say::Params& params, const Call& call) { return speak_(params, call); })};
    made.any_file_system = true;
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

  env::testing::TemporaryFolder folder_;
  Speak speak_ = [](const Say::Params& params, const Call&) {
    return Say::Receipt{"<" + params.text + ">"};
  };
  std::mutex mutex_;
  std::string log_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, an_event_begins_an_instance_that_runs_to_its_end) {
  open();
  const auto sent = engine_->send(Greet{"Ada", 2});
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_EQ(sent->deliveries, 1u);
  const auto ended = engine_->wait<Greeting>("Ada", seconds(60));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->status, InstanceStatus::kCompleted);
  EXPECT_EQ(ended->result_as<std::string>(), "<hello Ada><again>");
  EXPECT_EQ(ended->state.left, 0u);
}

TEST_F(EngineTest, what_has_ended_is_there_after_a_restart_and_runs_no_code) {
  open();
  ASSERT_TRUE(engine_->send(Greet{"Ada", 1}));
  ASSERT_TRUE(engine_->wait<Greeting>("Ada", seconds(60)));
  std::atomic<int> calls = 0;
  speak_ = [&](const Say::Params&, const Call&) { return ++calls, Say::Receipt{}; };
  reopen();
  const auto ended = engine_->wait<Greeting>("Ada", seconds(60));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->result_as<std::string>(), "<hello Ada>");
  EXPECT_EQ(calls, 0);
  EXPECT_NE(log_.find("ready: 0 effects open"), std::string::npos) << log_;
}

// As a write that was torn leaves it: bytes behind the last batch that are none.
TEST_F(EngineTest, what_recovery_did_is_logged) {
  open();
  ASSERT_TRUE(engine_->send(Greet{"Ada", 1}));
  engine_.reset();
  log_.clear();
  const std::string journal = folder_.path() + "/world/journal";
  const std::string segment = journal + "/000000000001.log";
  {
    const auto disk = env::posix_disk();
    const auto file = disk->open(segment, env::OpenMode::kReadWrite).take();
    const std::uint64_t end = file->size().take();
    ASSERT_TRUE(env::write_all(*file, end - 8192, base::Bytes(4096, 0x5a)));
  }
  open();
  EXPECT_NE(log_.find("recovery: journal was not closed: copied "), std::string::npos) << log_;
  EXPECT_NE(log_.find(" torn bytes off " + segment + " at "), std::string::npos) << log_;
  EXPECT_NE(log_.find(", copy in " + journal + "/torn-1-"), std::string::npos) << log_;
  ASSERT_TRUE(engine_->close());
  log_.clear();
  reopen();
  EXPECT_EQ(log_.find("recovery:"), std::string::npos) << log_;
}

TEST_F(EngineTest, what_was_under_way_goes_on_after_a_restart_under_the_same_key) {
  std::mutex mutex;
  std::set<std::string> keys;
  std::atomic<bool> began = false;
  speak_ = [&](const Say::Params&, const Call& call) -> Performed<Say> {
    {
      const std::lock_guard lock(mutex);
      keys.insert(call.key);
    }
    began = true;
    while (!call.stopped()) std::this_thread::sleep_for(milliseconds(1));
    return Say::Receipt{"nobody hears this"};
  };
  open();
  ASSERT_TRUE(engine_->send(Greet{"Ada", 1}));
  while (!began) std::this_thread::sleep_for(milliseconds(1));
  engine_.reset();
  speak_ = [&](const Say::Params&, const Call& call) -> Performed<Say> {
    const std::lock_guard lock(mutex);
    keys.insert(call.key);
    return Say::Receipt{"done"};
  };
  open();
  const auto ended = engine_->wait<Greeting>("Ada", seconds(60));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->result_as<std::string>(), "done");
  EXPECT_EQ(keys.size(), 1u);
}

TEST_F(EngineTest, an_event_under_its_id_happens_once_also_after_a_restart) {
  open();
  ASSERT_TRUE(engine_->send(Greet{"Ada", 1}, {.id = "web-1"}));
  const auto again = engine_->send(Greet{"Ada", 1}, {.id = "web-1"});
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->is_repeated);
  reopen();
  const auto later = engine_->send(Greet{"Ada", 1}, {.id = "web-1"});
  ASSERT_TRUE(later);
  EXPECT_TRUE(later->is_repeated);
  EXPECT_EQ(later->record, again->record);
}

TEST_F(EngineTest, start_begins_one_instance_and_only_once) {
  open();
  const auto started = engine_->start<Greeting>("Ada", Greet{"Ada", 1}, {.id = "s-1"});
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_TRUE(engine_->start<Greeting>("Ada", Greet{"Ada", 1}, {.id = "s-1"})->is_repeated);
  const auto other = engine_->start<Greeting>("Ada", Greet{"Ada", 3});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kConflict);
}

TEST_F(EngineTest, a_workflow_that_fails_says_why) {
  open();
  ASSERT_TRUE(engine_->send(Greet{"Ada", 0}));
  const auto ended = engine_->wait<Greeting>("Ada", seconds(60));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, InstanceStatus::kFailed);
  ASSERT_TRUE(ended->error);
  EXPECT_EQ(ended->error->code, "nothing_to_say");
  EXPECT_FALSE(ended->result_as<std::string>());
}

TEST_F(EngineTest, errors_and_exceptions_of_a_handler_reach_the_workflow) {
  speak_ = [](const Say::Params& params, const Call&) -> Performed<Say> {
    if (params.text == "hello Ada") return EffectError{"hoarse", "cannot speak", true};
    throw std::runtime_error("lost my voice");
  };
  open();
  ASSERT_TRUE(engine_->send(Greet{"Ada", 1}));
  ASSERT_TRUE(engine_->send(Greet{"Bob", 1}));
  EXPECT_EQ(engine_->wait<Greeting>("Ada", seconds(60))->error->code, "hoarse");
  EXPECT_EQ(engine_->wait<Greeting>("Bob", seconds(60))->error->code, "handler.exception");
}

TEST_F(EngineTest, a_question_sees_what_was_sent_before) {
  speak_ = [](const Say::Params&, const Call& call) -> Performed<Say> {
    while (!call.stopped()) std::this_thread::sleep_for(milliseconds(1));
    return Say::Receipt{};
  };
  open();
  EXPECT_EQ(engine_->query<Greeting>("Ada").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(engine_->send(Greet{"Ada", 7}));
  ASSERT_TRUE(engine_->send(Nudge{"Ada"}));
  const auto seen = engine_->query<Greeting>("Ada");
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->status, InstanceStatus::kWaiting);
  EXPECT_EQ(seen->state.left, 7u);
  EXPECT_EQ(seen->state.heard, "!");
}

TEST_F(EngineTest, a_cancelled_instance_stops_its_handler_and_ends) {
  std::atomic<bool> stopped = false;
  std::atomic<bool> began = false;
  speak_ = [&](const Say::Params&, const Call& call) -> Performed<Say> {
    began = true;
    while (!call.stopped()) std::this_thread::sleep_for(milliseconds(1));
    stopped = true;
    return Say::Receipt{};
  };
  open();
  EXPECT_EQ(engine_->cancel<Greeting>("Ada", "why not").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(engine_->send(Greet{"Ada", 1}));
  while (!began) std::this_thread::sleep_for(milliseconds(1));
  ASSERT_TRUE(engine_->cancel<Greeting>("Ada", "enough"));
  while (!stopped) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(engine_->wait<Greeting>("Ada", seconds(60))->status, InstanceStatus::kCancelled);
}

TEST_F(EngineTest, a_paused_instance_takes_its_receipt_when_it_is_resumed) {
  open();
  std::atomic<bool> may_speak = false;
  speak_ = [&](const Say::Params&, const Call& call) -> Performed<Say> {
    while (!may_speak && !call.stopped()) std::this_thread::sleep_for(milliseconds(1));
    return Say::Receipt{"ok"};
  };
  ASSERT_TRUE(engine_->send(Greet{"Ada", 1}));
  ASSERT_TRUE(engine_->pause<Greeting>("Ada", "let me see"));
  may_speak = true;
  EXPECT_EQ(engine_->wait<Greeting>("Ada", milliseconds(50)).error().code, ErrorCode::kTimedOut);
  EXPECT_TRUE(engine_->query<Greeting>("Ada")->is_paused);
  ASSERT_TRUE(engine_->resume<Greeting>("Ada", "seen"));
  EXPECT_EQ(engine_->wait<Greeting>("Ada", seconds(60))->status, InstanceStatus::kCompleted);
}

TEST_F(EngineTest, whoever_waits_is_told_that_the_engine_closes) {
  open();
  std::promise<Result<Instance<Greeting>>> told;
  engine_->wait<Greeting>(
      "nobody", [&](Result<Instance<Greeting>> ended) { told.set_value(std::move(ended)); });
  ASSERT_TRUE(engine_->close());
  EXPECT_EQ(told.get_future().get().error().code, ErrorCode::kEnded);
  EXPECT_EQ(engine_->send(Greet{"Ada", 1}).error().code, ErrorCode::kEnded);
  EXPECT_EQ(engine_->query<Greeting>("Ada").error().code, ErrorCode::kEnded);
}

TEST_F(EngineTest, a_handler_that_waits_for_an_end_does_not_keep_the_engine_from_closing) {
  std::promise<ErrorCode> told;
  std::atomic<bool> began = false;
  speak_ = [&](const Say::Params&, const Call&) -> Performed<Say> {
    began = true;
    told.set_value(engine_->wait<Greeting>("nobody", std::chrono::hours(1)).error().code);
    return Say::Receipt{};
  };
  open();
  ASSERT_TRUE(engine_->send(Greet{"Ada", 1}));
  while (!began) std::this_thread::sleep_for(milliseconds(1));
  ASSERT_TRUE(engine_->close());
  EXPECT_EQ(told.get_future().get(), ErrorCode::kEnded);
}

TEST_F(EngineTest, a_callback_that_is_not_waited_for_any_more_is_told_so_once) {
  open();
  std::atomic<int> told = 0;
  std::promise<ErrorCode> code;
  const WaitId wait = engine_->wait<Greeting>("Ada", [&](Result<Instance<Greeting>> ended) {
    if (++told == 1) code.set_value(ended.error().code);
  });
  engine_->stop_waiting(wait);
  EXPECT_EQ(code.get_future().get(), ErrorCode::kEnded);
  engine_->stop_waiting(wait);
  engine_->stop_waiting({4711});
  ASSERT_TRUE(engine_->send(Greet{"Ada", 1}));
  ASSERT_TRUE(engine_->wait<Greeting>("Ada", seconds(60)));
  ASSERT_TRUE(engine_->close());
  engine_->stop_waiting(wait);
  EXPECT_EQ(told, 1);
}

TEST_F(EngineTest, only_so_many_wait_and_the_others_are_told_at_once) {
  open();
  constexpr int kMost = 1 << 16;
  std::atomic<int> refused = 0;
  std::atomic<int> ended = 0;
  std::vector<WaitId> waits;
  for (int i = 0; i < kMost + 100; ++i) {
    waits.push_back(engine_->wait<Greeting>("nobody", [&](Result<Instance<Greeting>> told) {
      ++(told.error().code == ErrorCode::kUnavailable ? refused : ended);
    }));
    if (i % 1000 == 0) static_cast<void>(engine_->query<Greeting>("nobody"));  // it keeps up
  }
  static_cast<void>(engine_->query<Greeting>("nobody"));
  EXPECT_EQ(refused, 100);
  for (std::size_t i = 0; i < waits.size(); ++i) {
    engine_->stop_waiting(waits[i]);
    if (i % 1000 == 0) static_cast<void>(engine_->query<Greeting>("nobody"));
  }
  static_cast<void>(engine_->query<Greeting>("nobody"));
  EXPECT_TRUE(engine_->send(Greet{"Ada", 1}));
  EXPECT_TRUE(engine_->wait<Greeting>("Ada", seconds(60))) << "there is room again";
  EXPECT_TRUE(engine_->close());  // before what the callbacks refer to goes
  EXPECT_EQ(ended, kMost);
}

TEST(Result, one_that_is_asked_for_what_it_does_not_have_throws) {
  const Result<int> good = 7;
  const Result<int> bad = Error{ErrorCode::kIo, "no"};
  EXPECT_EQ(*good, 7);
  EXPECT_THROW(static_cast<void>(*bad), std::bad_variant_access);
  EXPECT_THROW(static_cast<void>(good.error()), std::bad_variant_access);
}

TEST_F(EngineTest, a_handler_or_a_callback_cannot_close_it) {
  std::promise<ErrorCode> by_handler;
  speak_ = [&](const Say::Params&, const Call&) -> Performed<Say> {
    by_handler.set_value(engine_->close().error().code);
    return Say::Receipt{};
  };
  open();
  std::promise<ErrorCode> by_callback;
  engine_->send(Greet{"Ada", 1}, {},
                [&](Result<Sent>) { by_callback.set_value(engine_->close().error().code); });
  EXPECT_EQ(by_handler.get_future().get(), ErrorCode::kConflict);
  EXPECT_EQ(by_callback.get_future().get(), ErrorCode::kConflict);
  EXPECT_TRUE(engine_->wait<Greeting>("Ada", seconds(60)));
  EXPECT_TRUE(engine_->close());
}

TEST_F(EngineTest, handlers_without_a_thread_are_refused) {
  EngineOptions wrong = options();
  wrong.handler_threads = 0;
  EXPECT_EQ(Engine::open(std::move(wrong)).error().code, ErrorCode::kInvalid);
}

TEST_F(EngineTest, an_effect_without_handler_is_refused_before_anything_runs) {
  EngineOptions wrong = options();
  wrong.handlers.clear();
  const auto opened = Engine::open(std::move(wrong));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(opened.error().message, "test/say@1: the effect has no handler");
}

TEST_F(EngineTest, two_handlers_of_one_effect_are_refused) {
  EngineOptions wrong = options();
  wrong.handlers.push_back(wrong.handlers.front());
  EXPECT_EQ(Engine::open(std::move(wrong)).error().message, "test/say@1: it has two handlers");
}

TEST_F(EngineTest, a_world_that_is_open_is_not_opened_twice) {
  open();
  const auto second = Engine::open(options());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
}

TEST_F(EngineTest, many_threads_send_and_wait) {
  open();
  std::vector<std::thread> threads;
  std::atomic<int> ended = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const std::string name = std::to_string(t) + "-" + std::to_string(i);
        if (!engine_->send(Greet{name, 2}, {.id = name})) return;
        if (engine_->wait<Greeting>(name, seconds(60))) ++ended;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended, 100);
}

}  // namespace
}  // namespace holdfast
