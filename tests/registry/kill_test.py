#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A coordinator is killed at one system call after the other; whoever comes next finds nothing in the way.

HOLDFAST_REGISTRY_KILLS says at how many different calls (40), spread over all that it makes. Every one of them counts:
a coordinator that had nothing to wait for may come to its end before the call, and is sent again.
"""
import os
import subprocess
import unittest

from registry_folder import PATIENCE, RegistryFolderTest, need_strace, traced, wait_until

KILLS = int(os.environ.get("HOLDFAST_REGISTRY_KILLS", "40"))
MARKER = ".workflows.lock"
ATTEMPTS = 100


class Kill(RegistryFolderTest):
    def swap(self):
        return self.command("swap", "run", "--recipe", "qwen", "--deadline", "2m", "--", "true")

    def calls(self):
        self.wait_for_worker()
        trace, killed, done = traced(self.swap(), self.folder / "trace")
        self.assertEqual((killed, done.returncode), (False, 0), done.stderr)
        self.assertFalse(trace.left_a_marker())
        return trace.calls(MARKER)

    def moments(self):
        # Of the one that waited least, so that others make no fewer calls.
        calls = min((self.calls() for _ in range(5)), key=len)
        self.assertGreater(len(calls), 60, "these are too few calls to be the whole swap")
        count = min(KILLS, len(calls))
        return [calls[i * len(calls) // count] for i in range(count)]

    def wait_for_worker(self):
        """It comes back by itself when no swap is in its way."""
        wait_until(lambda: [each["name"] for each in self.state()["workflows"]] == ["worker"], "the worker does not come back")

    def kill_at(self, moment):
        """Gives whether it was killed there, and how many orphans that left."""
        self.wait_for_worker()
        before = len(self.orphans())
        trace, killed, done = traced(self.swap(), self.folder / "trace", moment)
        if not killed:
            self.assertEqual(done.returncode, 0, done.stderr)
        # At once, and into another recipe than the dead one's: whoever finds the lock taken for long is refused.
        self.succeed("registry", "register", "probe", "--recipe", "mistral", "--pid", os.getpid())
        self.succeed("registry", "release", "probe", "--pid", os.getpid())
        new = self.orphans()[before:]
        self.assertEqual(len(new), int(killed and trace.left_a_marker()), "lines of orphans")
        self.assertEqual(self.signal_files(), [])
        self.assertIsNone(self.listed()["swap_in_progress"])
        return killed, len(new)

    def test_killed_at_one_call_after_the_other(self):
        need_strace(self)
        worker = self.contend("worker", "worker", "llama")
        self.wait_for_worker()
        moments = self.moments()
        self.assertEqual(len(set(moments)), min(KILLS, len(moments)))
        kills = orphans = attempts = 0
        for moment in moments:
            with self.subTest(moment):
                for _ in range(ATTEMPTS):
                    killed, left = self.kill_at(moment)
                    attempts += 1
                    orphans += left
                    if killed:
                        break
                self.assertTrue(killed, f"not reached in {ATTEMPTS} attempts")
                kills += 1
        self.assertEqual(worker.poll(), None)
        self.assertEqual(kills, len(moments), "moments that count")
        self.assertGreater(orphans, kills // 4)
        # And the next swap is as good as the first.
        self.assertEqual(subprocess.run(self.swap(), capture_output=True, timeout=PATIENCE).returncode, 0)
        self.assertNotIn("WRONG", self.ledger.read_text())
        print(f"{kills} kills at different calls ({attempts} attempts), {orphans} orphans, each cleared once, nobody in the way")


if __name__ == "__main__":
    unittest.main()
