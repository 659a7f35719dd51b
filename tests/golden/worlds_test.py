#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Worlds that earlier versions made are opened by this one, which goes on with them; a file from a later version is
refused, naming both versions."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from waiting import PATIENCE, wait_until

PROGRAM = pathlib.Path(os.environ.get("HOLDFAST_BUILD", HERE.parents[1] / "build")) / "tests" / "golden_program"
WORLDS = sorted((HERE / "worlds").glob("*.tar.gz"))

CRC32C = []
for _n in range(256):
    for _ in range(8):
        _n = (_n >> 1) ^ (0x82F63B78 if _n & 1 else 0)
    CRC32C.append(_n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ CRC32C[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class WorldTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def unpack(self, archive):
        world = self.folder / "world"
        shutil.rmtree(world, ignore_errors=True)
        with tarfile.open(archive) as tar:
            tar.extractall(world)
        return world

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)

    @contextlib.contextmanager
    def serving(self):
        process = subprocess.Popen([PROGRAM, "serve", "--world", "world", "--apply", "--listen", "127.0.0.1:0",
                                    "--any-file-system", "--retention", "0"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            line = process.stdout.readline()
            found = re.match(r"listening on (\S+)", line)
            self.assertTrue(found, line or process.stderr.read())
            self.url = found[1]
            yield process
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0)
        finally:
            process.kill()
            process.communicate()

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def instance(self, name):
        return self.ask("/v1/instances/" + name)

    def wait_for(self, name, **expected):
        def is_so():
            found = self.instance(name)
            return {key: found.get(key) for key in expected} == expected
        wait_until(is_so, f"{name} does not become {expected}")


class Golden(WorldTest):
    def test_there_are_some(self):
        self.assertIn("closed-1.tar.gz", [path.name for path in WORLDS])
        self.assertIn("killed-1.tar.gz", [path.name for path in WORLDS])

    def test_each_is_verified_served_and_goes_on(self):
        for archive in WORLDS:
            with self.subTest(archive.name):
                self.unpack(archive)
                verified = self.run_program("verify", "world", "--all", "--json")
                found = json.loads(verified.stdout)
                # What a killed process left is cut off when the world is opened, and said until then.
                torn = [error for error in found["errors"] if "torn" not in error["message"]]
                self.assertEqual(torn, [])
                self.assertEqual((found["replay_stopped"], found["snapshots"]), (None, 2))
                self.assertGreater(found["sealed"], 0)
                with self.serving():
                    self.go_on()
                verified = self.run_program("verify", "world", "--all")
                self.assertEqual((verified.stderr, verified.returncode), ("", 0), verified.stdout)

    def go_on(self):
        # What was there is there.
        self.assertEqual(self.instance("golden/Counter@1/c-9")["state"], {"sum": 3})
        self.assertEqual(self.instance("golden/Counter@1/c-3")["result"], 10)
        self.assertEqual(self.instance("golden/Trip@1/short")["status"], "completed")
        self.assertEqual(self.ask("/v1/proposals")["proposals"][0]["description"], "the same again")
        listed = self.ask("/v1/instances?limit=100")["instances"]
        self.assertIn(("golden/Letter@1", "one"), [(each["workflow"], each["key"]) for each in listed])
        # An effect that is open is settled, and the blob that a workflow put is there.
        effects = self.ask("/v1/effects?effect=golden/sign@1")["effects"]
        self.assertEqual(sorted(effect["key"] for effect in effects), ["one", "two"])
        for effect in effects:
            self.ask("/v1/receipts", {"intent": effect["intent"], "payload": {"name": "Ada"}})
        self.ask("/v1/events", {"schema": "golden/Fetch@1", "value": {"id": "one"}})
        self.wait_for("golden/Letter@1/one", status="completed", result="the text of letter one")
        self.assertEqual(self.instance("golden/Letter@1/two")["state"]["signed_by"], "Ada")
        # A step run that waits gets its answer.
        self.ask("/v1/events", {"schema": "golden/Answer@1", "value": {"id": "far/review", "yes": True, "by": "chief"}})
        self.wait_for("golden/Trip@1/far", status="completed")
        # New work, and a snapshot of it.
        self.ask("/v1/events", {"schema": "golden/Count@1", "value": {"id": "c-9", "by": 7}})
        self.assertEqual(self.instance("golden/Counter@1/c-9")["result"], 10)
        self.ask("/v1/snapshots", {})


class Newer(WorldTest):
    """Each kind of file, as a later version might have written it."""

    def refused(self, *patterns):
        """The world is refused, and nothing of it has changed."""
        before = {path: path.read_bytes() for path in sorted((self.folder / "world").rglob("*"))
                  if path.is_file() and path.name != "LOCK"}
        done = subprocess.run([PROGRAM, "serve", "--world", "world", "--listen", "127.0.0.1:0", "--any-file-system"],
                              cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.stdout, done.returncode), ("", 1), done.stderr)
        for pattern in patterns:
            self.assertRegex(done.stderr, pattern)
        return before

    def patch(self, path, change):
        data = bytearray(path.read_bytes())
        change(data)
        path.write_bytes(data)

    def setUp(self):
        super().setUp()
        self.world = self.unpack(HERE / "worlds" / "closed-1.tar.gz")

    def unchanged(self, before):
        for path, content in before.items():
            self.assertEqual(path.read_bytes(), content, path)

    def test_world(self):
        def change(data):
            data[7] = ord("3")
            data[28:32] = struct.pack("<I", crc32c(bytes(data[:28])))
        self.patch(self.world / "WORLD", change)
        self.unchanged(self.refused(r"WORLD: is of version 3, and this program knows versions 1 and 2"))

    def test_journal_segment(self):
        def change(data):
            data[12:16] = struct.pack("<I", 2)
            data[8:12] = struct.pack("<I", crc32c(bytes(data[12:4096])))
        self.patch(sorted((self.world / "journal").glob("*.log"))[-1], change)
        self.unchanged(self.refused(r"\.log.*is of version 2, and this program knows version 1"))

    def test_record(self):
        # A record begins with d9d9f7, the head of its list, and the version.
        segment = sorted((self.world / "journal").glob("*.log"))[-1]

        def change(data):
            header_crc = struct.unpack("<I", data[8:12])[0]
            offset = 4096
            last = None
            while data[offset:offset + 4] == b"HFB1":
                length, count = struct.unpack("<I", data[offset + 8:offset + 12])[0], struct.unpack("<I", data[offset + 20:offset + 24])[0]
                if count:
                    last = offset
                offset += length
            # The last batch with records: those before are in a snapshot.
            length = struct.unpack("<I", data[last + 8:last + 12])[0]
            self.assertEqual(data[last + 100:last + 103], b"\xd9\xd9\xf7")
            self.assertEqual(data[last + 104], 1)
            data[last + 104] = 2
            data[last + 16:last + 20] = struct.pack("<I", crc32c(bytes(data[last + 96:last + length])))
            data[last + 4:last + 8] = struct.pack("<I", extend(header_crc, bytes(data[last + 8:last + 96])))
            # The batches behind it are marks: they name the one before by its hash only if it has records.
            data[last + length:] = bytes(len(data) - last - length)

        def extend(crc, data):
            crc ^= 0xFFFFFFFF
            for byte in data:
                crc = (crc >> 8) ^ CRC32C[(crc ^ byte) & 0xFF]
            return crc ^ 0xFFFFFFFF
        self.patch(segment, change)
        self.refused(r"record \d+.*of version 2, and this program knows version 1")

    def change_database(self, name, *statements):
        with contextlib.closing(sqlite3.connect(self.world / name, isolation_level=None)) as database:
            for statement in statements:
                database.execute(*statement)

    def test_snapshot(self):
        with contextlib.closing(sqlite3.connect(self.world / "blobs.db", isolation_level=None)) as database:
            import hashlib
            for number, digest in database.execute("SELECT number, hash FROM snapshots").fetchall():
                content = bytearray(database.execute("SELECT bytes FROM blobs WHERE hash = ?", (digest,)).fetchone()[0])
                self.assertEqual((content[:3], content[4]), (b"\xd9\xd9\xf7", 1))
                content[4] = 2
                changed = hashlib.sha256(content).digest()
                database.execute("INSERT INTO blobs(hash, bytes) VALUES (?, ?)", (changed, bytes(content)))
                database.execute("UPDATE snapshots SET hash = ? WHERE number = ?", (changed, number))
        self.refused(r"snapshot.*of version 2, and this program knows version 1")

    def test_databases(self):
        for name in ("blobs.db", "seals.db", "effects.db"):
            with self.subTest(name):
                self.world = self.unpack(HERE / "worlds" / "closed-1.tar.gz")
                self.change_database(name, ("PRAGMA user_version = 2",))
                if name == "seals.db":
                    # Seals end nothing: they are left as they are, and that is said.
                    verified = self.run_program("verify", "world")
                    self.assertEqual(verified.returncode, 1)
                    self.assertRegex(verified.stderr, name + r".*is of version 2, and this program knows version 1")
                else:
                    self.refused(name + r".*is of version 2, and this program knows version 1")

    def test_history(self):
        self.change_database("history.db", ("UPDATE cursor SET version = 9",))
        verified = self.run_program("verify", "world", "--all")
        self.assertEqual(verified.returncode, 1)
        self.assertRegex(verified.stderr, r"history\.db.*version 9")
        # The index is derived: it is made again, and the world goes on.
        with self.serving():
            wait_until(lambda: self.ask("/v1/instances?limit=100")["lag"] == 0, "the index does not come up")


if __name__ == "__main__":
    unittest.main()
