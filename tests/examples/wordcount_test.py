#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example that counts words, killed with -9 in the middle."""
import collections
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["HOLDFAST_BUILD"]).resolve() / "examples" / "wordcount"
FILES = 4
LINES = 50
PIECES = FILES * LINES // 5
SLOTS = 4  # that count at a time


def write_texts(folder):
    words = collections.Counter()
    names = []
    for file in range(FILES):
        lines = [f"w{(file * line) % 7} all l{line % 3}" for line in range(LINES)]
        words.update(word for line in lines for word in line.split())
        names.append(f"text{file}")
        pathlib.Path(folder, names[-1]).write_text("\n".join(lines) + "\n")
    return names, " ".join(f"{word}={words[word]}" for word in sorted(words))


def start(folder, names, slow_ms):
    environment = dict(os.environ, WORDCOUNT_MS=str(slow_ms))
    return subprocess.Popen(
        [PROGRAM, "run-1", *names, "--any-file-system"], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def counted(lines):
    return re.findall(r"^counted (\S+ from line \d+)$", "\n".join(lines), re.MULTILINE)


class WordCount(unittest.TestCase):
    def test_counts_all_words(self):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            names, expected = write_texts(folder)
            with start(folder, names, 0) as process:
                lines = process.communicate(timeout=120)[0].splitlines()
            self.assertEqual(process.returncode, 0)
            self.assertEqual(lines[0], f"{PIECES} pieces")
            self.assertEqual(len(set(counted(lines))), PIECES)
            self.assertEqual(len(counted(lines)), PIECES)
            self.assertEqual(lines[-1], expected)
            # It has ended: there is nothing left to count.
            with start(folder, names, 0) as again:
                self.assertEqual(again.communicate(timeout=120)[0].splitlines(), [expected])

    def kill_and_go_on(self):
        """Gives how often it was killed in the middle."""
        with tempfile.TemporaryDirectory(dir=".") as folder:
            names, expected = write_texts(folder)
            seen = []
            kills = 0
            for _ in range(3):
                with start(folder, names, 50) as process:
                    lines = []
                    while len(counted(lines)) < PIECES // 5 and (line := process.stdout.readline()):
                        lines.append(line.rstrip("\n"))
                    process.send_signal(signal.SIGKILL)
                    lines += process.stdout.read().splitlines()
                    process.wait(timeout=120)
                    seen += lines
                if process.returncode != -signal.SIGKILL:  # it was faster
                    self.assertEqual((process.returncode, lines[-1]), (0, expected))
                    break
                kills += 1
            with start(folder, names, 0) as process:
                lines = process.communicate(timeout=120)[0].splitlines()
            self.assertEqual(process.returncode, 0)
            self.assertEqual(lines[-1], expected)
            seen += lines
            self.assertEqual(seen.count(f"{PIECES} pieces"), 1)
            pieces = counted(seen)
            self.assertEqual(len(set(pieces)), PIECES)
            # Only what was under way when it was killed, or not durable yet.
            self.assertLessEqual(len(pieces) - PIECES, kills * 2 * SLOTS)
        return kills

    def test_goes_on_after_kill_9_and_counts_little_again(self):
        for _ in range(20):  # all of it takes half a second, and the kills may come late on a busy machine
            if self.kill_and_go_on() == 3:
                return
        self.fail("it was never killed three times in the middle")

    def test_words_that_nobody_knows_are_misuse(self):
        for words in ((), ("run-1",), ("run-1", "text0", "--fast")):
            done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stderr.split(":")[0]), (2, "usage"), words)


if __name__ == "__main__":
    unittest.main()
