#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast demo: killed in the middle, finished after a restart, and over by itself."""
import contextlib
import os
import pathlib
import re

from program import ProgramTest, main


class Demo(ProgramTest):
    def play(self, world):
        """What the first life says, what the second says, and what both perform."""
        done = self.run_program("demo", world)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        first, second = done.stdout.decode().split("It was killed with -9, in the middle.")
        return first, second, set(re.findall(r"performing (\S+ for \S+)", first)) & set(re.findall(r"performing (\S+ for \S+)", second))

    def test_it_is_killed_goes_on_and_ends_by_itself(self):
        # An effect takes 600 ms. On a machine so busy that the kill comes later there is no middle: then once more.
        for attempt in range(10):
            world = f"world-{attempt}"
            _, second, again = self.play(world)
            if again:
                break
        self.assertTrue(again, "what was open is performed again under the same identity")
        self.assertRegex(second, r"ready: [1-9]\d* effects open")
        self.assertRegex(second, r"demo/Order@1/o-1 +completed ")
        self.assertIn("$ holdfast timeline --world WORLD demo/Order@1/o-1\n", second)
        self.assertEqual(self.run_program("verify", world).returncode, 0)
        listed = self.run_program("ls", "--world", world, "--status", "waiting").stdout.decode()
        self.assertEqual(len(listed.splitlines()), 1, "nothing is left")

    def test_without_a_folder_nothing_is_left_behind(self):
        (self.folder / "tmp").mkdir()
        done = self.run_program("demo", env=dict(os.environ, TMPDIR=str(self.folder / "tmp")))
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        self.assertEqual([str(path) for path in self.folder.rglob("*")], [str(self.folder / "tmp")])
        self.assertEqual([line for line in self.command_lines() if bytes(self.folder) in line], [])

    @staticmethod
    def command_lines():
        """Of every process; one may go while it is looked at."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                yield (process / "cmdline").read_bytes()

    def test_a_folder_that_is_there_is_refused(self):
        (self.folder / "world").mkdir()
        self.assert_refuses("holdfast: world: is there already\n", "demo", "world")


if __name__ == "__main__":
    main()
