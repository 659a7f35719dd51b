// SPDX-License-Identifier: Apache-2.0
#include "registry/leases.h"

#include "registry/signals.h"
#include "registry/testing.h"

namespace holdfast::registry {
namespace {

using base::ErrorCode;
using testing::Actor;
using testing::code;
using testing::kSecond;
using testing::Machine;
using testing::trouble;

constexpr std::int64_t kTenYears = std::int64_t{10} * 366 * 24 * 3600 * kSecond;

struct LeasesTest : ::testing::Test {
  Machine machine;
  Actor a{machine, 50};
  Actor b{machine, 51};
};

TEST_F(LeasesTest, registering_renewing_and_releasing) {
  const auto lease = a.lease("train", "llama");
  ASSERT_TRUE(lease) << lease.error().to_string();
  EXPECT_EQ(lease->owner.pid, 50);
  EXPECT_EQ(lease->started_at_ns, machine.clock.wall_ns());
  EXPECT_EQ(b.live(), "train");
  machine.clock.advance_ns(30 * kSecond);
  const auto renewed = renew_lease(a.site(), "train", {});
  ASSERT_TRUE(renewed) << renewed.error().to_string();
  EXPECT_EQ(renewed->started_at_ns, lease->started_at_ns);
  EXPECT_EQ(renewed->last_renewed_at_ns, lease->started_at_ns + 30 * kSecond);
  EXPECT_TRUE(*release_lease(a.site(), "train", {}));
  EXPECT_EQ(b.live(), "");
}

TEST_F(LeasesTest, registry_that_nobody_has_used_is_empty) {
  EXPECT_EQ(a.live(), "");
  EXPECT_TRUE(machine.names().empty()) << "and reading makes nothing";
}

TEST_F(LeasesTest, contrary_swap_refuses_with_eagain) {
  auto swap = b.swap("qwen");
  ASSERT_TRUE(swap) << swap.error().to_string();
  const auto refused = a.lease("train", "llama");
  ASSERT_FALSE(refused);
  EXPECT_EQ(code(refused), ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message().find("EAgain"), std::string::npos);
  EXPECT_NE(refused.error().message().find("qwen"), std::string::npos);
  ASSERT_TRUE(swap->finish(b.site()));
  EXPECT_TRUE(a.lease("train", "llama"));
}

TEST_F(LeasesTest, swap_to_the_same_recipe_admits) {
  const auto swap = b.swap("qwen");
  ASSERT_TRUE(swap) << swap.error().to_string();
  const auto admitted = a.lease("train", "qwen");
  EXPECT_TRUE(admitted) << admitted.error().to_string();
  EXPECT_EQ(a.swapping(), "qwen") << "and the marker stays";
}

TEST_F(LeasesTest, registering_sweeps_the_dead_with_their_signal_files) {
  Actor dying(machine, 60);
  ASSERT_TRUE(dying.lease("old", "llama", true));
  ASSERT_TRUE(request_preempt(a.site(), "old"));
  ASSERT_EQ(machine.signals().size(), 1u);
  dying.die();
  ASSERT_TRUE(a.lease("train", "llama"));
  EXPECT_EQ(list(a.site())->workflows.size(), 1u);
  EXPECT_TRUE(machine.signals().empty());
}

TEST_F(LeasesTest, registering_sweeps_the_expired_with_their_signal_files) {
  ASSERT_TRUE(b.lease("old", "llama", true, 60));
  ASSERT_TRUE(request_preempt(a.site(), "old"));
  machine.clock.advance_ns(60 * kSecond + 1);
  ASSERT_TRUE(a.lease("train", "llama"));
  EXPECT_EQ(list(a.site())->workflows.size(), 1u);
  EXPECT_TRUE(machine.signals().empty());
}

TEST_F(LeasesTest, expiry_is_strict_and_counts_from_the_last_renewal) {
  ASSERT_TRUE(b.lease("train", "llama", false, 60));
  machine.clock.advance_ns(60 * kSecond);
  EXPECT_EQ(a.live(), "train") << "at the very end of its time it is alive";
  ASSERT_TRUE(renew_lease(b.site(), "train", {}));
  machine.clock.advance_ns(60 * kSecond);
  EXPECT_EQ(a.live(), "train");
  machine.clock.advance_ns(1);
  EXPECT_EQ(a.live(), "");
}

TEST_F(LeasesTest, step_of_the_wall_clock_expires_nobody_and_keeps_nobody) {
  ASSERT_TRUE(b.lease("train", "llama", false, 60));
  const std::int64_t now = machine.clock.wall_ns();
  for (const std::int64_t step : {kTenYears, -kTenYears}) {
    machine.clock.set_wall_ns(now + step);
    ASSERT_TRUE(a.lease("other", "llama"));
    EXPECT_EQ(a.live(), "train other") << step;
    ASSERT_TRUE(renew_lease(b.site(), "train", {}));
  }
  machine.clock.advance_ns(61 * kSecond);
  machine.clock.set_wall_ns(now - kTenYears);
  EXPECT_EQ(a.live(), "");
}

// Ten years of sleep: both clocks go on, so who was not woken to renew is late.
TEST_F(LeasesTest, ten_years_that_have_passed_expire_a_lease) {
  ASSERT_TRUE(b.lease("train", "llama", false, kMaxTtlSeconds));
  machine.clock.advance_ns(kTenYears);
  EXPECT_EQ(a.live(), "");
  EXPECT_EQ(code(renew_lease(b.site(), "train", {})), ErrorCode::kNotFound);
}

// The wall clock is set while a swap waits: neither is it given up early, nor does it wait longer.
TEST_F(LeasesTest, step_of_the_wall_clock_moves_no_deadline) {
  for (const std::int64_t step : {kTenYears, -kTenYears}) {
    ASSERT_TRUE(b.lease("train", "llama", true, 3600));
    const std::int64_t begun = machine.clock.since_boot_ns();
    a.while_asleep = [&] { machine.clock.set_wall_ns(machine.clock.wall_ns() + step / 100); };
    EXPECT_EQ(code(a.swap("qwen", 5 * kSecond)), ErrorCode::kUnavailable);
    const std::int64_t waited = machine.clock.since_boot_ns() - begun;
    EXPECT_GE(waited, 5 * kSecond) << step;
    EXPECT_LT(waited, 6 * kSecond) << step;
    EXPECT_EQ(a.live(), "train") << step;
  }
}

// A machine that was started again has a clock that begins anew: what it says is less than what was
// written, and no lease of before is anybody's; nor does it keep one of now alive.
TEST_F(LeasesTest, clock_that_begins_anew_with_the_machine_misleads_nobody) {
  ASSERT_TRUE(b.lease("train", "llama", false, 60));
  Machine again(std::move(machine.disk));  // a thousand seconds after its start, as the first
  again.boot_id = "boot-2";
  const Actor survivor(again, 51);  // the same number
  EXPECT_EQ(survivor.live(), "");
  ASSERT_TRUE(survivor.lease("train", "llama", false, 60));
  again.clock.set_wall_ns(again.clock.wall_ns() - kTenYears);
  EXPECT_EQ(survivor.live(), "train");
  again.clock.advance_ns(60 * kSecond + 1);
  EXPECT_EQ(survivor.live(), "");
}

TEST_F(LeasesTest, renewal_in_the_future_counts_as_now) {
  ASSERT_TRUE(b.lease("train", "llama"));
  std::string text = *machine.file("workflows.json");
  const std::string member = "\"renewed_since_boot_ns\": ";
  text.insert(text.find(member) + member.size(), "9999");
  machine.put("workflows.json", text);
  EXPECT_EQ(a.live(), "train");
}

TEST_F(LeasesTest, same_name_by_the_same_owner_replaces_and_refreshes) {
  const auto first = a.lease("train", "llama", true);
  ASSERT_TRUE(first);
  ASSERT_TRUE(request_preempt(b.site(), "train"));
  machine.clock.advance_ns(50 * kSecond);
  const auto second = a.lease("train", "qwen", true);
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_NE(second->owner.nonce, first->owner.nonce);
  machine.clock.advance_ns(50 * kSecond);
  const auto listing = list(b.site());
  ASSERT_EQ(listing->workflows.size(), 1u);
  EXPECT_EQ(listing->workflows[0].workflow.recipe, "qwen");
  EXPECT_EQ(listing->workflows[0].standing, Standing::kLive);
  EXPECT_TRUE(machine.signals().empty())
      << "what was asked of the first is not asked of the second";
  EXPECT_EQ(code(renew_lease(a.site(), "train", {.nonce = first->owner.nonce})),
            ErrorCode::kConflict);
  EXPECT_TRUE(renew_lease(a.site(), "train", {.nonce = second->owner.nonce}));
}

TEST_F(LeasesTest, same_name_by_another_live_owner_is_refused) {
  ASSERT_TRUE(a.lease("train", "llama"));
  const auto refused = b.lease("train", "llama");
  ASSERT_FALSE(refused);
  EXPECT_EQ(code(refused), ErrorCode::kConflict);
  EXPECT_NE(refused.error().message().find("process 50"), std::string::npos);
  a.die();
  EXPECT_TRUE(b.lease("train", "llama"));
}

TEST_F(LeasesTest, only_the_owner_renews_and_releases_unless_an_operator_decides) {
  ASSERT_TRUE(a.lease("train", "llama"));
  EXPECT_EQ(code(renew_lease(b.site(), "train", {})), ErrorCode::kConflict);
  EXPECT_EQ(code(release_lease(b.site(), "train", {})), ErrorCode::kConflict);
  EXPECT_EQ(code(clear_preempt(b.site(), "train", {})), ErrorCode::kConflict);
  EXPECT_EQ(code(renew_lease(b.site(), "train", {.pid = 999})), ErrorCode::kConflict);
  EXPECT_EQ(code(renew_lease(b.site(), "train", {.pid = -1})), ErrorCode::kInvalid);
  EXPECT_TRUE(renew_lease(b.site(), "train", {.pid = 50})) << "on behalf of its owner";
  EXPECT_TRUE(renew_lease(b.site(), "train", {.is_operator = true}));
  EXPECT_EQ(code(release_lease(b.site(), "train", {.nonce = "another", .is_operator = true})),
            ErrorCode::kConflict)
      << "who names a lease means that one";
  EXPECT_TRUE(*release_lease(b.site(), "train", {.is_operator = true}));
  EXPECT_EQ(a.live(), "");
}

TEST_F(LeasesTest, recycled_number_neither_owns_nor_keeps_alive) {
  Actor first(machine, 60, 7);
  const auto lease = first.lease("train", "llama");
  ASSERT_TRUE(lease);
  first.die();
  const Actor second(machine, 60, 7);  // the same number, within the same tick
  EXPECT_EQ(a.live(), "");
  EXPECT_EQ(code(renew_lease(second.site(), "train", {})), ErrorCode::kConflict);
  EXPECT_EQ(code(release_lease(second.site(), "train", {.nonce = lease->owner.nonce})),
            ErrorCode::kConflict);
}

TEST_F(LeasesTest, renewing_what_is_not_there_is_an_error_and_releasing_it_is_not) {
  EXPECT_EQ(code(renew_lease(a.site(), "train", {})), ErrorCode::kNotFound);
  EXPECT_FALSE(*release_lease(a.site(), "train", {}));
  ASSERT_TRUE(a.lease("train", "llama", false, 60));
  machine.clock.advance_ns(61 * kSecond);
  EXPECT_EQ(code(renew_lease(a.site(), "train", {})), ErrorCode::kNotFound) << "not swept yet";
  ASSERT_TRUE(b.lease("other", "llama"));
  EXPECT_EQ(code(renew_lease(a.site(), "train", {})), ErrorCode::kNotFound) << "swept";
  EXPECT_FALSE(*release_lease(a.site(), "train", {}));
}

TEST_F(LeasesTest, what_makes_no_sense_is_refused_before_anything_is_touched) {
  const NewLease good{.name = "train", .recipe = "llama"};
  const auto refused = [&](auto change) {
    NewLease lease = good;
    change(lease);
    return code(add_lease(a.site(), lease));
  };
  EXPECT_EQ(refused([](NewLease& l) { l.ttl_seconds = 0; }), ErrorCode::kInvalid);
  EXPECT_EQ(refused([](NewLease& l) { l.ttl_seconds = -1; }), ErrorCode::kInvalid);
  EXPECT_EQ(refused([](NewLease& l) { l.ttl_seconds = kMaxTtlSeconds + 1; }), ErrorCode::kInvalid);
  EXPECT_EQ(refused([](NewLease& l) { l.name = ""; }), ErrorCode::kInvalid);
  EXPECT_EQ(refused([](NewLease& l) { l.recipe = "a\nb"; }), ErrorCode::kInvalid);
  EXPECT_EQ(refused([](NewLease& l) { l.signal_path = "preempt-x"; }), ErrorCode::kInvalid);
  EXPECT_EQ(refused([](NewLease& l) { l.pid = -4; }), ErrorCode::kInvalid);
  EXPECT_TRUE(machine.names().empty());
  EXPECT_EQ(refused([](NewLease& l) { l.pid = 999; }), ErrorCode::kNotFound);
  EXPECT_EQ(refused([](NewLease& l) {
              l.preemptible = true;
              l.signal_path = "/etc/passwd";
            }),
            ErrorCode::kInvalid);
  EXPECT_EQ(a.live(), "");
}

TEST_F(LeasesTest, signal_file_of_another_is_refused_and_a_stale_one_asks_nobody) {
  machine.put("preempt-mine", "from long ago");
  const NewLease lease{
      .name = "train", .recipe = "llama", .preemptible = true, .signal_path = "preempt-mine"};
  ASSERT_TRUE(add_lease(a.site(), lease));
  EXPECT_FALSE(*is_preempt_requested(a.site(), "train"));
  NewLease other = lease;
  other.name = "other";
  EXPECT_EQ(code(add_lease(b.site(), other)), ErrorCode::kConflict);
}

TEST_F(LeasesTest, refused_registration_still_clears_and_sweeps) {
  Actor dying(machine, 60);
  ASSERT_TRUE(dying.lease("old", "llama"));
  ASSERT_TRUE(a.lease("train", "llama"));
  dying.die();
  EXPECT_EQ(code(b.lease("train", "llama")), ErrorCode::kConflict);
  EXPECT_EQ(list(b.site())->workflows.size(), 1u);
}

TEST_F(LeasesTest, owner_in_another_container_lives_by_its_time_to_live_alone) {
  ASSERT_TRUE(b.lease("train", "llama", false, 60));
  machine.table.space = "pid:[2]";
  const Actor stranger(machine, 70);
  ASSERT_TRUE(stranger.lease("mine", "llama"));
  EXPECT_EQ(stranger.live(), "train mine");
  machine.clock.advance_ns(60 * kSecond + 1);
  EXPECT_EQ(stranger.live(), "");
}

TEST_F(LeasesTest, start_of_the_machine_ends_every_lease) {
  ASSERT_TRUE(a.lease("train", "llama"));
  ASSERT_TRUE(b.lease("serve", "llama"));
  machine.boot_id = "boot-2";
  EXPECT_EQ(a.live(), "");
  ASSERT_TRUE(a.lease("new", "qwen"));
  EXPECT_EQ(list(a.site())->workflows.size(), 1u);
}

TEST_F(LeasesTest, preemption_is_asked_seen_and_cleared) {
  const auto lease = a.lease("train", "llama", true);
  ASSERT_TRUE(lease);
  EXPECT_FALSE(*is_preempt_requested(a.site(), "train"));
  ASSERT_TRUE(request_preempt(b.site(), "train"));
  ASSERT_TRUE(request_preempt(b.site(), "train")) << "again is as well";
  EXPECT_EQ(machine.signals(), std::vector<std::string>{lease->signal_name});
  EXPECT_EQ(machine.lines_with("preempt_requested"), 1u);
  EXPECT_TRUE(*is_preempt_requested(a.site(), "train"));
  const std::string told = *machine.file(lease->signal_name);
  EXPECT_NE(told.find("\"workflow\":\"train\",\"requested_by\":\"operator\""), std::string::npos)
      << told;
  EXPECT_TRUE(*clear_preempt(a.site(), "train", {}));
  EXPECT_FALSE(*clear_preempt(a.site(), "train", {})) << "what is not there is clear";
  EXPECT_TRUE(machine.signals().empty());
  EXPECT_FALSE(*is_preempt_requested(a.site(), "train"));
}

TEST_F(LeasesTest, who_is_not_preemptible_or_not_there_is_not_asked) {
  ASSERT_TRUE(a.lease("train", "llama"));
  EXPECT_EQ(code(request_preempt(b.site(), "train")), ErrorCode::kConflict);
  EXPECT_FALSE(*is_preempt_requested(b.site(), "train"));
  EXPECT_EQ(code(request_preempt(b.site(), "nobody")), ErrorCode::kNotFound);
  EXPECT_EQ(code(is_preempt_requested(b.site(), "nobody")), ErrorCode::kNotFound);
  EXPECT_EQ(code(clear_preempt(b.site(), "nobody", {})), ErrorCode::kNotFound);
  EXPECT_TRUE(machine.signals().empty());
}

TEST_F(LeasesTest, release_removes_the_signal_file) {
  ASSERT_TRUE(a.lease("train", "llama", true));
  ASSERT_TRUE(request_preempt(b.site(), "train"));
  ASSERT_TRUE(*release_lease(a.site(), "train", {}));
  EXPECT_TRUE(machine.signals().empty());
}

TEST_F(LeasesTest, members_that_nobody_knows_survive_a_change) {
  ASSERT_TRUE(a.lease("train", "llama"));
  std::string text = *machine.file("workflows.json");
  text.insert(text.find("\"name\""), "\"rack\": [7], ");
  text.insert(text.find("\"workflows\""), "\"site\": {\"x\": 1.5}, ");
  machine.put("workflows.json", text);
  ASSERT_TRUE(renew_lease(a.site(), "train", {}));
  ASSERT_TRUE(b.lease("other", "llama"));
  const State state = *parse_state(*machine.file("workflows.json"));
  ASSERT_EQ(state.unknown.size(), 1u);
  EXPECT_EQ(state.unknown[0].first, "site");
  ASSERT_EQ(state.workflows[0].unknown.size(), 1u);
  EXPECT_EQ(state.workflows[0].unknown[0].first, "rack");
}

}  // namespace
}  // namespace holdfast::registry
