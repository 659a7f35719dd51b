// SPDX-License-Identifier: Apache-2.0
// The rules that all executors share, held against each of them.
#include <thread>

#include "executors/blob.h"
#include "executors/echo.h"
#include "executors/functions.h"
#include "executors/http.h"
#include "executors/process.h"
#include "executors/testing.h"
#include "executors/testing_blobs.h"
#include "executors/testing_server.h"
#include "executors/timers.h"

namespace holdfast::executors {
namespace {

using testing::intent;
using testing::name;
using testing::value;

// Timers as a node has them: they fire when somebody looks.
class FiredTimers : public Executor {
 public:
  void start(const kernel::OpenIntent& open, Reports& reports) override {
    const std::lock_guard lock(mutex_);
    timers_.start(open, reports);
    timers_.fire(1'000, 1'000);
  }
  void stop(const base::Hash& stopped) override {
    const std::lock_guard lock(mutex_);
    timers_.stop(stopped);
  }

 private:
  std::mutex mutex_;
  Timers timers_;
};

struct Kind {
  const char* name;
  bool goes_on;  // there is a way to be under way for long
};

class ConformanceTest : public ::testing::TestWithParam<Kind> {
 protected:
  ConformanceTest() {
    const std::string_view kind = GetParam().name;
    if (kind == "echo") {
      executor_ = std::make_unique<Echo>();
      quick_ = long_ = value("sys/SecretRef@1", R"({"alias":"a","version":1})");
    } else if (kind == "timer") {
      executor_ = std::make_unique<FiredTimers>();
      quick_ = value("sys/TimerSetParams@1", R"({"deliver_at_ns":1})");
      long_ = value("sys/TimerSetParams@1", R"({"deliver_at_ns":100000000000000000})");
    } else if (kind == "process") {
      executor_ = std::move(*process_executor(
          {.programs = {"/bin/true", "/bin/sleep"}, .grace_ns = 1'000'000}, *clock_, nullptr));
      quick_ = value("sys/ProcessRunParams@1", R"({"argv":["/bin/true"]})");
      long_ = value("sys/ProcessRunParams@1", R"({"argv":["/bin/sleep","1000"]})");
    } else if (kind == "http") {
      executor_ = std::move(*http_executor({.hosts = {{"127.0.0.1", 0, true}}}, {*clock_}));
      const std::string head = R"({"method":"GET","url":")";
      quick_ = value("sys/HttpRequestParams@2", head + server_.url() + "\"}");
      long_ = value("sys/HttpRequestParams@2", head + server_.url("/hang") + "\"}");
    } else if (kind == "functions") {
      const auto effect = std::make_shared<kernel::EffectProgram>();
      effect->name = "t/work@1";
      effect_ = effect;
      executor_ = std::make_unique<Functions>(work(), FunctionOptions{});
      quick_ = testing::any_value("false");
      long_ = testing::any_value("true");
    } else if (kind == "blob.put") {
      executor_ = blob_put_executor({}, blobs_);
      quick_ = long_ = value("sys/BlobPutParams@1", R"({"bytes":"aGVsbG8="})");
    } else {
      executor_ = blob_get_executor({}, blobs_);
      const base::Hash hash = blobs_.put(base::as_bytes("hello"));
      quick_ = long_ = value("sys/BlobGetParams@1", R"({"blob_ref":")" + hash.to_text() + "\"}");
    }
  }
  void start_quick(std::uint64_t n) { start(n, quick_); }
  void start_long(std::uint64_t n) { start(n, long_); }
  void start(std::uint64_t n, const base::Bytes& params) {
    kernel::OpenIntent open = intent(n, params);
    open.effect = effect_;
    executor_->start(open, heard_);
  }

  // Goes on until it is stopped, if it is told to.
  static std::map<std::string, Function, std::less<>> work() {
    return {{"t/work@1", [](const kernel::OpenIntent& open, const StopFlag& stopped, Progress&) {
               const bool goes_on = codec::View::of(open.params).boolean().value();
               while (goes_on && !stopped)
                 std::this_thread::sleep_for(std::chrono::milliseconds(1));
               return Receipt{kernel::ReceiptStatus::kOk, {0xf6}};
             }}};
  }

