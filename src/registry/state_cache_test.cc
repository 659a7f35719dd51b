// SPDX-License-Identifier: Apache-2.0
#include "registry/state_cache.h"

#include "registry/testing.h"

namespace holdfast::registry {
namespace {

using testing::Actor;
using testing::Machine;

TEST(StateCache, knows_the_bytes_that_were_kept_last_and_no_others) {
  StateCache cache;
  EXPECT_FALSE(cache.find(""));
  State state;
  state.workflows.push_back({.name = "train", .recipe = "llama"});
  cache.keep("one", state);
  ASSERT_TRUE(cache.find("one"));
  EXPECT_EQ(cache.find("one")->workflows[0].name, "train");
  EXPECT_FALSE(cache.find("one "));
  cache.keep("two", {});
  EXPECT_FALSE(cache.find("one"));
  EXPECT_TRUE(cache.find("two"));
  cache.keep(std::string(std::size_t{2} << 20, ' '), {});
  EXPECT_FALSE(cache.find("two")) << "what is too large to keep takes its place all the same";
  EXPECT_FALSE(cache.find(std::string(std::size_t{2} << 20, ' ')));
}

TEST(StateCache, state_that_was_written_is_the_state_that_is_read) {
  Machine machine;
  machine.clock.advance_ns(123'456'789);
  const Actor a(machine, 50);
  ASSERT_TRUE(a.lease("train", "llama", true));
  const auto swap = a.swap("llama");
  ASSERT_TRUE(swap);
  const std::string bytes = *machine.file("workflows.json");
  const auto kept = a.site().cache->find(bytes);
  ASSERT_TRUE(kept);
  const State read = *parse_state(bytes);
  ASSERT_EQ(kept->workflows.size(), 1u);
  EXPECT_EQ(kept->workflows[0].started_at_ns, read.workflows[0].started_at_ns);
  EXPECT_EQ(kept->workflows[0].last_renewed_at_ns, read.workflows[0].last_renewed_at_ns);
  EXPECT_EQ(kept->swap->started_at_ns, read.swap->started_at_ns);
  EXPECT_EQ(kept->swap->holder, read.swap->holder);
  EXPECT_EQ(kept->workflows[0].owner, read.workflows[0].owner);
  EXPECT_EQ(*to_json(*kept), bytes);
}

TEST(StateCache, what_somebody_else_has_written_since_is_not_overlooked) {
  Machine machine;
  const Actor a(machine, 50);
  const Actor b(machine, 51);
  ASSERT_TRUE(a.lease("train", "llama"));
  ASSERT_TRUE(b.lease("serve", "llama"));
  ASSERT_TRUE(renew_lease(a.site(), "train", {}));
  EXPECT_EQ(a.live(), "train serve");
  ASSERT_TRUE(*release_lease(b.site(), "train", {.is_operator = true}));
  EXPECT_EQ(testing::code(renew_lease(a.site(), "train", {})), base::ErrorCode::kNotFound);
  EXPECT_EQ(a.live(), "serve");
}

}  // namespace
}  // namespace holdfast::registry
