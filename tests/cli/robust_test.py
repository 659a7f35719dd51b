#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pipes that break, terminals of every width and none, arguments that are no text, folders that cannot be read, and much output."""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
import unittest

from order_worlds import OrderWorldTest
from program import IN_MEMORY, MEASURE, PATIENCE, PROGRAM, SANITIZED, main


class Robust(OrderWorldTest):
    place = IN_MEMORY  # large worlds

    def on_a_terminal(self, *arguments, columns=80, **environment):
        """Runs it with a terminal of this width as all three streams; gives what it showed, and the exit code."""
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdin=child, stdout=child, stderr=child,
                                   env={**os.environ, "TERM": "xterm", **environment})
        os.close(child)
        shown = b""
        while True:
            try:
                data = os.read(parent, 65536)
            except OSError:  # its end is closed
                break
            if not data:
                break
            shown += data
        os.close(parent)
        return shown.decode(), process.wait(timeout=PATIENCE)

    def test_a_reader_that_goes_away_ends_it_without_a_word(self):
        self.make_world(orders=400)
        for command in ("journal world --limit 1000000", "journal world --json --limit 1000000", "ls --world world --limit 1000 --json",
                        "timeline demo/Order@1/o-1 --world world", "--help", "completion bash"):
            done = subprocess.run(["bash", "-c", f'"$0" {command} | head -n 1; echo "${{PIPESTATUS[0]}}"', str(PROGRAM)],
                                  cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.stderr, "", command)
            self.assertEqual(len(done.stdout.splitlines()), 2, command)
            self.assertIn(done.stdout.splitlines()[1], ("0", "1"), command)

    def test_a_reader_that_goes_away_is_noticed_at_once(self):
        world = self.make_world(orders=1000)
        before = self.bytes_read()
        reader, writer = os.pipe()
        process = subprocess.Popen([PROGRAM, "journal", "world", "--json", "--limit", "100000000"], cwd=self.folder,
                                   stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        os.read(reader, 10)
        os.close(reader)
        _, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual((errors, process.returncode), (b"", 1))
        whole = sum(path.stat().st_size for path in world.rglob("*"))
        self.assertLess(self.bytes_read() - before, whole // 2, "what is read for nobody")

    @staticmethod
    def bytes_read():
        """By us, and by those whom we have waited for; 0 where nobody counts."""
        counts = pathlib.Path("/proc/self/io")
        return int(re.match(r"rchar: (\d+)", counts.read_text())[1]) if counts.exists() else 0

    @unittest.skipIf(SANITIZED, "sanitizers need memory of their own")
    def test_much_output_needs_no_more_memory_than_little(self):
        self.make_world("small", orders=30)
        self.make_world("large", orders=3000)
        peaks, sizes = {}, {}
        for world in ("small", "large"):
            done = subprocess.run([sys.executable, "-c", MEASURE, PROGRAM, "journal", world, "--json", "--limit", "100000000"],
                                  cwd=self.folder, capture_output=True, timeout=PATIENCE, check=True)
            peaks[world], sizes[world] = int(done.stderr.split()[-1]), len(done.stdout)
        self.assertGreater(sizes["large"], 90 * sizes["small"])
        self.assertLess(peaks["large"], peaks["small"] + 16 * 1024, "KiB")

    def bars_of_a_slow_command(self, columns, **environment):
        """What a command shows on its terminal whose output is not taken for more than a second."""
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([PROGRAM, "journal", "world", "--json", "--limit", "1000000"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=child, env={**os.environ, "TERM": "xterm", **environment})
        os.close(child)
        # It has begun, and is full of what nobody takes; a second later it shows how far it is.
        self.assertTrue(select.select([process.stdout], [], [], PATIENCE)[0])
        time.sleep(1.3)
        json.loads(process.stdout.read())
        process.stdout.close()
        shown = b""
        with contextlib.suppress(OSError):  # its end is closed
            while data := os.read(parent, 65536):
                shown += data
        os.close(parent)
        self.assertEqual(process.wait(timeout=PATIENCE), 0)
        return shown.decode()

    def test_a_bar_is_shown_on_a_terminal_and_fits_it(self):
        self.make_world(orders=300)
        for columns in (200, 80, 40, 12, 1):
            shown = self.bars_of_a_slow_command(columns)
            bars = re.findall(r"\r\x1b\[K([^\r\x1b]+)", shown)
            self.assertEqual(bool(bars), columns > 1, (columns, shown))
            for bar in bars:
                self.assertLess(len(bar), columns, bar)
            if columns >= 80:
                self.assertRegex(bars[0], r"\Areading \[#+\.+\] \d+ of 701\Z")
            self.assertTrue(shown.endswith("\r\x1b[K"), "it is gone in the end")
        self.assertEqual(self.bars_of_a_slow_command(80, TERM="dumb"), "", "it could not be taken back")

    def test_nothing_but_how_it_ended_has_a_colour(self):
        self.make_world(orders=3)
        for command in (("manifest", "--world", "world"), ("journal", "world"), ("ls", "--world", "nowhere"), ("--help",)):
            for more in ({}, {"NO_COLOR": "1"}, {"CLICOLOR_FORCE": "1"}):
                self.assertNotIn("\x1b", self.on_a_terminal(*command, **more)[0], (command, more))
        for columns in (1, 20, 300):
            text, code = self.on_a_terminal("ls", "--world", "world", columns=columns)
            self.assertEqual((len(text.splitlines()), code), (4, 0), "tables are as wide as they are, on every terminal")

    def test_without_any_terminal_or_streams_it_works(self):
        self.make_world(orders=3)
        done = subprocess.run(["setsid", PROGRAM, "ls", "--world", "world"], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, env={"PATH": os.environ["PATH"]}, timeout=PATIENCE)
        self.assertEqual((done.stderr, done.returncode, len(done.stdout.splitlines())), (b"", 0, 4))

    def test_arguments_that_are_no_text_are_refused_and_shown_as_bytes(self):
        self.make_world(orders=1)
        bad = b"\xff\xfe\x1b[31m"
        for command in (("show", bad, "--world", "world"), ("ls", "--world", bad), ("ls", "--world", "world", "--where", b"state.x\xff"),
                        ("ls", "--world", "world", "--workflow", bad, bad), (bad,), ("trace", bad, "--world", "world"),
                        ("defs", "check", bad), ("cbor", "encode", "--type", bad), ("fork", "--world", "world", bad + b"/x", "--at", "99"),
                        ("start", "demo/Order@1", bad, "--server", "http://127.0.0.1:9"), ("ls", "--server", bad),
                        ("init", b"a/b/\xff\x00"[:5] + b"/" * 5000), ("state", bad, "--at", "1", "--world", "world")):
            done = self.run_program(*command)
            self.assertIn(done.returncode, (1, 2, 75), command)
            self.assertTrue(done.stderr.startswith(b"holdfast: "), (command, done.stderr))
            self.assertTrue(done.stderr.isascii() and b"\x1b" not in done.stderr, (command, done.stderr))
        # Values that are text in name only.
        done = self.run_program("ls", "--world", "world", "--workflow", bad)
        self.assertEqual((done.stderr, done.returncode), (b"holdfast: \\xff\\xfe\\x1b[31m: there is no such workflow\n", 1))

    def test_folders_that_cannot_be_read_are_named_for_what_they_are(self):
        world = self.make_world(orders=1)
        (self.folder / "file").write_text("")
        (self.folder / "loop").symlink_to("loop")
        for command in ("ls --world {}", "verify {}", "journal {}", "gc {}", "reindex {}", "snapshot ls {}"):
            for path, why in (("file", "Not a directory"), ("loop", "Too many levels of symbolic links"), ("nowhere", "there is no world")):
                done = self.run_program(*command.format(path).split())
                self.assertEqual((done.stdout, done.returncode), (b"", 1), (command, path))
                self.assertIn(why, done.stderr.decode(), (command, path))
        if os.getuid() != 0:
            world.chmod(0)
            self.addCleanup(world.chmod, 0o755)
            self.assertIn("Permission denied", self.run_program("ls", "--world", "world").stderr.decode())
            return
        self.folder.chmod(0o755)
        world.chmod(0o700)
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        try:
            done = self.run_program("ls", "--world", "world", **nobody)
        except PermissionError:
            self.skipTest("nobody else may run the program here")
        self.assertEqual((done.stdout, done.returncode), (b"", 1))
        self.assertEqual(done.stderr.decode(), "holdfast: world: opendir: Permission denied\n")


if __name__ == "__main__":
    main()
