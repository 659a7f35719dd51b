// SPDX-License-Identifier: Apache-2.0
// Workers and leases as a program that places work uses them, on a real file system.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/testing_greeting.h"
#include "env/testing.h"
#include "holdfast/engine.h"

namespace holdfast {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using engine::testing::Greet;
using engine::testing::Greeting;
using engine::testing::Say;

// Writes down what it hears: a word each, with the text that is to be said.
class NotedFeed : public WorkFeed {
 public:
  void worker_changed(const WorkerInfo& worker) override {
    add(std::string(name_of(worker.mode)) + (worker.is_cordoned ? " cordoned " : " ") +
        worker.worker);
  }
  void opened(const WorkView& work) override {
    add((work.lease ? "held " : "opened ") + text_of(work));
    intents_.push_back(work.intent);
  }
  void leased(const WorkView& work) override {
    add("leased " + text_of(work) + " to " + std::string(work.lease->worker));
  }
  void returned(const WorkView& work, std::string_view worker, std::uint64_t,
                ReturnReason reason) override {
    add("returned " + text_of(work) + " by " + std::string(worker) + ": " +
        std::string(name_of(reason)));
  }
  void stop_asked(const WorkView& work) override { add("stop " + text_of(work)); }
  void ended(const WorkEnd& end) override {
    add("ended " + std::to_string(static_cast<int>(end.status)) + " " + std::string(end.worker) +
        (end.by_worker ? "" : "!"));
  }
  void recovered() override { add("recovered"); }

  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }
  std::vector<Hash> intents() {
    const std::lock_guard lock(mutex_);
    return intents_;
  }

 private:
  static std::string text_of(const WorkView& work) {
    Say::Params params;
    Reader in(work.params);
    EXPECT_TRUE(detail::Form<Say::Params>::read(in, params));
    return params.text;
  }
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }

  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::vector<Hash> intents_;
};

class EngineWorkersTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    feed_ = std::make_shared<NotedFeed>();
    EngineOptions options;
    options.dir = folder_.path() + "/world";
    options.modules = {Module::of<Greeting>("test/code@1")};
    options.any_file_system = true;
    options.work_feed = feed_;
    options.clock = clock_;
    auto opened = Engine::open(options);
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }
  void reopen() {
    engine_.reset();
    open();
  }
  void enrol(const std::string& worker) {
    const auto info =
        engine_->enroll_worker({.worker = worker, .node = "node", .name = worker, .secret = {}});
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_TRUE(info->can_lease());
  }
  // The effect that a new instance waits for. What is sent is answered before it is told.
  Hash begin(const std::string& name) {
    const std::size_t before = feed_->intents().size();
    EXPECT_TRUE(engine_->send(Greet{.name = name}));
    EXPECT_TRUE(engine_->workers());  // a question later, everything before it was told
    while (feed_->intents().size() == before) std::this_thread::yield();
    return feed_->intents().back();
  }
  std::uint64_t lease(const std::string& worker, const Hash& intent, LeaseRequest request = {}) {
    request.intent = intent;
    const auto leased = engine_->lease(worker, {request});
    EXPECT_TRUE(leased) << leased.error().message;
    if (!leased || leased->verdicts.at(0).kind != LeaseVerdict::Kind::kGranted) return 0;
    return leased->verdicts[0].dispatch;
  }
  WorkAnswer settle(const std::string& worker, const Hash& intent, std::uint64_t dispatch) {
    const auto answers = engine_->settle_work(
        worker, {{.intent = intent,
                  .dispatch = dispatch,
                  .payload = detail::bytes_of_value(Say::Receipt{"by " + worker})}});
    EXPECT_TRUE(answers && answers->at(0)) << "no answer";
    return *answers->at(0);
  }
  InstanceStatus status_of(const std::string& name) {
    return engine_->query<Greeting>(name)->status;
  }

  env::testing::TemporaryFolder folder_;
  std::shared_ptr<ManualClock> clock_ =
      std::make_shared<ManualClock>(Time(std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)));
  std::shared_ptr<NotedFeed> feed_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineWorkersTest, an_effect_is_leased_performed_elsewhere_and_settled_once) {
  EXPECT_THAT(feed_->take(), ElementsAre("recovered"));
  enrol("w-1");
  const Hash intent = begin("ann");
  const std::uint64_t dispatch = lease("w-1", intent);
  EXPECT_THAT(feed_->take(),
              ElementsAre("active w-1", "opened hello ann", "leased hello ann to w-1"))
      << "told before the lease is answered";
  EXPECT_EQ(settle("w-1", intent, dispatch).verdict, WorkVerdict::kOk);
  EXPECT_EQ(engine_->wait<Greeting>("ann", hours(1))->result_as<std::string>(), "by w-1");
  EXPECT_EQ(settle("w-1", intent, dispatch).verdict, WorkVerdict::kRepeated);
  EXPECT_EQ(settle("w-1", intent, dispatch + 1).verdict, WorkVerdict::kStale);
  EXPECT_THAT(feed_->take(), ElementsAre("ended 0 w-1"));
}

