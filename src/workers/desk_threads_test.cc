// SPDX-License-Identifier: Apache-2.0
// The desk with a real engine, and a worker that is driven by hand.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>

#include "env/testing.h"
#include "holdfast/graphs.h"
#include "workers/desk.h"

namespace holdfast::workers {
namespace {

constexpr const char* kChain = R"({"apiVersion": "holdfast/v1", "kind": "Workflow",
  "metadata": {"name": "w"}, "spec": {"taskType": "echo", "graph": {"nodes": [
  {"name": "a"}, {"name": "b", "dependsOn": ["a"], "spec": {"x": "${a.n}"}}]}}})";

class DeskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    DeskOptions options;
    options.render = [this](const std::string& graph, const Bytes& definition,
                            const Engine::Then<Bytes>& then) {
      ++renders_;
      if (!can_render_) return then(Error{ErrorCode::kUnavailable, "not now"});
      Graphs(*engine_).render(graph, definition, then);
    };
    desk_ = Desk::make(options);
    EngineOptions engine_options;
    engine_options.dir = folder_.path() + "/world";
    engine_options.any_file_system = true;
    engine_options.work_feed = desk_;
    auto opened = Engine::open(engine_options);
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
    desk_->start(*engine_);
    enrol();
  }
  void TearDown() override { desk_->stop(); }

  template <class T, class Ask>
  Result<T> wait_for(Ask ask) {
    std::promise<Result<T>> promise;
    auto future = promise.get_future();
    ask([&promise](Result<T> result) { promise.set_value(std::move(result)); });
    return future.get();
  }

  void enrol() {
    EnrolRequest request{.node = "n", .name = "w", .secret = "s"};
    request.offer.queues = {"default"};
    request.offer.types = {"echo"};
    request.offer.slots = 4;
    const auto enrolled = wait_for<EnrolAnswer>(
        [&](Desk::Then<EnrolAnswer> then) { desk_->enrol(request, std::move(then)); });
    ASSERT_TRUE(enrolled) << enrolled.error().message;
    worker_ = enrolled->worker;
    const auto begun = wait_for<SessionAnswer>([&](Desk::Then<SessionAnswer> then) {
      desk_->begin_session({.worker = worker_, .process = "p", .is_first = true}, std::move(then));
    });
    ASSERT_TRUE(begun) << begun.error().message;
    session_ = begun->session;
  }

  SyncAnswer sync(std::uint64_t wait_ms, std::vector<DoneReport> done = {}) {
    SyncRequest request{.worker = worker_, .session = session_, .seq = ++seq_};
    request.want = 1;
    request.wait_ms = wait_ms;
    request.done = std::move(done);
    const auto answer = wait_for<SyncAnswer>(
        [&](Desk::Then<SyncAnswer> then) { desk_->sync(request, std::move(then)); });
    EXPECT_TRUE(answer);
    return answer ? *answer : SyncAnswer();
  }

  // Until there is work; how many requests that took.
  std::pair<WorkItem, int> take() {
    for (int asked = 1;; ++asked) {
      SyncAnswer answer = sync(10'000);
      if (!answer.work.empty()) return {answer.work.front(), asked};
    }
  }

  env::testing::TemporaryFolder folder_;
  std::atomic<bool> can_render_ = true;
  std::atomic<int> renders_ = 0;
  std::shared_ptr<Desk> desk_;
  std::unique_ptr<Engine> engine_;
  std::string worker_;
  std::string session_;
  std::uint64_t seq_ = 0;
};

TEST_F(DeskTest, an_input_that_cannot_be_made_ready_is_tried_again_at_a_slow_pace) {
  ASSERT_TRUE(Graphs(*engine_).submit({.text = kChain, .id = "g"}));
  const auto [first, asked] = take();
  can_render_ = false;
  const auto d = dispatch::Dispatch::parse(first.d);
  sync(0, {{.d = {first.d, d}, .payload = {0xa1, 0x61, 'n', 0x07}}});
  // For a while every request is parked, but for one in each half second.
  int requests = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (renders_ < 4) {
    sync(10'000);
    ++requests;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(requests, 8);
  EXPECT_GE(took.count(), 1.0);
  can_render_ = true;
  EXPECT_EQ(take().first.name, "b");
}

}  // namespace
}  // namespace holdfast::workers
