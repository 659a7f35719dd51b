// SPDX-License-Identifier: Apache-2.0
// A node with its threads, on a real file system.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "env/posix_disk.h"
#include "env/testing.h"
#include "kernel/testing_lab.h"
#include "node/local_world.h"
#include "node/node.h"
#include "node/testing_journal.h"

namespace holdfast::node {
namespace {

using kernel::testing::lab;
using kernel::testing::value;

// Answers with what the lab's effect expects, if it is told to.
struct Worker : executors::Executor {
  void start(const kernel::OpenIntent& open, executors::Reports& reports) override {
    ++started;
    if (!answers) return;
    const base::Bytes payload = value(R"({"ok":true})");
    kernel::ReceiptArrived receipt;
    receipt.intent = open.intent;
    receipt.payload = payload;
    reports.report(receipt);
  }
  void stop(const base::Hash&) override { ++stopped; }
  std::atomic<bool> answers = true;
  std::atomic<int> started = 0;
  std::atomic<int> stopped = 0;
};

// Fails every sync from some time on.
class FailingJournal : public testing::JournalAround {
 public:
  using JournalAround::JournalAround;
  base::Result<store::RecordNumber> sync() override {
    if (fails) return base::Error(base::ErrorCode::kIo, "the disk is gone");
    return JournalAround::sync();
  }

  std::atomic<bool> fails = false;
};

class NodeTest : public ::testing::Test {
 protected:
  void open() {
    node_.reset();
    world_.reset();
    auto opened = LocalWorld::open(
        *disk_, *random_, *process_, folder_.path() + "/world", machines_,
        {.journal = {.segment_bytes = 1 << 20}, .world = {}, .any_file_system = true});
    ASSERT_TRUE(opened) << opened.error().to_string();
    world_ = std::move(*opened);
    journal_.emplace(world_->journal());
  }
  void start(LoopOptions options = {}) {
    auto started =
        Node::start(world_->world(), *journal_, *clock_, *random_, {{"worker", &worker_}}, options);
    ASSERT_TRUE(started);
    node_ = std::move(*started);
  }
  // A new world with the lab's definitions.
  void begin() {
    open();
    start();
    const base::Bytes definitions = value(lab(kernel::testing::kToKeyed));
    ASSERT_TRUE(std::holds_alternative<kernel::Accepted>(
        ask(Input::apply(kernel::ApplyManifest{definitions})).get()));
  }

  std::future<kernel::Answer> ask(Input input) {
    auto promise = std::make_shared<std::promise<kernel::Answer>>();
    EXPECT_TRUE(node_->send(
        std::move(input), [promise](const kernel::Answer& answer) { promise->set_value(answer); }));
    return promise->get_future();
  }
  static Input go(std::string_view id) {
    const base::Bytes event = value(R"({"id":")" + std::string(id) + R"(","n":1})");
    return Input::event({"lab/Go@1", event, {}});
  }
  std::string status_of(std::string_view id) {
    const kernel::Cell* cell =
        *world_->world().find("lab/Keyed@1", value("\"" + std::string(id) + "\""));
    return cell == nullptr ? "" : std::string(name_of(cell->status()));
  }

  // Answers are heard before effects are started, and what stops in between leaves them to the
  // next.
  void wait_for_started(int count) {
    while (worker_.started < count) std::this_thread::yield();
  }

