#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `make demo` shows is what it says: a letter that is posted twice has the same key both times, and orders come to their ends."""
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Demo(unittest.TestCase):
    def test_a_letter_is_posted_twice_with_one_key(self):
        environment = dict(os.environ, HOLDFAST_BUILD=str(pathlib.Path(os.environ["HOLDFAST_BUILD"]).resolve()))
        done = subprocess.run([ROOT / "scripts/demo"], env=environment, capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        letters = re.findall(r"^letter (\d) to Ada, key (\S+)$", done.stdout, re.MULTILINE)
        self.assertEqual([number for number, _ in letters], ["1", "2", "2", "3", "4", "5"])
        self.assertEqual(len(set(letters)), 5, "one key for each letter")
        self.assertIn("\n5 letters sent\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
