#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An engine whose workflows all sleep does nothing: no thread of it wakes up, and none calls the system."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from waiting import PATIENCE, threads_of, wait_until

SLEEPER = pathlib.Path(os.environ["HOLDFAST_BUILD"]) / "tests" / "idle_sleeper"
WORKFLOWS = 10_000
WATCHED_S = 4  # longer than anything that happens "every second"
WATCHES = 3  # of which one must see nothing: what comes every second is seen by all of them

# A thread that strace finds inside a wait; it left none and entered none while it was watched.
PENDING = re.compile(r"^(\d+) +(futex|poll|ppoll|restart_syscall|read|epoll_wait|epoll_pwait)\(.*"
                     r"(<unfinished \.\.\.>|<detached \.\.\.>)$")


class IdleTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.process = subprocess.Popen([SLEEPER, self.folder / "world", str(WORKFLOWS)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end)
        self.assertEqual(self.process.stdout.readline(), b"ready\n")
        self.settle()

    def end(self):
        self.process.stdin.close()
        self.assertEqual(self.process.wait(timeout=PATIENCE), 0)
        self.process.stdout.close()

    def settle(self):
        """The journal prepares its next files after a load, and records are sealed after a second. Who waits for a
        disk does not wake up either, but will: two looks in a row find everybody at rest."""
        deadline = time.monotonic() + PATIENCE
        rests, before = 0, None
        while rests < 2:
            self.assertLess(time.monotonic(), deadline, "it does not come to rest")
            now = threads_of(self.process.pid)
            is_at_rest = now == before and {state for state, _ in now.values()} == {"S"}
            rests = rests + 1 if is_at_rest else 0
            before = now
            time.sleep(1.5)

    def test_no_thread_wakes_up(self):
        woken = []
        for _ in range(WATCHES):
            before = threads_of(self.process.pid)
            self.assertGreaterEqual(len(before), 8, "the threads of an engine are there")
            time.sleep(WATCHED_S)
            after = threads_of(self.process.pid)
            if after == before:
                return
            woken.append({thread: (before.get(thread), after.get(thread))
                          for thread in before.keys() | after.keys() if before.get(thread) != after.get(thread)})
        self.fail(f"threads that woke up: {woken}")

    def watch(self):
        """The lines of a trace of all threads, over some time."""
        trace = self.folder / "trace"
        strace = subprocess.Popen(["strace", "-f", "-p", str(self.process.pid), "-o", trace],
                                  stderr=subprocess.PIPE, text=True)
        try:
            self.wait_until_traced(strace)
            time.sleep(WATCHED_S)
            strace.send_signal(signal.SIGINT)
            said = strace.communicate(timeout=PATIENCE)[1]
        finally:
            strace.kill()
        # An error, as where nobody may trace, is an error of this test: it shows nothing then.
        self.assertIn(strace.returncode, (0, -signal.SIGINT, 128 + signal.SIGINT), said)
        return trace.read_text().splitlines()

    def wait_until_traced(self, strace):
        def is_traced():
            if strace.poll() is not None:
                self.fail(strace.stderr.read())
            return all(re.search(rf"^TracerPid:\s+{strace.pid}$", (task / "status").read_text(), re.M)
                       for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir())
        wait_until(is_traced, "not every thread is traced")

    def calls_in(self, lines):
        """What is no end of a call that was pending all the time; and the threads that were watched."""
        calls, seen = [], set()
        for line in lines:
            match = PENDING.match(line)
            if line.endswith("<detached ...>") and match and match.group(1) in seen:
                continue  # the end of what was pending
            if not match or match.group(1) in seen:
                calls.append(line)
            else:
                seen.add(match.group(1))
        return calls, seen

    def test_no_thread_calls_the_system(self):
        called = []
        for _ in range(WATCHES):
            calls, seen = self.calls_in(self.watch())
            if not calls:
                self.assertEqual(seen, set(threads_of(self.process.pid)), "every thread was watched")
                return
            called.append(calls)
            self.settle()
        self.fail(f"calls while nothing was to be done: {called}")


if __name__ == "__main__":
    unittest.main()