  env::testing::TemporaryFolder folder_;
  std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  std::unique_ptr<env::Random> random_ = env::posix_random();
  std::unique_ptr<env::Process> process_ = env::posix_process();
  std::unique_ptr<env::Clock> clock_ = env::posix_clock();
  kernel::testing::Step keyed_ = kernel::testing::work;
  kernel::testing::Machines machines_{
      {"keyed", [this](const auto& in, auto& out) { keyed_(in, out); }},
      {"numbered", kernel::testing::keep},
      {"single", kernel::testing::keep}};
  Worker worker_;
  std::unique_ptr<LocalWorld> world_;
  std::optional<FailingJournal> journal_;
  std::unique_ptr<Node> node_;
};

TEST_F(NodeTest, an_event_is_answered_when_it_is_durable_and_its_effect_is_performed) {
  begin();
  const auto answer = std::get<kernel::Accepted>(ask(go("a")).get());
  EXPECT_EQ(answer.deliveries, 1u);
  EXPECT_GE(journal_->durable(), answer.record);
  wait_for_started(1);
  ASSERT_TRUE(node_->stop());
  EXPECT_FALSE(node_->send(go("b"), nullptr)) << "it has stopped";
}

TEST_F(NodeTest, many_senders_all_hear_and_every_record_replays) {
  begin();
  std::atomic<int> accepted = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 100; ++i) {
        const auto answer = ask(go(std::to_string(thread) + "-" + std::to_string(i))).get();
        if (std::holds_alternative<kernel::Accepted>(answer)) ++accepted;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  wait_for_started(400);
  ASSERT_TRUE(node_->stop());
  EXPECT_EQ(accepted, 400);
  EXPECT_EQ(worker_.started, 400);
  const base::Bytes before = world_->world().snapshot().take();
  open();
  EXPECT_EQ(world_->world().snapshot().take(), before);
  EXPECT_GE(world_->restoring().replayed, 401u);
}

TEST_F(NodeTest, what_is_open_is_started_again_after_a_restart_and_ends_once) {
  worker_.answers = false;
  begin();
  for (const char* id : {"a", "b", "c"}) ask(go(id)).get();
  wait_for_started(3);
  ASSERT_TRUE(node_->stop());
  EXPECT_EQ(worker_.started, 3);
  EXPECT_EQ(status_of("a"), "waiting");
  open();
  worker_.answers = true;
  start();
  ask(go("d")).get();  // what was reported before it is reduced before it
  wait_for_started(7);
  ASSERT_TRUE(node_->stop());
  EXPECT_EQ(worker_.started, 7);
  for (const char* id : {"a", "b", "c"}) EXPECT_EQ(status_of(id), "completed") << id;
}

TEST_F(NodeTest, a_timer_comes_back_and_not_before_its_time) {
  std::atomic<std::uint64_t> due = 0;
  std::promise<std::uint64_t> woken;
  keyed_ = [&](const kernel::StepInput& input, kernel::StepOutput& output) {
    kernel::testing::state(output, 1);
    if (input.mail.kind != kernel::MailKind::kEvent)
      return woken.set_value(input.context.time_ns());
    due = input.context.time_ns() + 20'000'000;
    kernel::testing::open(output, "sys/timer.set@1",
                          R"({"deliver_at_ns":)" + std::to_string(due) + "}");
  };
  begin();
  ask(go("a")).get();
  EXPECT_GE(woken.get_future().get(), due);
  ASSERT_TRUE(node_->stop());
}

TEST_F(NodeTest, a_timer_is_waited_for_by_the_clock_that_was_given) {
  struct FarClock : env::Clock {  // fifty years ahead of the machine's
    std::int64_t wall_ns() override {
      return inner->wall_ns() + std::int64_t{50} * 365 * 86'400 * 1'000'000'000;
    }
    std::int64_t since_boot_ns() override { return inner->since_boot_ns(); }
    base::Result<std::unique_ptr<env::Alarm>> alarm(std::function<void()> ring) override {
      return inner->alarm(std::move(ring));  // that will see the time pass, but not the wall clock
    }
    std::unique_ptr<env::Clock> inner = env::posix_clock();
  };
  clock_ = std::make_unique<FarClock>();
  std::promise<void> woken;
  keyed_ = [&](const kernel::StepInput& input, kernel::StepOutput& output) {
    kernel::testing::state(output, 1);
    if (input.mail.kind != kernel::MailKind::kEvent) return woken.set_value();
    kernel::testing::open(
        output, "sys/timer.set@1",
        R"({"deliver_at_ns":)" + std::to_string(input.context.time_ns() + 20'000'000) + "}");
  };
  begin();
  ask(go("a")).get();
  EXPECT_EQ(woken.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  ASSERT_TRUE(node_->stop());
}

TEST_F(NodeTest, an_effect_that_nobody_performs_comes_back_as_an_error) {
  begin();
  ASSERT_TRUE(node_->stop());
  open();
  std::promise<void> answered;
  keyed_ = [&](const kernel::StepInput& input, kernel::StepOutput& output) {
    kernel::testing::work(input, output);
    if (input.mail.kind != kernel::MailKind::kEvent) answered.set_value();
  };
  node_ = Node::start(world_->world(), *journal_, *clock_, *random_, {}).take();
  ask(go("a")).get();
  answered.get_future().get();
  ASSERT_TRUE(node_->stop());
  EXPECT_EQ(status_of("a"), "completed") << "the lab's workflow ends with whatever comes back";
}

TEST_F(NodeTest, a_failed_sync_ends_it_and_nobody_hears_an_answer) {
  begin();
  ask(go("a")).get();
  while (journal_->durable() < 3)
    std::this_thread::yield();  // the manifest, the event, its receipt
  journal_->fails = true;
  std::atomic<bool> heard = false;
  const int started = worker_.started;
  ASSERT_TRUE(node_->send(go("b"), [&](const kernel::Answer&) { heard = true; }));
  while (node_->send(go("c"), nullptr)) std::this_thread::yield();
  const auto stopped = node_->stop();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message(), "the disk is gone");
  EXPECT_FALSE(heard);
  EXPECT_LE(worker_.started, started + 1) << "only what was durable before";
}

// One that is moved on by whoever wants the node to look for room again.
struct HastyClock : env::Clock {
  std::int64_t wall_ns() override { return inner->wall_ns(); }
  std::int64_t since_boot_ns() override { return now; }
  base::Result<std::unique_ptr<env::Alarm>> alarm(std::function<void()> ring) override {
    return inner->alarm(std::move(ring));
  }
  std::unique_ptr<env::Clock> inner = env::posix_clock();
  std::atomic<std::int64_t> now = 0;
};

// Sees whether two threads are inside at once.
class CrowdedJournal : public testing::JournalAround {
 public:
  using JournalAround::JournalAround;

