#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example with a model, tools and a person, killed and started again in the middle."""
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["HOLDFAST_BUILD"]).resolve() / "examples" / "agent"
ANYWHERE = "--any-file-system"
OSLO = "thermometer in Oslo: 12, at attempt 2"
MILAN = "thermometer in Milan: 15, at attempt 2"
ROME = "thermometer in Rome: 12, at attempt 2"
ASKS = "asks: go to Milan?"


def run(folder, *arguments):
    done = subprocess.run(
        [PROGRAM, *arguments, ANYWHERE], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr


class Agent(unittest.TestCase):
    def test_uses_its_tools_and_asks(self):
        for answer, end in (("yes", "going to Milan"), ("no", "staying at home")):
            with self.subTest(answer), tempfile.TemporaryDirectory(dir=".") as folder:
                self.assertEqual(run(folder, "begin", "trip", "Oslo", "Milan", "Rome"), (0, [OSLO, MILAN, ROME, ASKS], ""))
                # Another process: nothing is looked up again.
                self.assertEqual(run(folder, "answer", "trip", answer), (0, [end], ""))

    def kill_and_go_on(self, folder):
        """Gives whether it was killed before it came to its question."""
        whole = [OSLO, MILAN, ROME, ASKS]
        command = [PROGRAM, "begin", "trip", "Oslo", "Milan", "Rome", ANYWHERE]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
            seen = [process.stdout.readline().rstrip("\n")]
            process.send_signal(signal.SIGKILL)
            seen += process.stdout.read().splitlines()
            process.wait(timeout=120)
        self.assertEqual(seen, whole[:len(seen)])
        code, lines, errors = run(folder, "begin", "trip", "Oslo", "Milan", "Rome")
        self.assertEqual((code, errors), (0, ""))
        # What was looked up before is looked up again only if it was not durable yet: the last alone.
        self.assertIn(lines, (whole[min(len(seen), 3):], whole[len(seen) - 1:]))
        # Once more while it waits: it only says again what it asks.
        self.assertEqual(run(folder, "begin", "trip", "Oslo", "Milan", "Rome"), (0, [ASKS], ""))
        self.assertEqual(run(folder, "answer", "trip", "yes"), (0, ["going to Milan"], ""))
        return len(seen) < 3 and process.returncode == -signal.SIGKILL

    def test_goes_on_after_kill_9(self):
        for _ in range(20):  # the kill may come late on a busy machine
            with tempfile.TemporaryDirectory(dir=".") as folder:
                if self.kill_and_go_on(folder):
                    return
        self.fail("it was never killed in the middle")

    def test_gives_up_when_a_tool_never_works(self):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            self.assertEqual(run(folder, "begin", "trip", ""), (0, ["given up: there is no such town"], ""))

    def test_an_answer_to_nobody_and_words_that_nobody_knows_are_refused_at_once(self):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            self.assertEqual(run(folder, "answer", "nobody", "yes"), (1, [], "there is no such run: nobody\n"))
            for words in ((), ("begin", "trip"), ("answer", "trip", "perhaps"), ("answer", "trip", "yes", "no"),
                          ("begin", "trip", "Oslo", "--fast")):
                code, lines, errors = run(folder, *words)
                self.assertEqual((code, lines, errors.split(":")[0]), (2, [], "usage"), words)


if __name__ == "__main__":
    unittest.main()
