# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share: running the real program, in a folder of its own."""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from waiting import IN_MEMORY, PATIENCE, wait_until  # also for those who import us

PROGRAM = pathlib.Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build")) / "holdfast"
SANITIZED = bool(os.environ.get("HOLDFAST_SANITIZE"))

# Whoever runs the tests may have set proxies, and settings of ours: neither is for what is tested.
for variable in [*os.environ]:
    is_setting = variable.startswith("HOLDFAST_") and variable not in ("HOLDFAST_BUILD", "HOLDFAST_SANITIZE", "HOLDFAST_FLIPS")
    if is_setting or variable.lower() in ("http_proxy", "https_proxy", "all_proxy"):
        del os.environ[variable]

# Runs a command and adds a line to standard error with the largest memory it had, in KiB.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


class ProgramTest(unittest.TestCase):
    place = None  # of the folder; None: wherever temporary files are

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=self.place)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, str):
            text = text.encode()
        path.write_bytes(text)
        return path

    def run_program(self, *arguments, given=b"", **more):
        if isinstance(given, str):
            given = given.encode()
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        return subprocess.run([PROGRAM, *arguments], input=given, cwd=self.folder, timeout=PATIENCE, **more)

    def assert_prints(self, expected, *arguments, given=b""):
        """The program succeeds, prints this and nothing else."""
        done = self.run_program(*arguments, given=given)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        self.assertEqual(done.stdout.decode(), expected)

    def assert_refuses(self, errors, *arguments, given=b""):
        """The program exits with 1, says exactly this, and prints nothing."""
        done = self.run_program(*arguments, given=given)
        self.assertEqual(done.stderr.decode(), errors)
        self.assertEqual((done.stdout, done.returncode), (b"", 1))

    def assert_misused(self, first_line, *arguments):
        """The program exits with 2, says this and how to get help, and prints nothing."""
        done = self.run_program(*arguments)
        self.assertEqual(done.stderr.decode().splitlines()[0], f"holdfast: {first_line}")
        self.assertEqual((done.stdout, done.returncode), (b"", 2))

    def assert_bounded(self, chunks, mebibytes, *arguments):
        """Feeds the chunks until the program stops reading; its memory stays below the bound.
        Returns its exit code and standard error."""
        process = subprocess.Popen(
            [sys.executable, "-c", MEASURE, PROGRAM, *arguments], cwd=self.folder,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            for chunk in chunks:
                process.stdin.write(chunk)
        except BrokenPipeError:
            pass
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        errors = process.stderr.read().decode().splitlines()
        process.stderr.close()
        code = process.wait(timeout=PATIENCE)
        peak = int(errors.pop().split()[1])
        if not SANITIZED:
            self.assertLess(peak, mebibytes * 1024)
        return code, "\n".join(errors)


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