  std::unique_ptr<env::Clock> clock_ = env::posix_clock();
  testing::MemoryBlobs blobs_;
  testing::Server server_{[](const std::string& request) {
    return request.starts_with("GET /hang") ? std::string() : testing::answer("x");
  }};
  testing::Heard heard_;
  base::Bytes quick_;
  base::Bytes long_;
  std::shared_ptr<const kernel::EffectProgram> effect_;
  std::unique_ptr<Executor> executor_;
};

TEST_P(ConformanceTest, every_intent_gets_one_receipt) {
  for (std::uint64_t n = 0; n < 20; ++n) start_quick(n);
  for (std::uint64_t n = 0; n < 20; ++n)
    EXPECT_EQ(heard_.wait_for(n).status, kernel::ReceiptStatus::kOk);
  executor_->shut_down();
  for (std::uint64_t n = 0; n < 20; ++n) EXPECT_EQ(heard_.count(n), 1u);
}

TEST_P(ConformanceTest, what_is_under_way_is_known_when_it_is_told_again) {
  if (!GetParam().goes_on) GTEST_SKIP() << "it is over at once";
  start_long(1);
  start_long(1);
  executor_->stop(name(1));
  start_quick(2);
  heard_.wait_for(2);
  executor_->shut_down();
  EXPECT_EQ(heard_.count(1), 0u) << "one start was left over, and was ended";
}

TEST_P(ConformanceTest, a_stop_of_one_that_is_not_known_or_is_over_is_ignored) {
  executor_->stop(name(9));
  start_quick(1);
  heard_.wait_for(1);
  executor_->stop(name(1));
  executor_->stop(name(1));
  start_quick(2);
  EXPECT_EQ(heard_.wait_for(2).status, kernel::ReceiptStatus::kOk);
  executor_->shut_down();
  EXPECT_EQ(heard_.count(1), 1u);
}

TEST_P(ConformanceTest, one_that_was_stopped_does_not_keep_others_waiting) {
  if (!GetParam().goes_on) GTEST_SKIP() << "it is over at once";
  for (std::uint64_t n = 0; n < 10; ++n) start_long(n);
  for (std::uint64_t n = 0; n < 10; ++n) executor_->stop(name(n));
  for (std::uint64_t n = 10; n < 20; ++n) start_quick(n);
  for (std::uint64_t n = 10; n < 20; ++n) heard_.wait_for(n);
  for (std::uint64_t n = 0; n < 10; ++n) EXPECT_EQ(heard_.count(n), 0u);
}

TEST_P(ConformanceTest, ending_is_quiet_and_can_be_repeated) {
  for (std::uint64_t n = 0; n < 5; ++n) start_long(n);
  executor_->shut_down();
  std::size_t receipts = 0;
  for (std::uint64_t n = 0; n < 5; ++n) receipts += heard_.count(n);
  if (GetParam().goes_on) {
    EXPECT_EQ(receipts, 0u);
  }
  executor_->stop(name(0));
  executor_->shut_down();
  executor_.reset();
  std::size_t later = 0;
  for (std::uint64_t n = 0; n < 5; ++n) later += heard_.count(n);
  EXPECT_EQ(later, receipts) << "nothing is reported afterwards";
}

