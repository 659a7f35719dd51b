#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast demo: killed in the middle, finished after a restart, and over within half a minute."""
import os
import re
import subprocess
import time

from program import ProgramTest, main


class Demo(ProgramTest):
    def test_it_is_killed_goes_on_and_ends_by_itself(self):
        began = time.monotonic()
        done = self.run_program("demo", "world")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        self.assertLess(time.monotonic() - began, 30)
        text = done.stdout.decode()
        first, second = text.split("It was killed with -9, in the middle.")
        again = set(re.findall(r"performing (\S+ for \S+)", first)) & set(re.findall(r"performing (\S+ for \S+)", second))
        self.assertTrue(again, "what was open is performed again under the same identity")
        self.assertRegex(second, r"ready: [1-9]\d* effects open")
        self.assertRegex(second, r"demo/Order@1/o-1 +completed ")
        self.assertIn("$ holdfast timeline --world WORLD demo/Order@1/o-1\n", second)
        self.assertEqual(self.run_program("verify", "world").returncode, 0)
        listed = self.run_program("ls", "--world", "world", "--status", "waiting").stdout.decode()
        self.assertEqual(len(listed.splitlines()), 1, "nothing is left")

    def test_without_a_folder_nothing_is_left_behind(self):
        (self.folder / "tmp").mkdir()
        began = time.monotonic()
        done = self.run_program("demo", env=dict(os.environ, TMPDIR=str(self.folder / "tmp")))
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        self.assertLess(time.monotonic() - began, 30)
        self.assertEqual([str(path) for path in self.folder.rglob("*")], [str(self.folder / "tmp")])
        self.assertNotIn(str(self.folder), subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout)

    def test_a_folder_that_is_there_is_refused(self):
        (self.folder / "world").mkdir()
        self.assert_refuses("holdfast: world: is there already\n", "demo", "world")


if __name__ == "__main__":
    main()
