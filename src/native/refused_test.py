#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the programs in refused/ with gcc and clang. Each says on its second line what it is
refused for; the compiler must say so in its first error, so that a person sees it first. Only the
public headers may be needed."""
import pathlib
import re
import subprocess
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Iinclude", "-Isrc"]
COMPILERS = ("g++", "clang++")


def errors_of(compiler, path):
    result = subprocess.run([compiler, *FLAGS, path], cwd=ROOT, text=True, capture_output=True)
    errors = re.findall(r"error: (.*)", result.stderr)
    assert bool(errors) == (result.returncode != 0), result.stderr
    return errors


class Refused(unittest.TestCase):
    def check(self, compiler):
        seen = 0
        for path in sorted((FOLDER / "refused").glob("*.cc")):
            verdict, _, message = path.read_text().splitlines()[1][3:].partition(": ")
            with self.subTest(program=path.name):
                errors = errors_of(compiler, path)
                if verdict == "accepted":
                    self.assertEqual(errors, [])
                    continue
                self.assertEqual(verdict, "refused")
                self.assertTrue(errors, "was accepted")
                self.assertIn("holdfast: " + message, errors[0])
                seen += 1
        self.assertGreater(seen, 10)

    def test_gcc_says_what_is_wrong_first(self):
        self.check("g++")

    def test_clang_says_what_is_wrong_first(self):
        self.check("clang++")


if __name__ == "__main__":
    unittest.main()