TEST_P(ConformanceTest, orders_may_come_from_several_threads) {
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, thread] {
      for (std::uint64_t n = 0; n < 10; ++n) {
        start_quick(thread * 100 + n);
        executor_->stop(name(thread * 100 + 50 + n));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    for (std::uint64_t n = 0; n < 10; ++n) heard_.wait_for(thread * 100 + n);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConformanceTest,
                         ::testing::Values(Kind{"echo", false}, Kind{"timer", true},
                                           Kind{"process", true}, Kind{"http", true},
                                           Kind{"functions", true}, Kind{"blob.put", false},
                                           Kind{"blob.get", false}),
                         [](const auto& kind) {
                           std::string called = kind.param.name;
                           std::replace(called.begin(), called.end(), '.', '_');
                           return called;
                         });

// One that dies when it is told to perform something, in the way it is told.
class Mortal : public Performer {
 public:
  enum class Way { kThrows, kThrowsNumber, kLeaves };
  explicit Mortal(Way way) : way_(way) {}
  void perform(Desk& desk) override {
    while (true) {
      const Orders orders = desk.take(1);
      if (orders.end) return;
      if (!orders.starts.empty()) {
        if (way_ == Way::kThrows) throw std::runtime_error("out of luck");
        if (way_ == Way::kThrowsNumber) throw 7;
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void wake() noexcept override {}

 private:
  Way way_;
};

TEST(ThreadExecutor, one_that_dies_yields_error_receipts_for_all_that_is_and_will_be_open) {
  for (const Mortal::Way way :
       {Mortal::Way::kThrows, Mortal::Way::kThrowsNumber, Mortal::Way::kLeaves}) {
    testing::Heard heard;
    ThreadExecutor executor(std::make_unique<Mortal>(way), 100);
    for (std::uint64_t n = 0; n < 5; ++n) executor.start(intent(n, {0xf6}), heard);
    for (std::uint64_t n = 0; n < 5; ++n) {
      const testing::HeardReceipt receipt = heard.wait_for(n);
      EXPECT_EQ(receipt.code(), "executor.died");
      EXPECT_EQ(testing::refusal("sys/EffectError@1", receipt), "");
    }
    executor.start(intent(9, {0xf6}), heard);
    EXPECT_EQ(heard.wait_for(9).code(), "executor.died");
    executor.stop(name(9));
    executor.shut_down();
    for (std::uint64_t n = 0; n < 5; ++n) EXPECT_EQ(heard.count(n), 1u);
    if (way == Mortal::Way::kThrows) {
      EXPECT_NE(heard.wait_for(0).text("message").find("out of luck"), std::string::npos);
    }
  }
}

TEST(Desk, one_that_is_told_again_is_heard_of_at_the_newest_place) {
  Desk desk(10);
  testing::Heard before;
  testing::Heard after;
  EXPECT_TRUE(desk.start(intent(1, {0xf6}), before));
  EXPECT_FALSE(desk.start(intent(1, {0xf6}), after));
  EXPECT_EQ(desk.take(10).starts.size(), 1u);
  EXPECT_TRUE(desk.take(10).starts.empty());
  desk.done(name(1), {});
  desk.done(name(1), {});
  EXPECT_EQ(before.count(1), 0u);
  EXPECT_EQ(after.count(1), 1u);
}

TEST(Desk, the_params_of_what_waits_are_bounded) {
  Desk desk(1000);
  testing::Heard heard;
  const base::Bytes large(std::size_t{16} << 20);
  for (std::uint64_t n = 0; n < 17; ++n) {
    kernel::OpenIntent open = intent(n, {0xf6});
    open.params = large;
    desk.start(open, heard);
  }
  EXPECT_EQ(heard.wait_for(16).code(), "executor.busy");
  desk.stop(name(0));
  EXPECT_EQ(desk.take(1).starts.size(), 1u);
  for (std::uint64_t n = 17; n < 20; ++n) {
    kernel::OpenIntent open = intent(n, {0xf6});
    open.params = large;
    EXPECT_EQ(desk.start(open, heard), n < 19) << n;
  }
}

// Intents 0 to 99 are of one workflow, the others of another.
kernel::OpenIntent of_workflow(std::uint64_t n) {
  kernel::OpenIntent open = intent(n, {0xf6});
  open.workflow = n < 100 ? "t/Long@1" : "t/Short@1";
  return open;
}

std::vector<base::Hash> taken(Desk& desk, std::size_t places) {
  std::vector<base::Hash> all;
  for (const kernel::OpenIntent& open : desk.take(places).starts) all.push_back(open.intent);
  return all;
}

TEST(Desk, workflows_take_turns) {
  Desk desk(1000);
  testing::Heard heard;
  for (std::uint64_t n = 0; n < 100; ++n) desk.start(of_workflow(n), heard);
  for (std::uint64_t n = 100; n < 102; ++n) desk.start(of_workflow(n), heard);
  EXPECT_EQ(taken(desk, 5),
            (std::vector<base::Hash>{name(0), name(100), name(1), name(101), name(2)}));
}

TEST(Desk, one_share_leaves_places_for_the_others_however_many_are_filled) {
  std::map<base::Hash, std::string> hosts;
  Desk desk(1000, [&](const kernel::OpenIntent& open) { return hosts.at(open.intent); });
  testing::Heard heard;
  std::uint64_t next = 0;
  const auto start = [&](const std::string& host, std::uint64_t count) {
    for (; count > 0; --count, ++next) {
      hosts[name(next)] = host;
      desk.start(intent(next, {0xf6}), heard);
    }
  };
  std::size_t places = 64;
  const auto takes = [&] {
    const std::size_t now = taken(desk, places).size();
    places -= now;
    return now;
  };
  start("silent", 100);
  EXPECT_EQ(takes(), 32u);
  start("silent too", 100);
  EXPECT_EQ(takes(), 16u);
  start("well", 2);
  EXPECT_EQ(takes(), 2u);
  EXPECT_EQ(takes(), 0u) << "those that wait are of the silent ones";
  desk.done(name(0), {});
  ++places;
  EXPECT_EQ(takes(), 0u) << "it has more than there are places left";
}

TEST(Desk, what_is_late_is_forgotten_while_it_waits_and_is_the_executors_when_it_is_under_way) {
  Desk desk(10);
  testing::Heard heard;
  desk.start(intent(1, {0xf6}), heard);
  desk.start(intent(2, {0xf6}), heard);
  EXPECT_EQ(taken(desk, 1), std::vector<base::Hash>{name(1)});
  EXPECT_TRUE(desk.end_late(name(2)));
  EXPECT_TRUE(desk.end_late(name(3))) << "it is not known";
  EXPECT_FALSE(desk.end_late(name(1)));
  const Orders orders = desk.take(10);
  EXPECT_TRUE(orders.starts.empty());
  EXPECT_EQ(orders.late, std::vector<base::Hash>{name(1)});
  desk.done(name(1), timed_out("t.timeout", ""));
  EXPECT_EQ(heard.wait_for(1).status, kernel::ReceiptStatus::kTimeout);
  EXPECT_EQ(heard.count(2), 0u);
}

TEST(Desk, one_share_waits_in_a_quarter_of_the_room) {
  Desk desk(8, [](const kernel::OpenIntent& open) { return std::string(open.workflow); });
  testing::Heard heard;
  for (std::uint64_t n = 0; n < 2; ++n) EXPECT_TRUE(desk.start(of_workflow(n), heard));
  EXPECT_FALSE(desk.has_room(of_workflow(2)));
  EXPECT_TRUE(desk.has_room(of_workflow(100)));
  desk.stop(name(0));
  EXPECT_TRUE(desk.has_room(of_workflow(2)));
}

TEST(Desk, hands_out_as_many_as_asked_for_in_their_order) {
  Desk desk(3);
  testing::Heard heard;
  for (std::uint64_t n = 1; n <= 4; ++n) desk.start(intent(n, {0xf6}), heard);
  EXPECT_EQ(heard.wait_for(4).code(), "executor.busy");
  EXPECT_FALSE(desk.stop(name(2))) << "it is not under way";
  Orders orders = desk.take(1);
  ASSERT_EQ(orders.starts.size(), 1u);
  EXPECT_EQ(orders.starts[0].intent, name(1));
  EXPECT_TRUE(desk.stop(name(1)));
  EXPECT_FALSE(desk.stop(name(1)));
  orders = desk.take(10);
  ASSERT_EQ(orders.starts.size(), 1u);
  EXPECT_EQ(orders.starts[0].intent, name(3));
  EXPECT_EQ(orders.stops, std::vector{name(1)});
  desk.done(name(1), {});
  desk.end();
  EXPECT_TRUE(desk.take(1).end);
  desk.done(name(3), {});
  EXPECT_EQ(heard.count(1) + heard.count(3), 0u) << "stopped, and ended";
}

}  // namespace
}  // namespace holdfast::executors
