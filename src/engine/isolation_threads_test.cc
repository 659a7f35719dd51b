// SPDX-License-Identifier: Apache-2.0
// What goes wrong with one instance is that instance's own: an engine on a real file system.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include "base/testing.h"
#include "env/testing.h"
#include "holdfast/engine.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

struct Eat {
  static constexpr std::string_view kSchema = "test/Eat@1";
  std::string id;
  std::string what;
};

struct Digest {
  static constexpr std::string_view kEffect = "test/digest@1";
  static constexpr Executor kExecutor = worker("test");
  struct Params {};
  struct Receipt {};
};

std::atomic<bool> has_memory = false;

// "much": runs out of memory when its timer rings. "slow": waits for an effect. Else it keeps what
// it has got, and is over.
struct Hungry {
  static constexpr std::string_view kWorkflow = "test/Hungry@1";
  struct State {
    std::string what;
  };
  using Events = holdfast::Events<On<Eat, &Eat::id>>;
  using Effects = holdfast::Effects<Timer, Digest>;
  using Context = holdfast::Context<Hungry>;

  static void step(State& state, const Eat& eat, Context& context) {
    state.what = eat.what;
    if (eat.what == "much") return void(context.timer(context.now()));
    if (eat.what == "slow") return void(context.open<Digest>({}));
    context.complete(true);
  }
  static void step(State&, const Received<Timer>&, Context& context) {
    if (!has_memory) throw std::bad_alloc();
    context.complete(true);
  }
  static void step(State&, const Received<Digest>& done, Context& context) {
    if (!done.ok()) return context.fail(done.error.code, done.error.message);
    context.complete(true);
  }
};

class IsolationTest : public ::testing::Test {
 protected:
  void open() {
    engine_.reset();
    EngineOptions made;
    made.dir = folder_.path() + "/world";
    made.modules = {Module::of<Hungry>("test/code@1")};
    made.handlers = {handle<Digest>([this](const Digest::Params&, const Call& call) {
      while (!digests_ && !call.stopped()) std::this_thread::sleep_for(milliseconds(1));
      return Performed<Digest>(Digest::Receipt{});
    })};
    made.any_file_system = true;
    auto opened = Engine::open(std::move(made));
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }
  void expect_others_go_on(const std::string& id) {
    ASSERT_TRUE(engine_->start<Hungry>(id, Eat{id, "little"}));
    const auto ended = engine_->wait<Hungry>(id, minutes(1));
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->status, InstanceStatus::kCompleted);
  }

  env::testing::TemporaryFolder folder_;
  std::atomic<bool> digests_ = true;
  std::unique_ptr<Engine> engine_;
};

TEST_F(IsolationTest, a_step_without_memory_pauses_its_instance_and_the_engine_goes_on) {
  has_memory = false;
  open();
  ASSERT_TRUE(engine_->start<Hungry>("a", Eat{"a", "much"}));
  while (!engine_->query<Hungry>("a")->is_paused) std::this_thread::sleep_for(milliseconds(1));
  expect_others_go_on("b");
  open();
  EXPECT_TRUE(engine_->query<Hungry>("a")->is_paused) << "also after a restart";
  expect_others_go_on("c");
  has_memory = true;
  ASSERT_TRUE(engine_->resume<Hungry>("a", "there is more memory"));
  const auto ended = engine_->wait<Hungry>("a", minutes(1));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->status, InstanceStatus::kCompleted);
}

// A damaged blob of one instance that has ended.
TEST_F(IsolationTest, a_question_that_cannot_be_answered_does_not_end_the_engine) {
  open();
  const std::string large(100'000, 'q');
  ASSERT_TRUE(engine_->start<Hungry>("a", Eat{"a", large}));
  std::promise<Result<std::uint64_t>> taken;
  engine_->take_snapshot([&](Result<std::uint64_t> before) { taken.set_value(std::move(before)); });
  ASSERT_TRUE(taken.get_future().get());
  ASSERT_TRUE(engine_->close());
  bool is_damaged = false;
  for (const auto& file : std::filesystem::directory_iterator(folder_.path() + "/world")) {
    if (!file.path().filename().string().starts_with("blobs.db")) continue;
    const std::string bytes = base::testing::file_text(file.path().string());
    const std::size_t at = bytes.find(std::string(3000, 'q'));
    if (at == std::string::npos) continue;
    std::fstream(file.path(), std::ios::in | std::ios::out | std::ios::binary)
        .seekp(static_cast<std::streamoff>(at + 1000))
        .put('z');
    is_damaged = true;
  }
  ASSERT_TRUE(is_damaged);
  open();
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(engine_->query<Hungry>("a"));
  expect_others_go_on("b");
  EXPECT_FALSE(engine_->query<Hungry>("a"));
  EXPECT_EQ(engine_->condition(), Condition::kReady);
}

// More than an executor has room for. HOLDFAST_WAITING_EFFECTS: how many.
TEST_F(IsolationTest, effects_that_wait_for_a_stuck_executor_do_not_fail) {
  const char* const wanted = std::getenv("HOLDFAST_WAITING_EFFECTS");
  const std::uint64_t count = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 10'000;
  digests_ = false;
  open();
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t under_way = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return under_way < 1000; });
    ++under_way;
    lock.unlock();
    const std::string id = std::to_string(i);
    engine_->start<Hungry>(id, Eat{id, "slow"}, {}, [&](Result<Sent> sent) {
      EXPECT_TRUE(sent) << sent.error().message;
      const std::lock_guard guard(mutex);
      --under_way;
      changed.notify_one();
    });
  }
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return under_way == 0; });
  }
  expect_others_go_on("other");
  digests_ = true;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto ended = engine_->wait<Hungry>(std::to_string(i), minutes(10));
    ASSERT_TRUE(ended) << ended.error().message;
    ASSERT_EQ(ended->status, InstanceStatus::kCompleted) << i;
  }
}

}  // namespace
}  // namespace holdfast
