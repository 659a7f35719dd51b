#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every promise of docs/guarantees.md names tests that are there."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tests_in_cpp():
    names = set()
    for path in (ROOT / "src").rglob("*_test.cc"):
        names |= {f"{suite}.{name}" for suite, name in
                  re.findall(r"\b(?:TEST(?:_F|_P)?|RC_GTEST_PROP)\(\s*(\w+),\s*(\w+)", path.read_text())}
    return names


def tests_in_python():
    names = set()
    for path in (ROOT / "tests").rglob("*_test.py"):
        current = None
        for line in path.read_text().splitlines():
            found = re.match(r"class (\w+)|    def (test_\w+)", line)
            if found:
                current = found[1] or current
                names.add(f"{path.relative_to(ROOT / 'tests')}: {current}.{found[2]}")
    return names


class Guarantees(unittest.TestCase):
    def test_every_promise_names_tests_that_are_there(self):
        there = tests_in_cpp() | tests_in_python()
        rows = [line for line in (ROOT / "docs/guarantees.md").read_text().splitlines()
                if line.startswith("| ") and not line.endswith("| shown by |")]
        self.assertGreater(len(rows), 20)
        for row in rows:
            _, promise, tests, _ = row.split("|")
            for test in tests.split(", "):
                self.assertIn(test.strip(), there, f"for:{promise}")


if __name__ == "__main__":
    unittest.main()
