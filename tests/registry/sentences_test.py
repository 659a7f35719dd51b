#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every test that SENTENCES.md names is there."""
import pathlib
import re
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def tests_in_cpp():
    names = set()
    for folder in ("registry", "env"):
        for path in (ROOT / "src" / folder).glob("*_test.cc"):
            names |= {f"{suite}.{name}" for suite, name in
                      re.findall(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", path.read_text())}
    return names


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
        there = tests_in_cpp() | tests_in_python()
        rows = [line for line in (HERE / "SENTENCES.md").read_text().splitlines() if line.startswith("| ")]
        rows = [row for row in rows if not row.endswith("| shown by |")]
        self.assertGreater(len(rows), 60)
        for row in rows:
            _, sentence, tests, _ = row.split("|")
            for test in tests.split(", "):
                self.assertTrue(test.strip() in there, f"{test.strip()} is not there, for:{sentence}")


if __name__ == "__main__":
    unittest.main()
