#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real process under load, killed at random moments and at random system calls; then judged from outside.

HOLDFAST_CRASH_KILLS says how often (20), HOLDFAST_CRASH_SEED how the dice fall.
"""
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from waiting import PATIENCE, wait_until

TESTS = pathlib.Path(os.environ["HOLDFAST_BUILD"]) / "tests"
KILLS = int(os.environ.get("HOLDFAST_CRASH_KILLS", "20"))
SEED = int(os.environ.get("HOLDFAST_CRASH_SEED", "1"))

# The calls by which something of a world changes on disk, and how many of each a life has, about.
CALLS = {"fdatasync": 60, "pwrite64": 120, "openat": 60, "rename": 3, "unlink": 4, "ftruncate": 3,
         "fsync": 4, "write": 400, "fallocate": 3}

# What a life begins with again: what was under way when the one before it was killed.
OVERLAP = 200


def is_named_by_a_process(path):
    """Whether anybody runs who was started with it."""
    for process in pathlib.Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if path.encode() in (process / "cmdline").read_bytes().split(b"\0"):
                return True
        except OSError:  # it has ended meanwhile
            pass
    return False


class Ledger:
    def __init__(self, path):
        self.path = path
        self.read = 0
        self.highest = 0

    def lines(self):
        if not self.path.exists():
            return []
        return [line.split() for line in self.path.read_text().splitlines()]

    def newest(self):
        """The highest id so far, from where it was looked for last."""
        if self.path.exists():
            with self.path.open() as file:
                file.seek(self.read)
                for line in file:
                    self.highest = max(self.highest, int(line.split()[1]))
                self.read = file.tell()
        return self.highest


class Killed:
    """A victim, killed again and again. Whoever mixes it in says which, and judges its ledger."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir=".")
        self.addCleanup(self.folder.cleanup)
        self.world = pathlib.Path(self.folder.name) / "world"
        self.ledger = Ledger(pathlib.Path(self.folder.name) / "ledger")
        self.dice = random.Random(SEED)
        self.pace = 1  # how much longer lives are than on a machine with nothing else to do

    def victim(self, *arguments):
        return [str(TESTS / self.VICTIM), str(self.world), str(self.ledger.path), *map(str, arguments)]

    def live(self, command, seconds):
        """One life; gives how it ended and what it complained of."""
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            _, complaint = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            _, complaint = process.communicate()
        return process.returncode, complaint

    def kill_at_a_moment(self, first):
        return self.live(self.victim(first), self.pace * self.dice.uniform(0.02, 0.6))

    def kill_at_a_call(self, first):
        call = self.dice.choice(sorted(CALLS))
        when = self.dice.randint(1, CALLS[call])
        strace = ["strace", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf", "-e", f"trace={call}",
                  "-e", f"inject={call}:signal=SIGKILL:when={when}"]
        process = subprocess.Popen(strace + self.victim(first), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            _, complaint = process.communicate(timeout=3 * self.pace)
        except subprocess.TimeoutExpired:  # it did not come to that many
            os.killpg(process.pid, signal.SIGKILL)
            _, complaint = process.communicate()
        return -signal.SIGKILL if process.returncode in (-signal.SIGKILL, 137) else process.returncode, complaint

    def kill_again_and_again(self):
        self.assertTrue(shutil.which("strace"), "strace is missing; scripts/setup installs it")
        kills = 0
        while kills < KILLS or (self.has_done_little() and kills < 4 * KILLS):
            newest = self.ledger.newest()
            how = self.kill_at_a_moment if kills % 2 == 0 else self.kill_at_a_call
            code, complaint = self.when_free(lambda: how(max(0, newest - OVERLAP)))
            self.assertEqual(code, -signal.SIGKILL, complaint)
            self.wait_until_gone()
            kills += 1
            if kills % 4 == 0 and self.has_done_little(kills):
                self.pace = min(2 * self.pace, 8)
        code, complaint = self.when_free(lambda: self.live(self.victim(0, self.ledger.newest()), 600))
        self.assertEqual(code, 0, complaint)
        self.judge()

    def has_done_little(self, kills=KILLS):
        """Fewer workflows than so many kills should have met, on a machine with much else to do."""
        return self.ledger.newest() <= 2 * self.LEAST_PER_KILL * kills

    @staticmethod
    def when_free(life):
        """A life, as soon as it finds that the one before has let go of the world: with the last of its threads,
        which may be after all that names it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            code, complaint = life()
            if "is held by process" not in complaint or time.monotonic() > deadline:
                return code, complaint
            time.sleep(0.05)

    def wait_until_gone(self):
        """Whom strace watched may outlive it by a moment."""
        wait_until(lambda: not is_named_by_a_process(str(self.world)), "a victim does not go")


class Crash(Killed, unittest.TestCase):
    """Workflows of three effects."""
    VICTIM = "crash_victim"
    LEAST_PER_KILL = 20

    def test_killed_again_and_again(self):
        self.kill_again_and_again()

    def judge(self):
        keys = collections.defaultdict(set)    # of each step of each workflow
        tokens = collections.defaultdict(set)  # that its attempts gave
        acked, results = set(), collections.defaultdict(set)
        for line in self.ledger.lines():
            if line[0] == "acked" and line[2] == "new":
                self.assertNotIn(line[1], acked, f"workflow {line[1]} was acknowledged and forgotten")
            if line[0] == "attempt":
                keys[line[1], line[2]].add(line[3])
                tokens[line[1], line[2]].add(line[4])
            elif line[0] == "acked":
                acked.add(line[1])
            else:
                results[line[1]].add(line[2])
        for step, used in keys.items():
            self.assertEqual(len(used), 1, f"attempts of {step} had several keys")
        self.assertEqual(len(set().union(*keys.values())), len(keys), "two steps had the same key")
        for name in acked:
            self.assertEqual(len(results[name]), 1, f"workflow {name} was acknowledged and ended {results[name]}")
            settled = next(iter(results[name])).split(",")
            self.assertEqual(len(settled), 3, f"workflow {name} took {settled}")
            for step, token in enumerate(settled):
                self.assertIn(token, tokens[name, str(step)], f"workflow {name} took a receipt of nobody")
        repeated = sum(len(each) - 1 for each in tokens.values())
        print(f"{KILLS} kills, seed {SEED}: {len(acked)} workflows, {len(keys)} effects, "
              f"{repeated} attempts repeated, none lost, none settled twice")
        self.assertGreater(len(acked), self.LEAST_PER_KILL * KILLS, "too little was done to show anything")


class StepCrash(Killed, unittest.TestCase):
    """Step workflows: a fan-out with retries, a join, and a question to the outside."""
    VICTIM = "crash_step_victim"
    LEAST_PER_KILL = 5
    PARTS = 3

    def test_killed_again_and_again(self):
        self.kill_again_and_again()

    def judge(self):
        keys = collections.defaultdict(set)    # of each attempt of each part
        tokens = collections.defaultdict(set)  # that its bodies gave
        acked, asked = set(), collections.defaultdict(set)
        results, streams = collections.defaultdict(set), collections.defaultdict(set)
        for kind, name, *rest in self.ledger.lines():
            if kind == "attempt":
                part, attempt, key, token = rest
                keys[name, part, attempt].add(key)
                tokens[name, part].add(token)
            elif kind == "acked":
                if rest[0] == "new":
                    self.assertNotIn(name, acked, f"run {name} was acknowledged and forgotten")
                acked.add(name)
            elif kind == "asked":
                asked[name].add(rest[0])
            elif kind == "ended":
                results[name].add(tuple(rest))
            else:
                streams[name].add(tuple(rest))
        for attempt, used in keys.items():
            self.assertEqual(len(used), 1, f"attempt {attempt} had several keys")
        self.assertEqual(len(set().union(*keys.values())), len(keys), "two attempts had the same key")
        for name in acked:
            self.assertEqual(len(results[name]), 1, f"run {name} was acknowledged and ended {results[name]}")
            self.judge_run(name, next(iter(results[name])), tokens, asked[name], streams[name])
        repeated = sum(len(each) - 1 for each in tokens.values())
        print(f"{KILLS} kills, seed {SEED}: {len(acked)} runs of steps, {len(keys)} attempts of parts, "
              f"{repeated} bodies more than parts, none lost, none counted twice")
        self.assertGreater(len(acked), self.LEAST_PER_KILL * KILLS, "too little was done to show anything")

    def judge_run(self, name, result, tokens, asked, streams):
        self.assertEqual(len(result), 2, f"run {name} ended {result}")
        answer, settled = result
        self.assertIn(answer, asked, f"run {name} took an answer of nobody")
        settled = settled.split(",")
        self.assertEqual(len(settled), self.PARTS, f"run {name} took {settled}")
        for part, token in enumerate(settled):
            self.assertIn(token, tokens[name, str(part)], f"run {name} took a part of nobody")
        self.assertEqual(len(streams), 1, f"the stream of run {name} was not always the same")
        *entries, end = next(iter(streams))
        self.assertEqual(end, "end", f"the stream of run {name} has no end")
        entries = [entry.split(":") for entry in entries]
        numbers = [int(entry[0]) for entry in entries]
        self.assertEqual(numbers, sorted(set(numbers)), f"the stream of run {name} is out of order")
        kinds = [entry[1] for entry in entries]
        self.assertEqual(kinds[-1], "stopped", f"the stream of run {name} ends otherwise")
        self.assertEqual(kinds.count("stopped"), 1, f"run {name} stopped several times")
        self.assertEqual(sum(entry[2:] == ["question"] for entry in entries), 1, f"run {name} asked otherwise")
        parts = sorted(tuple(entry[2:]) for entry in entries if len(entry) == 4)
        self.assertEqual(parts, [(str(part), token) for part, token in enumerate(settled)],
                         f"the stream of run {name} has other parts than its result")


if __name__ == "__main__":
    unittest.main()
