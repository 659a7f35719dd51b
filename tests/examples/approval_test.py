#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example in which a person approves, in another process than the one that asked."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ANYWHERE = "--any-file-system"
PROGRAM = pathlib.Path(os.environ["HOLDFAST_BUILD"]).resolve() / "examples" / "approval"


def run(folder, *arguments):
    done = subprocess.run(
        [PROGRAM, *arguments, ANYWHERE], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr


class Approval(unittest.TestCase):
    def test_goes_on_in_another_process(self):
        for answer, end in (("yes", "published"), ("no", "thrown away")):
            with self.subTest(answer), tempfile.TemporaryDirectory(dir=".") as folder:
                code, lines, errors = run(folder, "begin", "report-1")
                self.assertEqual((code, errors), (0, ""))
                self.assertEqual(lines[0], "writing")
                self.assertEqual(
                    sorted(lines[1:]),
                    ["asks: publish 3 parts?", "checked the future", "checked the past", "checked the present"])
                # Nothing of it is done again.
                self.assertEqual(run(folder, "answer", "report-1", answer), (0, [end], ""))

    def test_two_runs_do_not_disturb_each_other(self):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            for name in ("one", "two"):
                self.assertEqual(run(folder, "begin", name)[0], 0)
            self.assertEqual(run(folder, "answer", "two", "no"), (0, ["thrown away"], ""))
            self.assertEqual(run(folder, "answer", "one", "yes"), (0, ["published"], ""))

    def test_an_answer_to_nobody_and_words_that_nobody_knows_are_refused_at_once(self):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            self.assertEqual(run(folder, "answer", "nobody", "yes"), (1, [], "there is no such run: nobody\n"))
            for words in ((), ("begin",), ("begin", "one", "two"), ("answer", "one"), ("answer", "one", "perhaps"), ("begin", "one", "--fast")):
                code, lines, errors = run(folder, *words)
                self.assertEqual((code, lines, errors.split(":")[0]), (2, [], "usage"), words)


if __name__ == "__main__":
    unittest.main()
