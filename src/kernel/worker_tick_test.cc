// SPDX-License-Identifier: Apache-2.0
// Design: "Workers": enrolment, modes, cordons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/limits.h"
#include "kernel/testing_leases.h"

namespace holdfast::kernel {
namespace {

using ::testing::HasSubstr;
using testing::json_of;
using testing::LeaseTest;
using testing::news_in;
using testing::value;

class WorkerTickTest : public LeaseTest {
 protected:
  const Worker* worker(std::string_view id) { return bench().world().workers().find(id); }
  bool is_cordoned(std::string_view id) {
    return bench().world().workers().is_cordoned(*worker(id));
  }
};

TEST_F(WorkerTickTest, a_worker_that_enrols_again_replaces_what_it_said_and_keeps_what_it_holds) {
  enrol("w-1", "node", "one", R"({"slots":4})");
  const base::Hash intent = begin_work("a");
  lease("w-1", {intent});
  const Outcome again = enrol("w-1", "node", "one", R"({"slots":8})");
  ASSERT_TRUE(std::holds_alternative<Accepted>(again.answer));
  EXPECT_EQ(json_of(worker("w-1")->description), R"({"slots":8})");
  EXPECT_EQ(worker("w-1")->leases.size(), 1u);
  EXPECT_EQ(news_in(again).at(0)->kind, WorkNews::Kind::kWorker);
  EXPECT_EQ(news_in(again).at(0)->now->leases.size(), 1u);
  EXPECT_TRUE(
      std::holds_alternative<Unchanged>(enrol("w-1", "node", "one", R"({"slots":8})").answer))
      << "it says nothing new";
  bench().expect_replays();
}

TEST_F(WorkerTickTest, a_cordon_is_of_the_place_and_survives_every_return_of_its_worker) {
  enrol("w-1", "node", "one");
  enrol("w-9", "node", "nine");
  change("w-1", WorkerChange::kCordon);
  for (const WorkerChange away :
       {WorkerChange::kDrain, WorkerChange::kLose, WorkerChange::kLeave}) {
    change("w-1", away);
    change("w-1", WorkerChange::kActivate);
    EXPECT_TRUE(is_cordoned("w-1"));
  }
  enrol("w-1", "node", "one", R"({"slots":8})");
  EXPECT_TRUE(is_cordoned("w-1")) << "enrolled again";
  const Outcome other = enrol("w-2", "node", "one");
  EXPECT_TRUE(is_cordoned("w-2")) << "another identity in the same place";
  EXPECT_TRUE(news_in(other).at(0)->is_cordoned);
  EXPECT_FALSE(is_cordoned("w-9"));
  bench().put_away();
  EXPECT_TRUE(is_cordoned("w-1"));
  const Outcome ended = change("w-2", WorkerChange::kUncordon);
  EXPECT_EQ(news_in(ended).size(), 2u) << "both of the place are told";
  EXPECT_FALSE(is_cordoned("w-1"));
  EXPECT_TRUE(std::holds_alternative<Unchanged>(change("w-1", WorkerChange::kUncordon).answer));
  bench().expect_replays();
}

TEST_F(WorkerTickTest, a_lost_worker_gives_everything_back_in_the_same_record_and_once) {
  enrol("w-1");
  const base::Hash a = begin_work("a");
  const base::Hash b = begin_work("b");
  lease("w-1", {a});
  lease("w-1", {b}, {.fails_if_lost = true});
  const Outcome lost = change("w-1", WorkerChange::kLose);
  const auto& accepted = std::get<Accepted>(lost.answer);
  ASSERT_EQ(accepted.verdicts.size(), 2u);
  EXPECT_EQ(accepted.verdicts[0].kind, WorkVerdict::Kind::kReturned);
  EXPECT_EQ(accepted.verdicts[1].kind, WorkVerdict::Kind::kSettled);
  EXPECT_EQ(accepted.leases_left, 0u);
  EXPECT_EQ(work_of(a)->losses, 1u);
  EXPECT_EQ(worker("w-1")->mode, WorkerMode::kLost);
  EXPECT_EQ(worker("w-1")->reason, "because");
  EXPECT_EQ(worker("w-1")->by, "eva");
  EXPECT_TRUE(std::holds_alternative<Unchanged>(change("w-1", WorkerChange::kLose).answer));
  EXPECT_EQ(work_of(a)->losses, 1u);
  bench().expect_replays();
}

TEST_F(WorkerTickTest, a_worker_that_leaves_gives_everything_back_for_free) {
  enrol("w-1");
  const base::Hash a = begin_work("a");
  lease("w-1", {a}, {.fails_if_lost = true});
  const Outcome left = change("w-1", WorkerChange::kLeave);
  EXPECT_EQ(std::get<Accepted>(left.answer).verdicts.at(0).kind, WorkVerdict::Kind::kReturned);
  EXPECT_EQ(work_of(a)->losses, 0u);
  EXPECT_EQ(worker("w-1")->mode, WorkerMode::kLeft);
  bench().expect_replays();
}

TEST_F(WorkerTickTest, a_worker_that_holds_much_gives_it_back_in_parts_that_are_bounded) {
  enrol("w-1");
  std::vector<base::Hash> part;
  for (std::size_t i = 0; i < kMaxLeasesPerTick + 3; ++i) {
    part.push_back(begin_work("i" + std::to_string(i)));
    if (part.size() < 100 && i + 1 < kMaxLeasesPerTick + 3) continue;
    lease("w-1", part);
    part.clear();
  }
  const Outcome first = change("w-1", WorkerChange::kLose);
  EXPECT_EQ(std::get<Accepted>(first.answer).verdicts.size(), kMaxLeasesPerTick);
  EXPECT_EQ(std::get<Accepted>(first.answer).leases_left, 3u);
  bench().put_away();
  const Outcome second = change("w-1", WorkerChange::kLose);
  EXPECT_EQ(std::get<Accepted>(second.answer).verdicts.size(), 3u);
  EXPECT_EQ(std::get<Accepted>(second.answer).leases_left, 0u);
  EXPECT_TRUE(std::holds_alternative<Unchanged>(change("w-1", WorkerChange::kLose).answer));
  bench().expect_replays();
}

TEST_F(WorkerTickTest, names_and_descriptions_that_are_not_good_are_refused) {
  const std::string long_name(kMaxWorkerNameBytes + 1, 'x');
  const base::Bytes good = value("{}");
  const base::Bytes large(kMaxWorkerDescription + 1, 0);
  const base::Bytes broken{0xFF};
  const auto refused = [&](std::string_view id, std::string_view node, std::string_view name,
                           base::ByteView description) {
    return refusal_of(bench().tick(WorkerEnrolled{id, node, name, base::Hash(), description}));
  };
  EXPECT_THAT(refused("", "n", "a", good).message, HasSubstr("the id of a worker"));
  EXPECT_THAT(refused(long_name, "n", "a", good).message, HasSubstr("the id of a worker"));
  EXPECT_THAT(refused("w", "\xFF", "a", good).message, HasSubstr("the node of a worker"));
  EXPECT_THAT(refused("w", "n", "", good).message, HasSubstr("the name of a worker"));
  EXPECT_THAT(refused("w", "n", "a", large).message, HasSubstr("64 KiB"));
  EXPECT_THAT(refused("w", "n", "a", broken).message, HasSubstr("the description of a worker"));
  EXPECT_TRUE(bench().world().workers().all().empty());
}

TEST_F(WorkerTickTest, changes_of_a_worker_that_is_not_there_are_refused) {
  EXPECT_EQ(refusal_of(change("w-1", WorkerChange::kDrain)).code, base::ErrorCode::kNotFound);
  enrol("w-1");
  change("w-1", WorkerChange::kLose);
  EXPECT_EQ(refusal_of(change("w-1", WorkerChange::kDrain)).code, base::ErrorCode::kConflict);
}

// The table itself, with fewer bytes than a world of that many would take.
TEST(Workers, for_one_more_than_fit_the_one_that_is_gone_longest_is_forgotten) {
  Workers workers;
  const auto put = [&](std::size_t i) {
    Worker worker;
    worker.node = worker.name = std::to_string(i);
    worker.changed_at = i;
    return workers.put(std::to_string(i), std::move(worker));
  };
  for (std::size_t i = 0; i < kMaxWorkers; ++i) ASSERT_TRUE(put(i));
  EXPECT_FALSE(put(kMaxWorkers)) << "nobody is gone";
  EXPECT_TRUE(put(7)) << "one that is known needs no room";
  workers.hold("3", 9, base::Hash());
  for (const std::uint64_t i : {5u, 3u, 4u})
    workers.change(std::to_string(i), {WorkerMode::kLost, "", "", 0, kMaxWorkers + 10 - i});
  EXPECT_TRUE(put(kMaxWorkers));
  EXPECT_EQ(workers.find("5"), nullptr) << "gone longest";
  EXPECT_TRUE(put(kMaxWorkers + 1));
  EXPECT_EQ(workers.find("4"), nullptr);
  EXPECT_FALSE(put(kMaxWorkers + 2)) << "the third still holds something";
  EXPECT_TRUE(workers.release("3", 9));
  EXPECT_TRUE(put(kMaxWorkers + 2));
  EXPECT_EQ(workers.find("3"), nullptr);
}

TEST(Workers, all_descriptions_together_are_bounded) {
  Workers workers;
  const auto put = [&](std::size_t i) {
    Worker worker;
    worker.changed_at = i;
    worker.description.resize(kMaxWorkerDescription);
    return workers.put(std::to_string(i), std::move(worker));
  };
  const std::size_t most = kMaxDescriptionBytes / kMaxWorkerDescription;
  for (std::size_t i = 0; i < most; ++i) ASSERT_TRUE(put(i));
  EXPECT_FALSE(put(most));
  EXPECT_TRUE(put(0));
  workers.change("1", {WorkerMode::kLeft, "", "", 0, 1});
  EXPECT_TRUE(put(most));
  EXPECT_EQ(workers.all().size(), most);
}

}  // namespace
}  // namespace holdfast::kernel
