#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every test that SENTENCES.md names is there."""
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
import sentences


def tests_in_python():
    names = set()
    for path in HERE.glob("*_test.py"):
        current = None
        for line in path.read_text().splitlines():
            found = re.match(r"class (\w+)|    def (test_\w+)", line)
            if found:
                current = found[1] or current
                names.add(f"{path.name}: {current}.{found[2]}")
    return names


class Sentences(unittest.TestCase):
    def test_every_sentence_names_tests_that_are_there(self):
        there = sentences.tests_in_cpp("registry", "env") | tests_in_python()
        sentences.check(self, HERE / "SENTENCES.md", there, 60)


if __name__ == "__main__":
    unittest.main()
