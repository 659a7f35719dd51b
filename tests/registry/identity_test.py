#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whom the real program takes for alive: recycled numbers, a machine that was started again, clocks that step."""
import datetime
import os
import shutil
import subprocess
import unittest

from registry_folder import CONTENDER, RegistryFolderTest

TEN_YEARS = datetime.timedelta(days=3660)


class Identity(RegistryFolderTest):
    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root, to make a container")
    def test_a_recycled_number_with_the_same_start_is_not_taken_for_the_owner(self):
        self.succeed("registry", "register", "probe", "--recipe", "llama")
        if self.state()["workflows"][0]["owner_pidfd_inode"] is None:
            self.skipTest("this kernel has no inodes of pidfds: number and start are all there is")
        self.succeed("registry", "release", "probe")
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", CONTENDER, "recycler", self.dir, self.ledger,
                               "train", "3000"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, self.ledger.read_text())
        self.assertRegex(self.ledger.read_text(), "recycled [0-9]+\n$")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root, to make a container")
    def test_an_owner_in_another_container_is_alive_until_its_time_has_passed(self):
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc",
                               *self.command("registry", "register", "train", "--recipe", "llama", "--pid", "1")],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Its container is gone; but from here nobody can know that.
        self.assertEqual(self.live(), ["train"])
        self.assertIn("container that we cannot look into", self.succeed("registry", "doctor"))
        self.edit(lambda state: state["workflows"][0].update(renewed_since_boot_ns=0, ttl_seconds=1))
        self.assertEqual(self.live(), [])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root, to make a container")
    def test_an_owner_that_cannot_be_seen_must_be_named(self):
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc",
                               *self.command("registry", "register", "train", "--recipe", "llama")],
                              capture_output=True, text=True, timeout=60)
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

    def test_a_clock_that_steps_expires_nobody(self):
        self.succeed("registry", "register", "train", "--recipe", "llama", "--ttl", "60")
        for step in (TEN_YEARS, -TEN_YEARS):
            then = (datetime.datetime.now(datetime.timezone.utc) + step).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            self.edit(lambda state: state["workflows"][0].update(started_at=then, last_renewed_at=then))
            self.assertEqual(self.live(), ["train"])
            self.succeed("registry", "register", "other", "--recipe", "llama")
            self.assertEqual(self.live(), ["train", "other"])
            self.succeed("registry", "release", "other")
        self.edit(lambda state: state["workflows"][0].update(renewed_since_boot_ns=0, ttl_seconds=1))
        self.assertEqual(self.live(), [], "what expiry goes by is the other clock")

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
