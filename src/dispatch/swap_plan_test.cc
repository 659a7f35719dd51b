// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/testing.h"

namespace holdfast::dispatch {
namespace {

using testing::Desk;
using ::testing::ElementsAre;
using testing::intent;
using ::testing::IsEmpty;
using testing::Lines;

Offer with_recipes(std::vector<std::string> recipes, std::uint32_t slots = 4) {
  Offer made = testing::offer(slots);
  made.recipes = std::move(recipes);
  return made;
}

Task with_recipe(std::string_view name, std::string_view recipe) {
  Task made = testing::task(name);
  made.demand.resources.recipe = recipe;
  return made;
}

RecipeState serving(std::vector<std::string> recipes) {
  return {.serving = std::move(recipes), .can_swap = true};
}

RecipeState swapping(std::string recipe) {
  return {.swapping = std::move(recipe), .can_swap = true};
}

struct SwapPlan : ::testing::Test {
  void worker(std::string_view id, RecipeState state, std::uint32_t slots = 4) {
    desk.worker(id, with_recipes({"a", "b", "c"}, slots));
    desk.dispatcher.set_recipes(id, std::move(state));
  }
  void add(std::string_view name, std::string_view recipe) {
    desk.now += kSecondNs;  // so that the order in which they came is plain
    desk.add(name, with_recipe(name, recipe));
  }
  // "w1 -> a" for each worker that is asked.
  Lines plan() {
    desk.dispatcher.plan_swaps();
    Lines lines;
    desk.dispatcher.fleet().each([&](const Candidate& each) {
      if (!each.asked_for.empty()) lines.push_back(each.id + " -> " + each.asked_for);
      return true;
    });
    return lines;
  }

  Desk desk;
};

TEST_F(SwapPlan, a_task_goes_to_a_worker_that_serves_its_recipe_now) {
  worker("w1", serving({"a"}));
  worker("w2", serving({"b"}));
  add("t", "b");
  EXPECT_THAT(desk.choose(), ElementsAre("t -> w2"));
  EXPECT_THAT(plan(), IsEmpty());
}

TEST_F(SwapPlan, a_worker_without_a_registry_serves_all_that_it_offers) {
  desk.worker("w1", with_recipes({"a", "b"}));
  add("t", "b");
  EXPECT_THAT(desk.choose(), ElementsAre("t -> w1"));
}

TEST_F(SwapPlan, if_none_serves_it_one_is_asked_and_the_task_waits) {
  worker("w1", serving({"a"}));
  worker("w2", serving({"a"}));
  add("t", "b");
  EXPECT_THAT(desk.choose(), IsEmpty());
  EXPECT_THAT(plan(), ElementsAre("w1 -> b"));
  EXPECT_THAT(plan(), ElementsAre("w1 -> b"));  // it stays with that one
  desk.dispatcher.set_recipes("w1", swapping("b"));
  EXPECT_THAT(plan(), IsEmpty());
  const Explanation why = desk.explain("t");
  EXPECT_EQ(why.kind, Explanation::Kind::kSwapping);
  EXPECT_EQ(why.recipe, "b");
  EXPECT_EQ(why.worker, "w1");
  desk.dispatcher.set_recipes("w1", serving({"b"}));
  EXPECT_THAT(desk.choose(), ElementsAre("t -> w1"));
}

TEST_F(SwapPlan, a_worker_that_has_work_for_its_recipe_is_not_asked) {
  worker("w1", serving({"a"}), 1);
  add("a1", "a");
  EXPECT_THAT(desk.choose(), ElementsAre("a1 -> w1"));
  add("b1", "b");
  add("a2", "a");
  EXPECT_THAT(plan(), IsEmpty());
  EXPECT_EQ(desk.explain("b1").workers.at(0).reason,
            "serves the recipe a; it swaps when no work for that waits");
  desk.end("a2");
  EXPECT_THAT(plan(), ElementsAre("w1 -> b"));
  EXPECT_EQ(desk.explain("b1").workers.at(0).reason,
            "serves the recipe a, and is asked to swap to b");
}

TEST_F(SwapPlan, the_worker_with_the_fewest_tasks_for_its_recipe_is_asked) {
  worker("w1", serving({"a"}));
  worker("w2", serving({"c"}));
  add("a1", "a");
  EXPECT_THAT(desk.choose(), ElementsAre("a1 -> w1"));
  add("b1", "b");
  EXPECT_THAT(plan(), ElementsAre("w2 -> b"));
}

TEST_F(SwapPlan, another_worker_is_asked_after_a_swap_that_was_not_done) {
  worker("w1", serving({"a"}));
  worker("w2", serving({"a"}));
  add("t", "b");
  EXPECT_THAT(plan(), ElementsAre("w1 -> b"));
  desk.dispatcher.set_recipes(
      "w1", RecipeState{.serving = {"a"}, .can_swap = true, .problem = "no room"});
  EXPECT_THAT(plan(), ElementsAre("w2 -> b"));
  EXPECT_EQ(desk.explain("t").workers.at(0).reason,
            "serves the recipe a; its last swap was not done: no room");
}

TEST_F(SwapPlan, two_recipes_are_swapped_in_on_two_workers_the_oldest_first) {
  worker("w1", serving({}));
  add("c1", "c");
  add("b1", "b");
  EXPECT_THAT(plan(), ElementsAre("w1 -> c"));
  worker("w2", serving({}));
  EXPECT_THAT(plan(), ElementsAre("w1 -> c", "w2 -> b"));
}

TEST_F(SwapPlan, nothing_is_asked_when_nothing_waits_any_more) {
  worker("w1", serving({"a"}));
  add("t", "b");
  EXPECT_THAT(desk.dispatcher.plan_swaps(), ElementsAre("w1"));
  desk.end("t");
  EXPECT_THAT(desk.dispatcher.plan_swaps(), ElementsAre("w1"));  // that it is not asked any more
  EXPECT_THAT(plan(), IsEmpty());
  EXPECT_THAT(desk.dispatcher.plan_swaps(), IsEmpty());
}

TEST_F(SwapPlan, who_may_not_work_or_cannot_swap_is_not_asked) {
  worker("w1", serving({"a"}));
  desk.dispatcher.set_mode("w1", Mode::kCordoned);
  worker("w2", RecipeState{.serving = {"a"}});
  add("t", "b");
  EXPECT_THAT(plan(), IsEmpty());
  const Explanation why = desk.explain("t");
  EXPECT_EQ(why.kind, Explanation::Kind::kBusy);
  EXPECT_EQ(why.workers.at(1).reason, "serves the recipe a, and does not swap");
}

TEST_F(SwapPlan, tasks_without_a_recipe_are_placed_during_a_swap) {
  worker("w1", swapping("b"));
  desk.add("t");
  EXPECT_THAT(desk.choose(), ElementsAre("t -> w1"));
}

TEST_F(SwapPlan, a_recipe_that_no_worker_offers_is_given_up_as_before) {
  worker("w1", serving({"a"}));
  add("t", "z");
  EXPECT_THAT(plan(), IsEmpty());
  EXPECT_EQ(desk.explain("t").kind, Explanation::Kind::kNoneEligible);
  EXPECT_THAT(desk.expire(), IsEmpty());
  desk.now += 60 * kSecondNs;
  EXPECT_THAT(desk.expire(), ElementsAre("t none eligible"));
}

}  // namespace
}  // namespace holdfast::dispatch