TEST_F(EngineWorkersTest, after_a_restart_the_feed_begins_with_what_is_open_and_who_has_it) {
  enrol("w-1");
  const Hash held = begin("ann");
  begin("bob");
  const std::uint64_t dispatch = lease("w-1", held);
  ASSERT_TRUE(engine_->change_worker(
      {.worker = "w-1", .kind = WorkerChange::Kind::kCordon, .reason = "disk", .by = "eva"}));
  reopen();
  std::vector<std::string> told = feed_->take();
  ASSERT_EQ(told.size(), 4u);
  EXPECT_EQ(told.front(), "active cordoned w-1") << "workers come first";
  EXPECT_EQ(told.back(), "recovered");
  std::sort(told.begin() + 1, told.begin() + 3);
  EXPECT_EQ(told[1], "held hello ann");
  EXPECT_EQ(told[2], "opened hello bob");
  const auto work = engine_->work({held});
  ASSERT_TRUE(work && work->at(0));
  EXPECT_EQ(work->at(0)->lease->dispatch, dispatch);
  EXPECT_EQ(settle("w-1", held, dispatch).verdict, WorkVerdict::kOk)
      << "what was produced while the server was away arrives";
  EXPECT_EQ(status_of("ann"), InstanceStatus::kCompleted);
}

TEST_F(EngineWorkersTest, a_lost_worker_returns_its_work_and_its_late_report_changes_nothing) {
  enrol("w-1");
  enrol("w-2");
  const Hash intent = begin("ann");
  const std::uint64_t first = lease("w-1", intent);
  const auto lost =
      engine_->change_worker({.worker = "w-1", .kind = WorkerChange::Kind::kLose, .reason = "ttl"});
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->returned, 1u);
  EXPECT_EQ(engine_->change_worker({.worker = "w-1", .kind = WorkerChange::Kind::kLose})->record,
            0u)
      << "declared lost once";
  const std::uint64_t second = lease("w-2", intent);
  EXPECT_EQ(settle("w-1", intent, first).verdict, WorkVerdict::kStale);
  EXPECT_EQ(status_of("ann"), InstanceStatus::kWaiting);
  EXPECT_EQ(settle("w-2", intent, second).verdict, WorkVerdict::kOk);
  EXPECT_EQ(engine_->wait<Greeting>("ann", hours(1))->result_as<std::string>(), "by w-2");
}

TEST_F(EngineWorkersTest, a_time_limit_counts_from_the_lease_and_the_worker_must_be_told) {
  enrol("w-1");
  const Hash intent = begin("ann");
  clock_->advance(hours(100));  // waiting costs nothing
  const std::uint64_t dispatch =
      lease("w-1", intent,
            {.intent = {}, .time_limit_ns = std::chrono::nanoseconds(seconds(60)).count()});
  clock_->advance(seconds(59));
  EXPECT_EQ(status_of("ann"), InstanceStatus::kWaiting);
  feed_->take();
  clock_->advance(seconds(1));
  const auto ended = engine_->wait<Greeting>("ann", hours(1));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->error->code, "effect.timeout");
  EXPECT_EQ(settle("w-1", intent, dispatch).verdict, WorkVerdict::kRepeated);
  EXPECT_THAT(feed_->take(), ElementsAre("ended 2 w-1!"));
}

TEST_F(EngineWorkersTest, a_time_limit_of_a_lease_goes_on_after_a_restart_and_ends_with_it) {
  enrol("w-1");
  const Hash ann = begin("ann");
  const Hash bob = begin("bob");
  const std::uint64_t limit = std::chrono::nanoseconds(seconds(60)).count();
  lease("w-1", ann, {.intent = {}, .time_limit_ns = limit});
  const std::uint64_t given_back = lease("w-1", bob, {.intent = {}, .time_limit_ns = limit});
  ASSERT_TRUE(engine_->give_back("w-1", {{.intent = bob, .dispatch = given_back}}));
  reopen();
  clock_->advance(seconds(60));
  EXPECT_EQ(engine_->wait<Greeting>("ann", hours(1))->error->code, "effect.timeout");
  EXPECT_EQ(status_of("bob"), InstanceStatus::kWaiting) << "nobody has it";
}

