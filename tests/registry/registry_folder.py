# SPDX-License-Identifier: Apache-2.0
"""What the tests of the registry share: the real program in a folder of its own, real contenders, strace."""
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from waiting import IN_MEMORY, PATIENCE, wait_until  # also for those who import us

BUILD = pathlib.Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build")).resolve()
PROGRAM = BUILD / "holdfast"
CONTENDER = BUILD / "tests" / "registry_contender"
STEPPED_CLOCK = BUILD / "tests" / "libregistry_stepped_clock.so"

TRY_AGAIN = 75


class RegistryFolderTest(unittest.TestCase):
    place = None  # of the folder; None: wherever temporary files are

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=self.place)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.dir = self.folder / "gpu"
        self.ledger = self.folder / "ledger"
        self.environment = None  # of the programs that are run; ours

    def command(self, *arguments):
        """Options of ours stand before the -- of a program."""
        arguments = [str(each) for each in arguments]
        at = arguments.index("--") if "--" in arguments else len(arguments)
        return [str(PROGRAM), *arguments[:at], "--dir", str(self.dir), *arguments[at:]]

    def run_program(self, *arguments, **more):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=PATIENCE,
                              **{"env": self.environment, **more})

    def succeed(self, *arguments, **more):
        done = self.run_program(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def refuse(self, code, text, *arguments, **more):
        done = self.run_program(*arguments, **more)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        self.assertIn(text, done.stderr)

    def start(self, *arguments, **more):
        process = subprocess.Popen(self.command(*arguments), text=True, **more)
        self.addCleanup(self.end, process)
        return process

    def contend(self, role, name, more):
        process = subprocess.Popen([CONTENDER, role, self.dir, self.ledger, name, str(more)])
        self.addCleanup(self.end, process)
        return process

    def interrupted(self, call, *arguments):
        """Runs it; a Ctrl-C reaches it, and nobody else, as it makes this system call for the first time."""
        need_strace(self)
        return subprocess.run(["strace", "-qq", "-o", "/dev/null", "-e", f"inject={call}:signal=SIGINT:when=1",
                               *self.command(*arguments)], env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
                              capture_output=True, text=True, timeout=PATIENCE)

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def wait_for_signal_files(self):
        wait_until(self.signal_files, "nobody is asked to yield")

    def stop_outside_the_lock(self, process):
        """Stops it at a moment when nobody waits for it: one that has the lock is let go on, and stopped again."""
        def is_stopped():
            process.send_signal(signal.SIGSTOP)
            wait_until(lambda: pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T")
            with open(self.dir / ".workflows.lock") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return True
                except BlockingIOError:
                    process.send_signal(signal.SIGCONT)
                    return False
        wait_until(is_stopped)

    def listed(self, *flags):
        return json.loads(self.succeed("registry", "ls", "--json", *flags))

    def live(self):
        return [each["name"] for each in self.listed()["workflows"]]

    def state(self):
        """What the file holds, as anybody may read it."""
        path = self.dir / "workflows.json"
        return json.loads(path.read_text()) if path.exists() else {"workflows": [], "swap_in_progress": None}

    def edit(self, change):
        state = self.state()
        change(state)
        (self.dir / "workflows.json").write_text(json.dumps(state))

    def log(self):
        path = self.dir / "swap_log.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def orphans(self):
        return [line for line in self.log() if line["event"] == "orphan_marker_cleared"]

    def signal_files(self):
        return sorted(path.name for path in self.dir.glob("preempt-*"))


class Traced:
    """What a program did that was watched by strace, up to its end."""

    def __init__(self, path):
        self.lines = pathlib.Path(path).read_text(errors="replace").splitlines()

    def calls(self, marker):
        """Names and numbers of its calls, from the first that names `marker` on: [("openat", 12), ...]."""
        count, found, begun = {}, [], False
        for line in self.lines:
            name = re.match(r"(\w+)\(", line)
            if not name:
                continue
            count[name[1]] = count.get(name[1], 0) + 1
            begun = begun or marker in line
            if begun:
                found.append((name[1], count[name[1]]))
        return found

    def left_a_marker(self):
        """Whether the last state that it wrote, and gave the name, has a marker."""
        marker, written = False, False
        for line in self.lines:
            if line.startswith("pwrite64(") and 'swap_in_progress\\": ' in line:
                written = 'swap_in_progress\\": {' in line
            if line.startswith("rename(") and "workflows.json.new" in line and line.endswith("= 0"):
                marker = written
        return marker

    def has_begun(self, marker):
        return any(marker in line for line in self.lines)


def traced(command, path, kill=None):
    """Runs it under strace; kills it at a call ("rename", 2)."""
    inject = ["-e", f"inject={kill[0]}:signal=SIGKILL:when={kill[1]}"] if kill else []
    # Of two who want to trace a process the second fails, and the search for leaks is one.
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(["strace", "-qq", "-s", "200000", "-o", path, *inject, *command], env=environment,
                          capture_output=True, text=True, timeout=PATIENCE)
    killed = done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    return Traced(path), killed, done


def need_strace(test):
    test.assertTrue(shutil.which("strace"), "strace is missing; scripts/setup installs it")