  base::Result<store::RecordNumber> append(std::span<const base::ByteView> records,
                                           store::Room room) override {
    const Inside inside(*this);
    return JournalAround::append(records, room);
  }
  base::Result<store::RecordNumber> sync() override {
    const Inside inside(*this);
    return JournalAround::sync();
  }
  base::Result<void> mark() override {
    const Inside inside(*this);
    ++marks;
    return JournalAround::mark();
  }
  base::Result<void> trim(store::RecordNumber) override {
    const Inside inside(*this);
    ++trims;
    return {};
  }
  // A disk that stays full, and a second is over as soon as room was looked for.
  base::Result<void> prepare() override {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (is_full) return base::Error(base::ErrorCode::kUnavailable, "no space");
    return JournalAround::prepare();
  }
  bool has_room(store::Room room) const override {
    if (is_full && clock != nullptr) clock->now += 1'000'000'000;
    return !is_full && JournalAround::has_room(room);
  }

  HastyClock* clock = nullptr;
  std::atomic<bool> is_full = false;
  std::atomic<int> crowds = 0;
  std::atomic<int> trims = 0;
  std::atomic<int> marks = 0;

 private:
  struct Inside {
    explicit Inside(CrowdedJournal& the_journal) : journal(the_journal) {
      if (journal.is_taken_.exchange(true)) ++journal.crowds;
      for (int i = 0; i < 20; ++i) std::this_thread::yield();
    }
    ~Inside() { journal.is_taken_ = false; }
    CrowdedJournal& journal;
  };
  std::atomic<bool> is_taken_ = false;
};

// On a full disk results are still written, by the thread that reduced them where they are few, and
// the journal is trimmed whenever room is looked for, and marked when it is quiet.
TEST_F(NodeTest, one_thread_at_a_time_changes_the_journal) {
  constexpr int kResults = 100;
  worker_.answers = false;
  begin();
  for (int i = 0; i < kResults; ++i) ask(go(std::to_string(i))).get();
  wait_for_started(kResults);
  ASSERT_TRUE(node_->stop());
  open();
  auto clock = std::make_unique<HastyClock>();
  CrowdedJournal journal(world_->journal());
  journal.clock = clock.get();
  clock_ = std::move(clock);
  node_ = Node::start(world_->world(), journal, *clock_, *random_, {{"worker", &worker_}}).take();
  wait_for_started(2 * kResults);
  std::vector<base::Hash> effects;
  ASSERT_TRUE(world_->world().open_intents() == kResults);
  ASSERT_TRUE(world_->world().visit_intents([&](const base::Hash& hash, const kernel::Intent&) {
    effects.push_back(hash);
    return true;
  }));
  ask(go("the last"));
  journal.is_full = true;
  while (node_->condition() != LoopCondition::kDiskFull) std::this_thread::yield();
  const base::Bytes payload = value(R"({"ok":true})");
  for (const base::Hash& effect : effects) {
    kernel::ReceiptArrived receipt;
    receipt.intent = effect;
    receipt.payload = payload;
    const int before = journal.trims;
    EXPECT_TRUE(std::holds_alternative<kernel::Accepted>(ask(Input::receipt(receipt)).get()));
    while (journal.trims == before) std::this_thread::yield();
  }
  journal.is_full = false;
  while (journal.marks == 0) std::this_thread::yield();
  ASSERT_TRUE(node_->stop());
  EXPECT_EQ(journal.crowds, 0);
}

TEST_F(NodeTest, a_journal_is_marked_when_nothing_comes) {
  open();
  CrowdedJournal journal(world_->journal());
  node_ = Node::start(world_->world(), journal, *clock_, *random_, {{"worker", &worker_}}).take();
  const base::Bytes definitions = value(lab(kernel::testing::kToKeyed));
  ask(Input::apply(kernel::ApplyManifest{definitions})).get();
  while (journal.marks == 0) std::this_thread::yield();
  ask(go("a")).get();
  while (journal.marks == 1) std::this_thread::yield();
  ASSERT_TRUE(node_->stop());
}

TEST_F(NodeTest, a_cascade_without_end_keeps_nobody_out_and_does_not_hold_the_end_up) {
  keyed_ = [](const kernel::StepInput& input, kernel::StepOutput& output) {
    kernel::testing::state(output, 1);
    const codec::View event = codec::View::of(input.mail.value);
    if (*event.find("id")->text() != "loop") return;
    kernel::testing::emit(output, "lab/Go@1", R"({"id":"loop","n":1})");
  };
  begin();
  ask(go("loop")).get();
  for (const char* id : {"a", "b", "c"})
    EXPECT_TRUE(std::holds_alternative<kernel::Accepted>(ask(go(id)).get())) << id;
  ASSERT_TRUE(node_->stop());
  EXPECT_EQ(status_of("c"), "running");
}

TEST_F(NodeTest, an_inbox_that_is_full_refuses) {
  begin();
  ASSERT_TRUE(node_->stop());
  open();
  std::promise<void> go_on;
  std::shared_future<void> wait = go_on.get_future().share();
  std::atomic<bool> is_held = false;
  keyed_ = [&](const kernel::StepInput& input, kernel::StepOutput& output) {
    is_held = true;
    wait.wait();
    kernel::testing::keep(input, output);
  };
  start({.inbox = 4});
  ASSERT_TRUE(node_->send(go("first"), nullptr));
  while (!is_held) std::this_thread::yield();
  int taken = 0;
  while (node_->send(go(std::to_string(taken)), nullptr)) ASSERT_LT(++taken, 300);
  EXPECT_EQ(taken, 4);
  const auto refused = node_->send(go("x"), nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kUnavailable);
  go_on.set_value();
  ASSERT_TRUE(node_->stop());
}

}  // namespace
}  // namespace holdfast::node
