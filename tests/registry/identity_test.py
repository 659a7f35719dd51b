#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whom the real program takes for alive: recycled numbers, a machine that was started again, clocks that step."""
import contextlib
import datetime
import os
import subprocess
import time
import unittest

from registry_folder import CONTENDER, IN_MEMORY, PATIENCE, STEPPED_CLOCK, TRY_AGAIN, RegistryFolderTest

TEN_YEARS = 3660 * 24 * 3600  # seconds
CONTAINER = ["unshare", "--pid", "--fork", "--mount-proc"]


def has_containers():
    """Root may make them, unless it is in one itself that may not."""
    probe = ["sh", "-c", "echo 2999 > /proc/sys/kernel/ns_last_pid"]
    with contextlib.suppress(OSError):
        return subprocess.run([*CONTAINER, *probe], capture_output=True, timeout=PATIENCE, check=False).returncode == 0
    return False


needs_container = unittest.skipUnless(has_containers(), "nobody may make a container here")


class Identity(RegistryFolderTest):
    place = IN_MEMORY  # a number is to come back, with a lease between, within a hundredth of a second

    @needs_container
    def test_a_recycled_number_with_the_same_start_is_not_taken_for_the_owner(self):
        self.succeed("registry", "register", "probe", "--recipe", "llama")
        if self.state()["workflows"][0]["owner_pidfd_inode"] is None:
            self.skipTest("this kernel has no inodes of pidfds: number and start are all there is")
        self.succeed("registry", "release", "probe")
        for _ in range(5):  # none of 500 may be so fast on a busy machine
            done = subprocess.run([*CONTAINER, CONTENDER, "recycler", self.dir, self.ledger, "train", "3000"], capture_output=True, text=True,
                                  timeout=PATIENCE)
            if not self.ledger.read_text().endswith("no number came back within a tick\n"):
                break
        self.assertEqual(done.returncode, 0, self.ledger.read_text())
        self.assertRegex(self.ledger.read_text(), "recycled [0-9]+\n$")

    @needs_container
    def test_an_owner_in_another_container_is_alive_until_its_time_has_passed(self):
        done = subprocess.run([*CONTAINER,
                               *self.command("registry", "register", "train", "--recipe", "llama", "--pid", "1")],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Its container is gone; but from here nobody can know that.
        self.assertEqual(self.live(), ["train"])
        self.assertIn("container that we cannot look into", self.succeed("registry", "doctor"))
        self.edit(lambda state: state["workflows"][0].update(renewed_since_boot_ns=0, ttl_seconds=1))
        self.assertEqual(self.live(), [])

    @needs_container
    def test_an_owner_that_cannot_be_seen_must_be_named(self):
        done = subprocess.run([*CONTAINER,
                               *self.command("registry", "register", "train", "--recipe", "llama")],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("--pid", done.stderr)
        self.assertEqual(self.live(), [])

    def test_a_start_of_the_machine_ends_owners_and_swaps(self):
        self.succeed("registry", "register", "train", "--recipe", "llama")
        swap = self.start("swap", "begin", "--recipe", "llama", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        swap.stdout.readline()
        self.assertEqual(self.live(), ["train"])

        def start_again(state):
            state["workflows"][0]["owner_boot_id"] = "another"
            state["swap_in_progress"]["holder_boot_id"] = "another"
        self.edit(start_again)
        self.assertEqual(self.live(), [])
        self.assertIsNone(self.listed()["swap_in_progress"])
        self.assertEqual(len(self.orphans()), 1)

    @contextlib.contextmanager
    def step(self, wall=0, boot=0):
        """Everybody who is run inside is told another time."""
        if os.environ.get("HOLDFAST_SANITIZE"):
            self.skipTest("sanitizers want to be loaded first")
        self.assertTrue(STEPPED_CLOCK.exists(), STEPPED_CLOCK)
        self.environment = {**os.environ, "LD_PRELOAD": str(STEPPED_CLOCK), "HOLDFAST_WALL_STEP": str(wall),
                            "HOLDFAST_BOOT_STEP": str(boot)}
        yield
        self.environment = None

    def test_a_wall_clock_that_steps_expires_nobody_and_keeps_nobody(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        self.succeed("registry", "register", "train", "--recipe", "llama", "--ttl", "1h", "--preemptible")
        for step in (TEN_YEARS, -TEN_YEARS):
            with self.subTest(step), self.step(wall=step):
                self.assertEqual(self.live(), ["train"])
                self.succeed("registry", "renew", "train")
                then = datetime.datetime.fromisoformat(self.state()["workflows"][0]["last_renewed_at"][:-1] + "+00:00")
                self.assertLess(abs((then - now).total_seconds() - step), 3600, "the clock was not set")
                self.succeed("registry", "register", "other", "--recipe", "llama")
                self.assertEqual(self.live(), ["train", "other"])
                began = time.monotonic()
                self.refuse(1, "other", "swap", "run", "--recipe", "qwen", "--", "true")
                self.succeed("registry", "release", "other")
                self.refuse(TRY_AGAIN, "train", "swap", "run", "--recipe", "qwen", "--deadline", "500ms", "--", "true")
                self.assertGreater(time.monotonic() - began, 0.5)
            # And back: what was written then is read now.
            self.assertEqual(self.live(), ["train"])
        self.succeed("registry", "register", "late", "--recipe", "llama", "--ttl", "1")
        time.sleep(1.2)
        with self.step(wall=-TEN_YEARS):
            self.assertEqual(self.live(), ["train"], "its time has passed, whatever the day")

    def test_expiry_goes_by_the_clock_that_nobody_sets(self):
        self.succeed("registry", "register", "train", "--recipe", "llama", "--ttl", "1h")
        with self.step(boot=3000):
            self.assertEqual(self.live(), ["train"])
        with self.step(boot=3601):
            self.assertEqual(self.live(), [])
        with self.step(boot=TEN_YEARS):
            self.assertEqual(self.live(), [])
            self.refuse(1, "expired", "registry", "renew", "train")
        with self.step(boot=-TEN_YEARS):
            self.assertEqual(self.live(), ["train"], "a renewal that is to come counts as now")
            self.assertIn("renewed later than now", self.succeed("registry", "doctor"))

    def test_members_that_nobody_knows_are_kept(self):
        self.succeed("registry", "register", "train", "--recipe", "llama")

        def add(state):
            state["site"] = {"rack": [7, 1.5, None, "\u00e4"]}
            state["workflows"][0]["cost"] = -12
        self.edit(add)
        self.succeed("registry", "renew", "train")
        self.succeed("registry", "register", "other", "--recipe", "llama")
        self.assertEqual(self.state()["site"], {"rack": [7, 1.5, None, "\u00e4"]})
        self.assertEqual(self.state()["workflows"][0]["cost"], -12)


if __name__ == "__main__":
    unittest.main()
