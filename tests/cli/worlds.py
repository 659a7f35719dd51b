# SPDX-License-Identifier: Apache-2.0
"""Worlds for the tests of commands that work on one."""
import contextlib
import subprocess

from program import PROGRAM, ProgramTest

MAKE_WORLD = PROGRAM.parent / "tests" / "make_world"


class WorldTest(ProgramTest):
    @contextlib.contextmanager
    def held_world(self, orders=0, snapshots=0):
        """Adds to the world of this test, and has it until the end; gives the process id."""
        process = subprocess.Popen([MAKE_WORLD, self.folder / "world", str(orders), str(snapshots)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with process:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            yield process.pid
            process.stdin.close()
        self.assertEqual(process.returncode, 0)

    def make_world(self, orders, snapshots):
        with self.held_world(orders, snapshots):
            pass

    def files(self):
        return sorted(path.relative_to(self.folder) for path in self.folder.rglob("*"))
