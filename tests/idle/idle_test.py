#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An engine whose workflows all sleep does nothing: no thread of it wakes up, and none calls the system."""

import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

SLEEPER = pathlib.Path(os.environ["HOLDFAST_BUILD"]) / "tests" / "idle_sleeper"
WORKFLOWS = 10_000
WATCHED_S = 4  # longer than anything that happens "every second"

# A thread that strace finds inside a wait; it left none and entered none while it was watched.
PENDING = re.compile(r"^(\d+) +(futex|poll|ppoll|restart_syscall|read|epoll_wait|epoll_pwait)\(.*"
                     r"(<unfinished \.\.\.>|<detached \.\.\.>)$")


def switches(pid):
    """How often each thread has gone to sleep."""
    counts = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        text = (task / "status").read_text()
        counts[task.name] = int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M).group(1))
    return counts


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
        self.assertEqual(self.process.wait(timeout=60), 0)
        self.process.stdout.close()

    def settle(self):
        """The journal prepares its next files after a load."""
        deadline = time.monotonic() + 120
        before = None
        while (now := switches(self.process.pid)) != before:
            self.assertLess(time.monotonic(), deadline, "it does not come to rest")
            before = now
            time.sleep(1.5)

    def test_no_thread_wakes_up(self):
        before = switches(self.process.pid)
        self.assertGreaterEqual(len(before), 8, "the threads of an engine are there")
        time.sleep(WATCHED_S)
        self.assertEqual(switches(self.process.pid), before)

    def test_no_thread_calls_the_system(self):
        threads = set(switches(self.process.pid))
        trace = self.folder / "trace"
        # An error, as where nobody may trace, is an error of this test: it shows nothing then.
        watched = subprocess.run(["timeout", "--signal=INT", str(WATCHED_S), "strace", "-f", "-p",
                                  str(self.process.pid), "-o", trace],
                                 stderr=subprocess.PIPE, text=True)
        self.assertEqual(watched.returncode, 124, watched.stderr)
        lines = trace.read_text().splitlines()
        seen = set()
        for line in lines:
            match = PENDING.match(line)
            if line.endswith("<detached ...>") and match and match.group(1) in seen:
                continue  # the end of what was pending
            self.assertTrue(match, f"a call while nothing was to be done: {line}")
            self.assertNotIn(match.group(1), seen, f"a second call: {line}")
            seen.add(match.group(1))
        self.assertEqual(seen, threads, "every thread was watched")


if __name__ == "__main__":
    unittest.main()
