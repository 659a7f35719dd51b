#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fifty registrars, two coordinators and readers at once; one of the coordinators is killed, again and again, at one
system call after the other. What everybody was promised is written down and judged at the end.

HOLDFAST_REGISTRY_ROUNDS says how often it is killed (40), HOLDFAST_REGISTRY_SEED how the dice fall.
"""
import collections
import os
import random
import time
import unittest

from registry_folder import CONTENDER, IN_MEMORY, PATIENCE, TRY_AGAIN, RegistryFolderTest, need_strace, traced

ROUNDS = int(os.environ.get("HOLDFAST_REGISTRY_ROUNDS", "40"))
SEED = int(os.environ.get("HOLDFAST_REGISTRY_SEED", "1"))
REGISTRARS = 50
READERS = 2
RECIPES = ("llama", "qwen", "mistral")
MARKER = ".workflows.lock"
# Whoever waits for a lock makes more of the other calls, and dies before it has it: these are only made inside.
INSIDE = ("rename", "fdatasync", "fsync", "pwrite64", "unlink", "clone", "rt_sigtimedwait", "wait4", "exit_group")
WAITING = ("rt_sigtimedwait", "wait4")  # for the program to end


class Storm(RegistryFolderTest):
    place = IN_MEMORY  # everybody wants the one lock, and has it for as long as the disk takes

    def setUp(self):
        super().setUp()
        self.dice = random.Random(SEED)
        self.cut = set()  # rounds in which the coordinator died while its program ran: who knows for how long

    def moments(self):
        trace, _, done = traced(self.command("swap", "run", "--recipe", "qwen", "--", "true"), self.folder / "trace")
        self.assertEqual(done.returncode, 0, done.stderr)
        return trace.calls(MARKER)

    def one_round(self, number, moment):
        """Gives whether it was killed, and whether it left a marker."""
        recipe = self.dice.choice(RECIPES)
        command = self.command("swap", "run", "--recipe", recipe, "--deadline", "3s", "--", CONTENDER, "note", self.dir,
                               self.ledger, f"round-{number}", recipe)
        trace, killed, done = traced(command, self.folder / "trace", moment)
        if killed and moment[0] in WAITING:
            self.cut.add(f"round-{number}")
        if not killed:
            self.assertIn(done.returncode, (0, 1, TRY_AGAIN), done.stderr)
            self.assertFalse(trace.left_a_marker(), done.stderr)
        # The next registration is not in the way of the dead: if it is refused, then by the other coordinator.
        other = self.dice.choice([each for each in RECIPES if each != recipe])
        done = self.run_program("registry", "register", "probe", "--recipe", other, "--pid", os.getpid())
        if done.returncode == TRY_AGAIN:
            self.assertIn(f"process {self.coordinator.pid}\n", done.stderr)
        else:
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.succeed("registry", "release", "probe", "--pid", os.getpid())
        return killed, killed and trace.left_a_marker()

    def test_nobody_is_admitted_into_a_contrary_swap_whoever_dies(self):
        need_strace(self)
        moments = self.moments()
        inside = [moment for moment in moments if moment[0] in INSIDE]
        self.assertGreater(len(inside), 15)
        registrars = [self.contend("registrar", f"job-{i}", SEED * 1000 + i) for i in range(REGISTRARS)]
        readers = [self.contend("reader", f"reader-{i}", i) for i in range(READERS)]
        self.coordinator = self.contend("coordinator", "coordinator", SEED)
        kills = markers = 0
        began = time.monotonic()
        number = 0
        while number < ROUNDS or (number < 10 * ROUNDS and not self.is_enough(kills, markers)):
            moment = inside[number // 2 % len(inside)] if number % 2 else moments[number // 2 * 7 % len(moments)]
            with self.subTest(moment, number=number):
                killed, marked = self.one_round(number, moment)
                kills += killed
                markers += marked
            number += 1
        seconds = time.monotonic() - began
        everybody = [*registrars, *readers, self.coordinator]
        for each in everybody:
            self.assertIsNone(each.poll(), "somebody has ended by itself")
            each.terminate()
        for each in everybody:
            self.assertEqual(each.wait(timeout=PATIENCE), 0)
        self.judge(number, kills, markers, seconds)

    def is_enough(self, kills, markers):
        """Whether so much has happened that it says something; how much does depends on the machine. Readers count at their end."""
        leases, swaps, _ = self.intervals()
        return len(leases) > ROUNDS and len(swaps) > ROUNDS // 10 and kills > ROUNDS // 4 and markers > ROUNDS // 20

    def judge(self, rounds, kills, markers, seconds):
        self.succeed("registry", "register", "last", "--recipe", "llama", "--pid", os.getpid())
        self.succeed("registry", "release", "last", "--pid", os.getpid())
        self.assertEqual(self.state()["workflows"], [])
        self.assertIsNone(self.state()["swap_in_progress"])
        self.assertEqual(self.signal_files(), [])
        endings = collections.defaultdict(list)
        begun = set()
        for line in self.log():
            if line["event"] == "swap_begun":
                begun.add(line["swap_id"])
            if line["event"] in ("swap_finished", "swap_aborted", "orphan_marker_cleared"):
                endings[line["swap_id"]].append(line["event"])
        for swap, events in endings.items():
            self.assertEqual(len(events), 1, f"{swap} ended {events}")
        self.assertEqual(len(self.orphans()), markers, "lines of orphans, and markers that were left")
        leases, swaps, reads = self.intervals()
        overlaps = 0
        for swap_begin, swap_end, swap_recipe in swaps:
            for lease_begin, lease_end, recipe in leases:
                if lease_begin < swap_end and swap_begin < lease_end:
                    overlaps += 1
                    self.assertEqual(recipe, swap_recipe, "a lease is held during a contrary swap")
        print(f"{rounds} rounds in {seconds:.0f} s: {kills} kills, {markers} orphans, each cleared once; "
              f"{len(leases)} leases, {len(swaps)} swaps, {reads} reads, "
              f"{overlaps} overlaps of the same recipe and none of another")
        self.assertGreater(reads, ROUNDS)
        self.assertTrue(self.is_enough(kills, markers))

    def intervals(self):
        """Of the ledger: when leases and swaps were certainly held, and how often somebody read."""
        opened, leases, swaps, reads = {}, [], [], 0
        text = self.ledger.read_text()
        for line in text[:text.rfind("\n") + 1].splitlines():  # one may be just being written
            time_ns, _, what, *rest = line.split(" ")
            self.assertNotEqual(what, "WRONG", line)
            if what in ("take", "begin"):
                opened[rest[0]] = int(time_ns)
            elif rest[0] in self.cut:
                continue
            elif what in ("drop", "end"):
                held = (opened.pop(rest[0]), int(time_ns), rest[1])
                (leases if what == "drop" else swaps).append(held)
            else:
                reads += int(rest[0])
        return leases, swaps, reads


if __name__ == "__main__":
    unittest.main()
