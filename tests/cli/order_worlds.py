# SPDX-License-Identifier: Apache-2.0
"""Worlds of the demo's orders, for the tests of commands that work on one."""
import contextlib
import subprocess

from program import PATIENCE, PROGRAM, ProgramTest

ORDER_WORLD = PROGRAM.parent / "tests" / "order_world"
ORDERS = 15
RECORDS = 36  # of so many orders; they fill three segments


class OrderWorldTest(ProgramTest):
    def make_world(self, name="world", orders=ORDERS, snapshots=0, how=()):
        """Makes the world, or adds to it: so many orders, and those before each of the snapshots."""
        subprocess.run([ORDER_WORLD, self.folder / name, str(orders), str(snapshots), *how], check=True, timeout=PATIENCE)
        return self.folder / name

    @contextlib.contextmanager
    def held_world(self):
        """A world that another process has; gives the process id."""
        process = subprocess.Popen([ORDER_WORLD, self.folder / "world", "3", "1", "held"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with process:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            yield process.pid
            process.stdin.close()
        self.assertEqual(process.returncode, 0)

    def segments(self, world="world"):
        return sorted((self.folder / world / "journal").glob("*.log"))

    def contents(self, world="world"):
        """Every file but the lock, which says who has had it."""
        folder = self.folder / world
        return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*"))
                if path.is_file() and path.name != "LOCK"}

    @staticmethod
    def flip(path, offset):
        data = bytearray(path.read_bytes())
        data[offset] ^= 0x10
        path.write_bytes(data)

    def assert_refused_while_held(self, *command):
        with self.held_world() as pid:
            done = self.run_program(*command)
        self.assertEqual((done.stdout, done.returncode), (b"", 1))
        self.assertRegex(done.stderr.decode(), rf"\Aholdfast: world/LOCK: is held by process {pid} on host [^\n]+\n\Z")

    def assert_refused_without_a_world(self, *command):
        self.assert_refuses("holdfast: nowhere: there is no world\n", command[0], "nowhere", *command[1:])
        self.assertFalse((self.folder / "nowhere").exists())
