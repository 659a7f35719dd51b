// SPDX-License-Identifier: Apache-2.0
#include "registry/identity.h"

#include "registry/testing.h"

namespace holdfast::registry {
namespace {

using testing::Actor;
using testing::Machine;

struct IdentityTest : ::testing::Test {
  Life life(const Identity& identity) { return *Witness(watcher.site().host).life_of(identity); }
  Identity identity_of(const Actor& actor) {
    return *Witness(watcher.site().host).identify(actor.pid());
  }

  Machine machine;
  Actor watcher{machine, 1};
};

TEST_F(IdentityTest, process_that_exists_with_the_recorded_start_is_alive) {
  const Actor actor(machine, 50);
  EXPECT_EQ(life(identity_of(actor)), Life::kAlive);
}

TEST_F(IdentityTest, process_that_has_ended_is_dead) {
  Actor actor(machine, 50);
  const Identity identity = identity_of(actor);
  actor.die();
  EXPECT_EQ(life(identity), Life::kDead);
}

TEST_F(IdentityTest, recycled_number_with_another_start_is_dead) {
  Actor actor(machine, 50, 7);
  machine.table.processes[50].pidfd_inode = 0;  // an old kernel
  const Identity identity = identity_of(actor);
  actor.die();
  const Actor other(machine, 50, 8);
  machine.table.processes[50].pidfd_inode = 0;
  EXPECT_EQ(life(identity), Life::kDead);
}

TEST_F(IdentityTest, recycled_number_with_the_same_start_is_dead) {
  Actor actor(machine, 50, 7);
  const Identity identity = identity_of(actor);
  actor.die();
  const Actor other(machine, 50, 7);
  EXPECT_EQ(life(identity), Life::kDead);
  EXPECT_FALSE(is_same_process(identity, identity_of(other)));
}

TEST_F(IdentityTest, start_of_the_machine_ends_everybody) {
  const Actor actor(machine, 50);
  const Identity identity = identity_of(actor);
  machine.boot_id = "boot-2";
  EXPECT_EQ(life(identity), Life::kDead);
}

TEST_F(IdentityTest, what_the_system_does_not_tell_makes_nobody_dead) {
  const Actor actor(machine, 50);
  const Identity identity = identity_of(actor);
  machine.table.processes[50] = {.start_ns = std::nullopt, .pidfd_inode = 0};
  EXPECT_EQ(life(identity), Life::kAlive);
  EXPECT_EQ(testing::code(Witness(watcher.site().host).identify(50)), base::ErrorCode::kIo)
      << "but one of whom nothing is told cannot be known again";
}

TEST_F(IdentityTest, process_of_another_container_cannot_be_judged) {
  const Actor actor(machine, 50);
  const Identity identity = identity_of(actor);
  machine.table.space = "pid:[2]";
  machine.table.processes.clear();
  EXPECT_EQ(life(identity), Life::kHidden);
}

TEST_F(IdentityTest, each_has_a_nonce_of_its_own) {
  const Actor actor(machine, 50);
  const Identity first = identity_of(actor);
  const Identity second = identity_of(actor);
  EXPECT_EQ(first.nonce.size(), 32u);
  EXPECT_NE(first.nonce, second.nonce);
  EXPECT_TRUE(is_same_process(first, second));
  EXPECT_EQ(testing::code(Witness(watcher.site().host).identify(51)), base::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace holdfast::registry
