#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A flipped byte anywhere in a world is found by `holdfast verify --all`, or the file says the same as before.

HOLDFAST_FLIPS: how many bytes of each file are flipped, one after the other (60); `all`: every one, which takes hours."""
import collections
import concurrent.futures
import contextlib
import os
import shutil
import sqlite3
import sys

from order_worlds import OrderWorldTest
from program import main

FLIPS = os.environ.get("HOLDFAST_FLIPS", "60")

# Not looked at: who has had the world last, which decides nothing; the key for the next seal, which is refused if it is none.
LEFT_OUT = ("LOCK", "keys/node")


class Flips(OrderWorldTest):
    @staticmethod
    def tables(path):
        """What a database says, whatever its bytes are. Of a snapshot not when it was taken, nor the numbers by which
        a collection of blobs spares what is new: nothing else says the same (docs/guarantees.md)."""
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
            if path.name != "blobs.db":
                return list(database.iterdump())
            return [list(database.execute(statement)) for statement in (
                "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name", "SELECT hash, bytes FROM blobs ORDER BY hash",
                "SELECT next_record, hash, lineage FROM snapshots", "SELECT * FROM world")]

    def make_all_kinds_of_files(self):
        world = self.make_world(orders=6, snapshots=1, how=("sealed",))
        self.assertEqual(self.run_program("reindex", "world").returncode, 0)
        done = self.run_program("verify", "world", "--all")
        self.assertEqual((done.stderr, done.returncode), (b"", 0), done.stdout)
        self.assertRegex(done.stdout.decode(), r"index     \d+ rows as the records say\n")
        return world

    def offsets(self, size):
        if FLIPS == "all" or size < 200:
            return range(size)
        return range(0, size, max(1, size // int(FLIPS)) | 1)

    def look(self, folder, name, offset, before):
        """Flips a byte in a copy of the world; says what came of it, and puts it back."""
        path = folder / name
        whole = path.read_bytes()
        self.flip(path, offset)
        try:
            done = self.run_program("verify", folder.name, "--all")
            if done.returncode == 1:
                self.assertNotEqual(done.stderr, b"", (name, offset))
                return "named" if path.name in done.stderr.decode() else "found"
            self.assertEqual(done.returncode, 0, done.stderr)
            # Only where SQLite keeps nothing: what the file says is the same, to the last row.
            self.assertIsNotNone(before, f"{name} at {offset} was not found: {done.stdout.decode()}")
            self.assertEqual(self.tables(path), before, f"{name} at {offset} was not found")
            return "harmless"
        finally:
            path.write_bytes(whole)

    def test_a_flipped_byte_is_found_in_every_file_or_cannot_matter(self):
        world = self.make_all_kinds_of_files()
        names = sorted(str(path.relative_to(world)) for path in world.rglob("*") if path.is_file())
        self.assertLessEqual({"WORLD", "blobs.db", "history.db", "seals.db", "journal/000000000001.log"}, set(names))
        workers = os.cpu_count() or 1
        folders = collections.deque(self.folder / f"copy-{i}" for i in range(workers))
        for folder in folders:
            shutil.copytree(world, folder)
        counts = {}
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for name in names:
                if name in LEFT_OUT:
                    continue
                path = world / name
                before = self.tables(path) if path.suffix == ".db" else None

                def one(offset):
                    folder = folders.popleft()
                    try:
                        return self.look(folder, name, offset, before)
                    finally:
                        folders.append(folder)
                counts[name] = collections.Counter(pool.map(one, self.offsets(path.stat().st_size)))
        for name, count in counts.items():
            print(f"{name}: {(world / name).stat().st_size} bytes, {dict(count)}", file=sys.stderr)
            self.assertGreater(count["named"] + count["found"], 0, name)
            if not name.endswith(".db"):
                self.assertEqual(count["harmless"], 0, name)
        for folder in folders:
            self.assertEqual(self.run_program("verify", folder.name, "--all").returncode, 0, "all of it was put back")

    def test_tables_that_are_not_as_they_were_made_are_found_in_every_database(self):
        world = self.make_all_kinds_of_files()
        for name in ("blobs.db", "history.db", "seals.db"):
            whole = (world / name).read_bytes()
            # A statement that made a table: SQLite takes it for what it says.
            place = whole.index(b" NOT NULL")
            (world / name).write_bytes(whole[:place] + b" NOT_NULL" + whole[place + 9:])
            done = self.run_program("verify", "world", "--all")
            self.assertEqual(done.returncode, 1, name)
            self.assertIn(f"world/{name}", done.stderr.decode())
            (world / name).write_bytes(whole)

    def test_what_is_derived_is_made_again_whatever_it_has_become(self):
        world = self.make_all_kinds_of_files()
        listed = self.run_program("ls", "--world", "world", "--json").stdout
        whole = (world / "history.db").read_bytes()
        for offset in self.offsets(len(whole)):
            self.flip(world / "history.db", offset)
            if offset % 7 == 0:
                self.assertEqual(self.run_program("ls", "--world", "world", "--json").stdout, listed, "nothing depends on it")
            done = self.run_program("reindex", "world")
            self.assertEqual((done.stderr, done.returncode), (b"", 0), offset)
        done = self.run_program("verify", "world", "--all")
        self.assertEqual((done.stderr, done.returncode), (b"", 0))


if __name__ == "__main__":
    main()
