#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every planted bug fits the sources as they are: one that does not shows nothing."""
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Planted(unittest.TestCase):
    def test_every_bug_fits(self):
        patches = sorted(ROOT.glob("tests/planted/*/*.patch"))
        self.assertGreater(len(patches), 50)
        for patch in patches:
            with self.subTest(patch.name), patch.open() as file:
                done = subprocess.run(["patch", "-p1", "-s", "-F0", "--dry-run"], cwd=ROOT, stdin=file,
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_bug_is_in_the_table(self):
        table = (ROOT / "tests/planted/README.md").read_text()
        for patch in ROOT.glob("tests/planted/*/*.patch"):
            self.assertIn(f"| {patch.stem} |", table)


if __name__ == "__main__":
    unittest.main()