TEST_F(EngineWorkersTest, stopping_is_soft_while_a_worker_has_it) {
  enrol("w-1");
  const Hash intent = begin("ann");
  const std::uint64_t dispatch = lease("w-1", intent);
  feed_->take();
  EXPECT_EQ(engine_->stop_work(intent, "enough", "eva")->verdict, WorkVerdict::kOk);
  EXPECT_EQ(engine_->stop_work(intent, "enough", "eva")->verdict, WorkVerdict::kRepeated);
  EXPECT_EQ(status_of("ann"), InstanceStatus::kWaiting);
  const WorkAnswer answer = settle("w-1", intent, dispatch);
  EXPECT_EQ(answer.verdict, WorkVerdict::kOk);
  EXPECT_EQ(answer.settled, Status::kCancelled);
  EXPECT_EQ(engine_->wait<Greeting>("ann", hours(1))->error->code, "effect.stopped");
  EXPECT_THAT(feed_->take(), ElementsAre("stop hello ann", "ended 3 w-1"));
}

TEST_F(EngineWorkersTest, what_has_a_handler_here_is_not_told_and_cannot_be_leased) {
  engine_.reset();
  EngineOptions options;
  options.dir = folder_.path() + "/world";
  options.modules = {Module::of<Greeting>("test/code@1")};
  std::promise<void> begun;
  std::promise<void> go_on;
  options.handlers = {handle<Say>([&](const Say::Params&, const Call&) -> Performed<Say> {
    begun.set_value();
    go_on.get_future().wait();
    return Say::Receipt{"here"};
  })};
  options.any_file_system = true;
  options.work_feed = feed_;
  auto opened = Engine::open(options);
  ASSERT_TRUE(opened) << opened.error().message;
  engine_ = std::move(*opened);
  feed_->take();
  enrol("w-1");
  EXPECT_TRUE(engine_->send(Greet{.name = "ann"}));
  begun.get_future().wait();
  std::promise<std::vector<WaitReason>> why;
  engine_->why_raw(Greeting::kWorkflow, detail::bytes_of_key(std::string("ann")),
                   [&](auto reasons) { why.set_value(std::move(*reasons)); });
  const WaitReason reason = why.get_future().get().at(0);
  EXPECT_FALSE(reason.by_workers);
  const auto leased = engine_->lease("w-1", {{.intent = reason.intent}});
  ASSERT_TRUE(leased);
  EXPECT_EQ(leased->verdicts.at(0).kind, LeaseVerdict::Kind::kNotLeased);
  go_on.set_value();
  EXPECT_EQ(engine_->wait<Greeting>("ann", hours(1))->result_as<std::string>(), "here");
  EXPECT_THAT(feed_->take(), ElementsAre("active w-1"));
}

TEST_F(EngineWorkersTest, without_a_feed_an_effect_that_nobody_performs_is_refused) {
  engine_.reset();
  EngineOptions options;
  options.dir = folder_.path() + "/another";
  options.modules = {Module::of<Greeting>("test/code@1")};
  options.any_file_system = true;
  const auto opened = Engine::open(options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
}

TEST_F(EngineWorkersTest, a_worker_that_leaves_with_much_gives_all_of_it_back) {
  enrol("w-1");
  constexpr std::size_t kMany = 2 * kMaxLeasesPerCall + 5;
  std::vector<LeaseRequest> requests;
  for (std::size_t i = 0; i < kMany; ++i) {
    requests.push_back({.intent = begin(std::to_string(i))});
    if (requests.size() < kMaxLeasesPerCall && i + 1 < kMany) continue;
    ASSERT_TRUE(engine_->lease("w-1", requests));
    requests.clear();
  }
  EXPECT_EQ(engine_->worker("w-1")->leases, kMany);
  const auto left = engine_->change_worker({.worker = "w-1", .kind = WorkerChange::Kind::kLeave});
  ASSERT_TRUE(left);
  EXPECT_EQ(left->returned, kMany);
  EXPECT_EQ(engine_->worker("w-1")->leases, 0u);
}

TEST_F(EngineWorkersTest, calls_that_make_no_sense_are_refused_and_name_the_reason) {
  enrol("w-1");
  const Hash intent = begin("ann");
  EXPECT_EQ(engine_->lease("w-2", {{.intent = intent}}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(engine_->lease("w-1", std::vector<LeaseRequest>(kMaxLeasesPerCall + 1)).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(engine_->worker("w-2").error().code, ErrorCode::kNotFound);
  const auto nameless = engine_->settle_work("", {{.intent = intent, .dispatch = 7}});
  ASSERT_TRUE(nameless);
  EXPECT_EQ(nameless->at(0).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(
      engine_->enroll_worker({.worker = "", .node = "n", .name = "a", .secret = {}}).error().code,
      ErrorCode::kInvalid);
  EXPECT_THAT(*engine_->lease("w-1", {}), ::testing::Field(&Leased::verdicts, IsEmpty()));
}

}  // namespace
}  // namespace holdfast
