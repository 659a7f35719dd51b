#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every test that SENTENCES.md names is there."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
import sentences


class Sentences(unittest.TestCase):
    def test_every_sentence_names_tests_that_are_there(self):
        sentences.check(self, HERE / "SENTENCES.md", sentences.tests_in_cpp("steps", "native", "engine"), 80)

    def test_all_ten_weak_points_have_a_test(self):
        rows = dict(sentences.rows_of(HERE / "SENTENCES.md"))
        for number in range(1, 11):
            shown = [tests for sentence, tests in rows.items() if sentence.startswith(f"{number}. ")]
            self.assertEqual(len(shown), 1)
            self.assertTrue(shown[0][0].startswith("KnownDefects."))


if __name__ == "__main__":
    unittest.main()
