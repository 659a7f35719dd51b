#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real workers that are killed: at each system call that writes their outbox, and at any moment while they run tasks. The server
is that of the conformance script; a ledger beside it counts what was really run."""
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "support")]
import worker_conformance
from waiting import PATIENCE, wait_until

PROGRAM = pathlib.Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build")) / "holdfast"

# The calls by which the outbox is written, and how often each is let through at most before the kill.
CALLS = {"pwrite64": 8, "fdatasync": 8, "rename": 3, "fsync": 4, "unlink": 3}

LEDGER = '''
import os, time

def work(input, task):
    with open(input["ledger"], "a") as ledger:
        ledger.write(f"{input['number']} {task.key}\\n")
    time.sleep(input["seconds"])
    return input["number"]
'''


class Kills(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, server, *flags, around=()):
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen([*around, PROGRAM, "worker", "--server", server.url, "--dir", self.folder / "worker", "--slots", "4",
                                     *flags], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def killed_at(self, call, number):
        """Runs a worker that is killed at this call, then another one. Says whether it was killed."""
        shutil.rmtree(self.folder / "worker", ignore_errors=True)
        server = worker_conformance.Server()
        server.told_stops = set()
        sent = set()  # what was reported, and not acknowledged
        refuses = threading.Event()

        def swallow(body):
            with server.changed:
                server.faults.append(("sync", swallow))
            if body.get("done") and refuses.is_set():
                sent.update(entry["d"] for entry in body["done"])
                return 503, {"code": "unavailable", "detail": "not now"}
            return server.on_sync(body, "/v1/workers/w-1/sync", server.worker[2])
        server.fault("sync", swallow)
        process = self.start(server, around=["strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={call}", "-e",
                                             f"inject={call}:signal=KILL:when={number}"])
        try:
            first = server.echo("first")  # acknowledged, so the outbox drops it
            wait_until(lambda: process.poll() is not None or first in server.results)
            refuses.set()
            held = [server.echo("held", delay=0.01 * each) for each in range(3)]
            wait_until(lambda: process.poll() is not None or sent >= set(held))
            was_killed = process.poll() is not None
        finally:
            if process.poll() is None:
                # Not strace: its end would let the worker go on.
                subprocess.run(["pkill", "-KILL", "-P", str(process.pid)], check=False)
            process.wait(timeout=PATIENCE)
        refuses.clear()
        mark = server.mark()
        leased = set(server.leased)
        second = self.start(server)
        try:
            session = server.after(mark, "session")
            # The report of a result says that it is durable, whatever happens to the one that sent it.
            self.assertLessEqual(sent & leased, set(session["holding"]), (call, number))
            self.assertLessEqual(set(session["holding"]), set(held) | {first}, (call, number))
            for d in session["holding"]:
                if d in leased:
                    server.result(d)
            after = server.echo("after")
            server.result(after)
            self.assertFalse(server.violations, (call, number))
        finally:
            second.kill()
            second.wait(timeout=PATIENCE)
            server.close()
        return was_killed

    def test_a_worker_killed_at_any_system_call_of_its_outbox_still_has_what_it_reported(self):
        kills = collections.Counter()
        for call, most in CALLS.items():
            for number in range(1, most + 1):
                if not self.killed_at(call, number):
                    break  # it makes no more of these
                kills[call] += 1
        self.assertGreaterEqual(kills["pwrite64"], 3, kills)
        self.assertGreaterEqual(kills["fdatasync"], 3, kills)
        self.assertGreaterEqual(sum(kills.values()), 10, kills)

    def test_tasks_of_a_worker_that_is_killed_again_and_again_are_each_counted_once(self):
        script = self.folder / "f.py"
        script.write_text(LEDGER)
        ledger = self.folder / "ledger"
        ledger.touch()
        server = worker_conformance.Server()
        server.told_stops = set()
        self.addCleanup(server.close)
        choose = random.Random(7)
        count = 60
        number_of = {}  # dispatch -> task
        losses = collections.Counter()

        def give(number):
            d = server.give({"ledger": str(ledger), "number": number, "seconds": choose.choice([0, 0.01, 0.05])}, type="work")
            number_of[d] = number
        for number in range(count):
            give(number)
        process = self.start(server, "--python", script)
        try:
            kills = 0
            while len(server.results) < count:
                target = len(server.results) + choose.randint(1, 6)
                wait_until(lambda: len(server.results) >= min(target, count) or server.violations or server.lost)
                self.assertFalse(server.violations)
                if kills < 10:
                    kills += 1
                    process.kill()
                    process.wait(timeout=PATIENCE)
                    process = self.start(server, "--python", script)
                while server.lost:  # is handed out again under another dispatch
                    d = server.lost.pop()
                    losses[number_of[d]] += 1
                    give(number_of[d])
            self.assertGreaterEqual(kills, 8)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=PATIENCE)
        results = collections.Counter(number_of[d] for d in server.results)
        self.assertEqual(results, {number: 1 for number in range(count)})
        self.assertTrue(all(entry["payload"] == number_of[d] for d, entry in server.results.items()))
        ran = collections.Counter(int(line.split()[0]) for line in ledger.read_text().splitlines())
        for number in range(count):
            self.assertGreaterEqual(ran[number], 1)
            self.assertLessEqual(ran[number], 1 + losses[number], f"task {number} ran again although it was not lost")


if __name__ == "__main__":
    unittest.main()
