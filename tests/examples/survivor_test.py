#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example that survives kill -9, killed."""
import collections
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

# The tests end by a kill and not by a power cut, so any file system will do for them.
ANYWHERE = "--any-file-system"
PROGRAM = pathlib.Path(os.environ["HOLDFAST_BUILD"]) / "examples" / "survivor"


def letters(text):
    return re.findall(r"letter (\d) to Ada, key (\S+)", text)


class Survivor(unittest.TestCase):
    def kill_and_go_on(self):
        """Gives whether the first letter was under way when it was killed first."""
        with tempfile.TemporaryDirectory(dir=".") as folder:
            world = folder + "/letters.world"
            seen = []
            for kills in range(20):
                with subprocess.Popen([PROGRAM, world, ANYWHERE], stdout=subprocess.PIPE, text=True) as process:
                    # While the first letter of a life is under way, or in the pause behind it; the last life runs to its end.
                    said = ""
                    if kills < 3:
                        said = process.stdout.readline()
                        time.sleep(0.45 * kills)
                        process.send_signal(signal.SIGKILL)
                    said += process.communicate(timeout=120)[0]
                    seen += letters(said)
                    if process.returncode == 0:
                        self.assertIn("5 letters sent", said)
                        break
                    self.assertEqual(process.returncode, -signal.SIGKILL)
            else:
                self.fail("it never came to its end")

        # Each letter was posted, in order; one that was posted again had the same key.
        keys = collections.defaultdict(set)
        for number, key in seen:
            keys[number].add(key)
        self.assertEqual(sorted(keys), ["1", "2", "3", "4", "5"])
        self.assertEqual([len(each) for each in keys.values()], [1] * 5)
        self.assertEqual([number for number, _ in seen], sorted(number for number, _ in seen))
        return [number for number, _ in seen].count("1") > 1

    def test_goes_on_after_kill_9(self):
        for _ in range(20):  # the kill may come late on a busy machine
            if self.kill_and_go_on():
                return
        self.fail("the first letter was never under way when it was killed first")

    def test_a_world_that_has_ended_sends_nothing_again(self):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            world = folder + "/letters.world"
            subprocess.run([PROGRAM, world, ANYWHERE], check=True, capture_output=True, timeout=120)
            again = subprocess.run(
                [PROGRAM, world, ANYWHERE], check=True, capture_output=True, text=True, timeout=120)
            self.assertEqual(again.stdout, "5 letters sent\n")

    def test_words_that_nobody_knows_are_misuse(self):
        for words in (("one", "two"), ("one", "--fast")):
            done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stderr.split(":")[0]), (2, "usage"), words)


if __name__ == "__main__":
    unittest.main()
