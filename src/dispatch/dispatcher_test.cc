// SPDX-License-Identifier: Apache-2.0
#include "dispatch/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/testing.h"
#include "tasks/limits.h"

namespace holdfast::dispatch {
namespace {

using testing::Desk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Lines;
using testing::offer;
using ::testing::SizeIs;
using testing::task;
using testing::with_cpu;
using testing::with_gpus;

TEST(Dispatcher, a_worker_gets_no_more_than_its_slots_and_than_it_asks_for) {
  Desk desk;
  desk.worker("two-slots", offer(2));
  for (const char* name : {"a", "b", "c"}) desk.add(name);
  EXPECT_THAT(desk.choose(), ElementsAre("a -> two-slots", "b -> two-slots"));
  desk.dispatcher.set_want("two-slots", 0);
  desk.end("a");
  EXPECT_THAT(desk.choose(), IsEmpty()) << "it has a free slot and asks for nothing";
  desk.dispatcher.set_want("two-slots", 1);
  EXPECT_THAT(desk.choose(), ElementsAre("c -> two-slots"));
}

TEST(Dispatcher, a_task_that_is_leased_elsewhere_is_not_chosen) {
  Desk desk;
  desk.worker("w", offer(4));
  desk.add("a");
  desk.dispatcher.leased(testing::intent("a"), "w", {}, desk.now);
  EXPECT_THAT(desk.choose(), IsEmpty());
  EXPECT_EQ(desk.explain("a").kind, Explanation::Kind::kLeased);
  EXPECT_EQ(desk.explain("a").worker, "w");
}

TEST(Dispatcher, a_reported_task_frees_its_worker_before_its_end_is_recorded) {
  Desk desk;
  desk.worker("w", offer());
  desk.add("a");
  desk.add("b");
  desk.choose();
  desk.dispatcher.reported(testing::intent("a"), desk.now);
  EXPECT_THAT(desk.choose(), IsEmpty()) << "it is not leased yet";
  desk.dispatcher.leased(testing::intent("a"), "w", {}, desk.now);
  desk.dispatcher.reported(testing::intent("a"), desk.now);
  EXPECT_THAT(desk.choose(), ElementsAre("b -> w"));
  desk.end("b");
  desk.give_back("a");
  EXPECT_THAT(desk.choose(), ElementsAre("a -> w")) << "it did not end after all";
}

TEST(Dispatcher, a_returned_task_is_chosen_again) {
  Desk desk;
  desk.worker("w", offer());
  desk.add("a");
  EXPECT_THAT(desk.choose(), ElementsAre("a -> w"));
  desk.give_back("a");
  desk.dispatcher.set_want("w", 1);
  EXPECT_THAT(desk.choose(), ElementsAre("a -> w"));
}

TEST(Dispatcher, graphs_take_turns_so_that_a_huge_one_delays_a_small_one_by_one_task) {
  Desk desk;
  for (int i = 0; i < 100; ++i) desk.add("huge" + std::to_string(i), "huge");
  desk.now += 60 * kSecondNs;
  for (const char* name : {"s1", "s2", "s3"}) desk.add(name, "small");
  desk.worker("w", offer(6));
  EXPECT_THAT(desk.choose(), ElementsAre("huge0 -> w", "s1 -> w", "huge1 -> w", "s2 -> w",
                                         "huge2 -> w", "s3 -> w"));
}

TEST(Dispatcher, turns_hold_for_a_graph_whose_tasks_ask_for_different_things) {
  Desk desk;
  for (int i = 0; i < 3; ++i) {
    desk.add("many-e" + std::to_string(i), "many");
    Task other = task("many-t" + std::to_string(i), "many");
    other.demand.type = "train";
    desk.add("many-t" + std::to_string(i), other);
  }
  desk.add("one0", "one");
  desk.add("one1", "one");
  Offer both = offer(4);
  both.types = {"echo", "train"};
  desk.worker("w", both);
  EXPECT_THAT(desk.choose(), ElementsAre("many-e0 -> w", "one0 -> w", "many-e1 -> w", "one1 -> w"));
}

TEST(Dispatcher, a_higher_priority_comes_first_until_a_lower_one_has_waited_long_enough) {
  Desk desk({.age_ns = kSecondNs});
  Task low = task("low", "l");
  low.priority = 0;
  desk.add("low", low);
  const auto add_high = [&](const std::string& name) {
    Task high = task(name, "h");
    high.priority = 10;
    desk.add(name, high);
  };
  desk.now += 9 * kSecondNs;
  add_high("high1");
  desk.worker("w", offer(1));
  EXPECT_THAT(desk.choose(1), ElementsAre("high1 -> w"));
  desk.now += 2 * kSecondNs;
  add_high("high2");
  desk.end("high1");
  desk.dispatcher.set_want("w", 1);
  EXPECT_THAT(desk.choose(1), ElementsAre("low -> w")) << "it has waited 11 s longer";
}

TEST(Dispatcher, within_a_graph_priority_then_position_then_age_decide) {
  Desk desk;
  const auto add = [&](std::string_view name, int priority, std::uint32_t position) {
    Task made = task(name);
    made.priority = priority;
    made.position = position;
    desk.add(name, made);
  };
  add("third", 0, 1);
  add("fourth", 0, 2);
  add("second", 0, 0);
  add("first", 1, 9);
  desk.worker("w", offer(4));
  EXPECT_THAT(desk.choose(), ElementsAre("first -> w", "second -> w", "third -> w", "fourth -> w"));
}

TEST(Dispatcher, a_key_limit_counts_what_is_leased_and_lets_other_tasks_pass) {
  Desk desk;
  desk.worker("w", offer(8));
  for (const char* name : {"k1", "k2", "k3"}) {
    Task made = task(name);
    made.key = "db";
    made.key_limit = 2;
    desk.add(name, made);
  }
  desk.add("free");
  EXPECT_THAT(desk.choose(), ElementsAre("k1 -> w", "k2 -> w", "free -> w"));
  const Explanation why = desk.explain("k3");
  EXPECT_EQ(why.kind, Explanation::Kind::kKeyLimit);
  EXPECT_EQ(why.key, "db");
  EXPECT_EQ(why.key_running, 2u);
  desk.end("k1");
  EXPECT_THAT(desk.choose(), ElementsAre("k3 -> w"));
}

TEST(Dispatcher, a_task_that_ends_before_it_is_placed_leaves_its_turn_to_the_next_of_its_key) {
  Desk desk;
  desk.worker("w1", offer(10));
  const auto with_key = [](std::string_view name) {
    Task made = task(name);
    made.key = "db";
    made.key_limit = 1;
    return made;
  };
  for (const char* name : {"a", "b", "c"}) desk.add(name, with_key(name));
  EXPECT_EQ(desk.choose(), Lines{"a -> w1"});
  desk.dispatcher.set_want("w1", 0);
  desk.end("a");
  EXPECT_EQ(desk.choose(), Lines{});
  desk.end("b");  // its graph is cancelled, for instance
  desk.dispatcher.set_want("w1", 1);
  EXPECT_EQ(desk.choose(), Lines{"c -> w1"});
}

TEST(Dispatcher, a_key_limit_counts_leases_that_a_restart_found) {
  Desk desk;
  desk.worker("w", offer(8));
  for (const char* name : {"k1", "k2"}) {
    Task made = task(name);
    made.key = "db";
    made.key_limit = 1;
    desk.add(name, made);
  }
  desk.dispatcher.leased(testing::intent("k2"), "w", {}, desk.now);
  EXPECT_THAT(desk.choose(), IsEmpty());
  desk.end("k2");
  EXPECT_THAT(desk.choose(), ElementsAre("k1 -> w"));
}

TEST(Dispatcher, a_task_that_waits_for_its_key_does_not_hold_up_another_demand_with_the_key) {
  Desk desk;
  Task gpu = task("gpu");
  gpu.demand.resources.gpu = tasks::Gpu{};
  gpu.key = "k";
  gpu.key_limit = 1;
  Task plain = task("plain");
  plain.key = "k";
  plain.key_limit = 1;
  desk.add("gpu", gpu);
  desk.add("plain", plain);
  desk.worker("w", offer());
  EXPECT_THAT(desk.choose(), ElementsAre("plain -> w"));
}

TEST(Dispatcher, gpus_are_given_by_index_and_never_twice) {
  Desk desk;
  desk.worker("w", with_gpus(offer(8), {{0, "A100", 40}, {1, "A100", 80}, {2, "T4", 16}}));
  const auto add = [&](std::string_view name, std::string_view type, std::uint32_t count,
                       std::uint64_t memory) {
    Task made = task(name);
    made.demand.resources.gpu = tasks::Gpu{std::string(type), count, memory};
    desk.add(name, made);
  };
  add("big", "a100", 1, 41);
  add("pair", "A100", 2, 0);
  add("any", "", 1, 0);
  EXPECT_THAT(desk.choose(), ElementsAre("big -> w [1]", "any -> w [2]"));
  EXPECT_EQ(desk.explain("pair").kind, Explanation::Kind::kBusy);
  desk.end("big");
  EXPECT_THAT(desk.choose(), ElementsAre("pair -> w [0,1]"));
}

TEST(Dispatcher, devices_of_a_lease_that_a_restart_found_are_in_use) {
  Desk desk;
  desk.worker("w", with_gpus(offer(8), {{0, "T4", 16}, {1, "T4", 16}}));
  for (const char* name : {"a", "b"}) {
    Task made = task(name);
    made.demand.resources.gpu = tasks::Gpu{};
    desk.add(name, made);
  }
  desk.dispatcher.leased(testing::intent("a"), "w", {0}, desk.now);
  EXPECT_THAT(desk.choose(), ElementsAre("b -> w [1]"));
}

TEST(Dispatcher, best_fit_leaves_the_large_worker_free) {
  Desk desk;
  desk.worker("large", with_cpu(offer(8), 16000));
  desk.worker("small", with_cpu(offer(8), 2000));
  Task made = task("a");
  made.demand.resources.cpu_milli = 2000;
  desk.add("a", made);
  EXPECT_THAT(desk.choose(), ElementsAre("a -> small"));
}

TEST(Dispatcher, best_fit_keeps_workers_with_gpus_for_tasks_that_need_them) {
  Desk desk;
  desk.worker("gpu", with_gpus(offer(8), {{0, "T4", 16}}));
  desk.worker("plain", offer(8));
  desk.add("a");
  desk.add("b");
  EXPECT_THAT(desk.choose(), ElementsAre("a -> plain", "b -> plain"));
}

TEST(Dispatcher, equal_workers_take_turns) {
  Desk desk;
  for (const char* name : {"w1", "w2", "w3"}) desk.worker(name, offer(8));
  for (const char* name : {"a", "b", "c", "d"}) desk.add(name);
  EXPECT_THAT(desk.choose(), ElementsAre("a -> w1", "b -> w2", "c -> w3", "d -> w1"));
}

TEST(Dispatcher, first_fit_takes_the_first) {
  Desk desk({.policy = Policy::kFirstFit});
  for (const char* name : {"w1", "w2"}) desk.worker(name, offer(2));
  for (const char* name : {"a", "b", "c"}) desk.add(name);
  EXPECT_THAT(desk.choose(), ElementsAre("a -> w1", "b -> w1", "c -> w2"));
}

TEST(Dispatcher, processors_and_memory_in_use_count) {
  Desk desk;
  desk.worker("w", with_cpu(offer(8), 3000));
  for (const char* name : {"a", "b"}) {
    Task made = task(name);
    made.demand.resources.cpu_milli = 2000;
    desk.add(name, made);
  }
  EXPECT_THAT(desk.choose(), ElementsAre("a -> w"));
  EXPECT_THAT(desk.explain("b").workers.at(0).reason, HasSubstr("2 of 3 processors in use"));
  desk.end("a");
  EXPECT_THAT(desk.choose(), ElementsAre("b -> w"));
}

TEST(Dispatcher, eligible_but_busy_waits_for_ever) {
  Desk desk;
  desk.worker("w", offer());
  desk.add("a");
  desk.add("b");
  desk.choose();
  desk.expire();
  desk.now += std::uint64_t{365} * 86400 * kSecondNs;
  EXPECT_THAT(desk.expire(), IsEmpty());
  const Explanation why = desk.explain("b");
  EXPECT_EQ(why.kind, Explanation::Kind::kBusy);
  EXPECT_EQ(why.place, 1u);
  EXPECT_THAT(why.workers.at(0).reason, HasSubstr("runs 1 tasks and has 1 slots"));
}

TEST(Dispatcher, no_eligible_worker_gives_up_after_the_grace_and_not_before) {
  Desk desk;
  desk.add("a");
  EXPECT_THAT(desk.expire(), IsEmpty());
  desk.now += 59 * kSecondNs;
  EXPECT_THAT(desk.expire(), IsEmpty());
  EXPECT_EQ(desk.explain("a").kind, Explanation::Kind::kNoneEligible);
  desk.now += kSecondNs;
  EXPECT_THAT(desk.expire(), ElementsAre("a none eligible"));
  EXPECT_THAT(desk.expire(), IsEmpty()) << "it is told once";
}

TEST(Dispatcher, a_task_that_comes_late_has_a_whole_grace_of_its_own) {
  Desk desk;
  desk.add("a");
  desk.expire();
  desk.now += 50 * kSecondNs;
  desk.add("b");
  desk.expire();
  desk.now += 10 * kSecondNs;
  EXPECT_THAT(desk.expire(), ElementsAre("a none eligible"));
  desk.now += 50 * kSecondNs;
  EXPECT_THAT(desk.expire(), ElementsAre("b none eligible"));
}

TEST(Dispatcher, an_eligible_worker_ends_the_grace_and_the_next_begins_anew) {
  Desk desk;
  desk.add("a");
  desk.expire();
  desk.now += 59 * kSecondNs;
  desk.worker("w", offer(), 0);
  EXPECT_THAT(desk.expire(), IsEmpty());
  desk.now += 10 * kSecondNs;
  desk.dispatcher.set_live("w", false);
  EXPECT_THAT(desk.expire(), IsEmpty());
  desk.now += 59 * kSecondNs;
  EXPECT_THAT(desk.expire(), IsEmpty());
  desk.now += kSecondNs;
  EXPECT_THAT(desk.expire(), ElementsAre("a none eligible"));
}

TEST(Dispatcher, a_worker_that_failed_a_task_is_avoided_while_another_one_is_busy) {
  Desk desk;
  desk.worker("failed", offer());
  desk.worker("untried", offer(), 0);
  Task made = task("a");
  made.demand.avoided = {"failed"};
  desk.add("a", made);
  EXPECT_THAT(desk.choose(), IsEmpty());
  desk.now += 3600 * kSecondNs;
  EXPECT_THAT(desk.expire(), IsEmpty()) << "an untried worker is only busy";
  desk.dispatcher.set_want("untried", 1);
  EXPECT_THAT(desk.choose(), ElementsAre("a -> untried"));
}

TEST(Dispatcher, a_task_that_every_eligible_worker_failed_is_given_up_as_exhausted) {
  Desk desk;
  desk.worker("failed", offer());
  Task made = task("a");
  made.demand.avoided = {"failed"};
  desk.add("a", made);
  EXPECT_THAT(desk.choose(), IsEmpty());
  desk.expire();
  EXPECT_TRUE(desk.explain("a").is_exhausted);
  desk.now += 60 * kSecondNs;
  EXPECT_THAT(desk.expire(), ElementsAre("a exhausted"));
}

TEST(Dispatcher, cordoned_draining_lost_and_silent_workers_are_not_eligible) {
  for (const Mode mode : {Mode::kCordoned, Mode::kDraining, Mode::kLost, Mode::kLeft}) {
    Desk desk;
    desk.worker("w", offer());
    desk.dispatcher.set_mode("w", mode);
    desk.add("a");
    EXPECT_THAT(desk.choose(), IsEmpty());
    EXPECT_EQ(desk.explain("a").kind, Explanation::Kind::kNoneEligible);
    desk.dispatcher.set_mode("w", Mode::kActive);
    EXPECT_THAT(desk.choose(), ElementsAre("a -> w"));
  }
  Desk desk;
  desk.worker("w", offer());
  desk.dispatcher.set_live("w", false);
  desk.add("a");
  EXPECT_THAT(desk.choose(), IsEmpty());
  EXPECT_EQ(desk.explain("a").workers.at(0).reason, "was not heard within its TTL");
}

TEST(Dispatcher, the_explanation_names_what_does_not_fit_of_each_worker) {
  Desk desk;
  Offer other_queue = offer();
  other_queue.queues = {"night"};
  Offer other_type = offer();
  other_type.types = {"http"};
  desk.worker("1-queue", other_queue);
  desk.worker("2-type", other_type);
  desk.worker("3-label", with_cpu(offer(), 4000));
  Offer labelled = offer();
  labelled.labels = {{"zone", "a"}};
  desk.worker("4-cpu", with_cpu(labelled, 1000));
  labelled.memory_bytes = std::uint64_t{64} << 20;
  desk.worker("5-memory", with_cpu(labelled, 4000));
  labelled.memory_bytes = std::uint64_t{1} << 30;
  desk.worker("6-gpu", with_cpu(labelled, 4000));
  Offer gpu = with_gpus(with_cpu(labelled, 4000), {{0, "T4", 16}});
  desk.worker("7-recipe", gpu);
  desk.worker("8-cordoned", gpu);
  desk.dispatcher.set_mode("8-cordoned", Mode::kCordoned);
  Task made = task("a");
  made.demand.resources.labels = {{"zone", "a"}};
  made.demand.resources.cpu_milli = 2000;
  made.demand.resources.memory_bytes = std::uint64_t{256} << 20;
  made.demand.resources.gpu = tasks::Gpu{};
  desk.add("a", made);
  Lines reasons;
  for (const auto& each : desk.explain("a").workers)
    reasons.push_back(each.worker + " " + each.reason);
  EXPECT_THAT(reasons, ElementsAre("1-queue does not serve the queue default, only night",
                                   "2-type does not run the task type echo, only http",
                                   "3-label does not have the label zone=a",
                                   "4-cpu has 1 processors; the task needs 2",
                                   "5-memory has 64Mi of memory; the task needs 256Mi",
                                   "6-gpu has 0 GPUs that fit; the task needs 1 GPU",
                                   "7-recipe is free", "8-cordoned is cordoned"));
}

TEST(Dispatcher, selected_workers_are_the_only_ones) {
  Desk desk;
  desk.worker("w1", offer(4));
  desk.worker("w2", offer(4));
  Task made = task("a");
  made.demand.selected = {"w2"};
  desk.add("a", made);
  EXPECT_THAT(desk.choose(), ElementsAre("a -> w2"));
}

TEST(Dispatcher, a_worker_that_offers_less_than_it_has_in_use_gets_nothing_until_that_ends) {
  Desk desk;
  desk.worker("w", with_cpu(offer(4), 4000));
  Task big = task("big");
  big.demand.resources.cpu_milli = 4000;
  desk.add("big", big);
  EXPECT_THAT(desk.choose(), SizeIs(1));
  desk.worker("w", with_cpu(offer(4), 1000));
  Task small = task("small");
  small.demand.resources.cpu_milli = 500;
  desk.add("small", small);
  EXPECT_THAT(desk.choose(), IsEmpty());
  desk.end("big");
  EXPECT_THAT(desk.choose(), ElementsAre("small -> w"));
}

TEST(Dispatcher, figures_of_a_queue_count_waiting_and_running_and_know_the_oldest) {
  Desk desk;
  desk.worker("w", offer());
  desk.add("a");
  desk.now += kSecondNs;
  desk.add("b");
  EXPECT_EQ(desk.dispatcher.queues().at("default").waiting, 2u);
  EXPECT_EQ(desk.dispatcher.queues().at("default").oldest_ns, desk.now - kSecondNs);
  desk.choose();
  const QueueFigures& figures = desk.dispatcher.queues().at("default");
  EXPECT_EQ(figures.waiting, 1u);
  EXPECT_EQ(figures.running, 1u);
  EXPECT_EQ(figures.oldest_ns, desk.now);
  desk.end("a");
  desk.end("b");
  EXPECT_THAT(desk.dispatcher.queues(), IsEmpty());
}

TEST(Dispatcher, says_of_every_moment_of_a_task_what_it_is) {
  using Kind = Explanation::Kind;
  Desk desk;
  desk.worker("w1", offer());
  EXPECT_EQ(desk.explain("a").kind, Kind::kUnknown);
  desk.add("a");
  EXPECT_EQ(desk.explain("a").kind, Kind::kBusy);
  desk.choose();
  EXPECT_EQ(desk.explain("a").kind, Kind::kChosen);
  EXPECT_EQ(desk.explain("a").worker, "w1");
  desk.dispatcher.leased(testing::intent("a"), "w1", {}, desk.now);
  EXPECT_EQ(desk.explain("a").kind, Kind::kLeased);
  EXPECT_EQ(desk.explain("a").worker, "w1");
  desk.dispatcher.reported(testing::intent("a"), desk.now);
  EXPECT_EQ(desk.explain("a").kind, Kind::kEnding);
  desk.end("a");
  EXPECT_EQ(desk.explain("a").kind, Kind::kUnknown);
}

// Ends each task as soon as it is placed, as fast workers would.
void place_all(Desk& desk, int tasks, int demands, int workers) {
  for (int i = 0; i < tasks; ++i) {
    Task made = task("t" + std::to_string(i), "g" + std::to_string(i % 7));
    made.demand.resources.cpu_milli = static_cast<std::uint64_t>(i % demands + 1);
    made.queued_ns = desk.now;
    desk.dispatcher.add(made, desk.now);
  }
  for (int i = 0; i < workers; ++i)
    desk.worker("w" + std::to_string(i), with_cpu(offer(4), 100'000), 4);
  int placed = 0;
  while (placed < tasks) {
    const auto choices = desk.dispatcher.choose(desk.now, 256);
    ASSERT_TRUE(!choices.empty() || desk.dispatcher.has_more());
    for (const Choice& choice : choices) {
      desk.dispatcher.remove(choice.intent, desk.now);
      desk.dispatcher.set_want(choice.worker, 4);
    }
    placed += static_cast<int>(choices.size());
  }
  EXPECT_EQ(desk.dispatcher.size(), 0u);
}

TEST(Dispatcher, a_hundred_thousand_tasks_are_placed_on_a_thousand_workers) {
  Desk desk;
  place_all(desk, 100'000, 20, 1000);
}

TEST(Dispatcher, tasks_that_all_ask_for_something_else_are_placed_too) {
  Desk desk;
  place_all(desk, 2000, 2000, 10);
}

}  // namespace
}  // namespace holdfast::dispatch
