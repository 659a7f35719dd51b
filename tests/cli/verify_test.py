#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast verify: a good world, and everything that may be wrong with one."""
import json
import shutil

from order_worlds import ORDERS, RECORDS, OrderWorldTest
from program import main


class Verify(OrderWorldTest):
    def assert_finds(self, error):
        done = self.run_program("verify", "world")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.decode(), f"holdfast: 1 error in world\n  {error}\n")

    def test_a_good_world_is_good(self):
        self.make_world()
        before = self.contents()
        self.assert_prints(f"journal   3 segments, {RECORDS} records from 1 to {RECORDS}\n"
                           f"instances {ORDERS} followed\n"
                           f"replay    {RECORDS} records came out as recorded\n"
                           "blobs     not looked at (--blobs)\n", "verify", "world")
        self.assertEqual(self.contents(), before)
        found = json.loads(self.run_program("verify", "world", "--json", "--blobs").stdout)
        self.assertEqual(found, {
            "first": 1, "last": RECORDS, "segments": 3, "records": RECORDS, "instances": ORDERS, "instances_not_followed": 0,
            "replayed": RECORDS, "replay_stopped": None, "blobs": 0, "notes": [], "errors": []})

    def test_a_process_that_died_leaves_a_good_world(self):
        self.make_world(how=("dies",))
        self.assertEqual(self.run_program("verify", "world").returncode, 0)

    def test_code_that_is_not_here_is_said_and_no_error(self):
        self.make_world(how=("strange",))
        done = self.run_program("verify", "world")
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        self.assertIn(b"replay    0 records came out as recorded; the others were not checked: this program has no "
                      b"code for strange/code@1 (strange/Wait@1)\n", done.stdout)

    def test_a_flipped_byte_is_found_anywhere_and_its_segment_named(self):
        self.make_world(orders=9)
        for segment in self.segments():
            whole = segment.read_bytes()
            for offset in [*range(0, 200, 13), *range(4000, len(whole), 397), len(whole) - 1]:
                self.flip(segment, offset)
                done = self.run_program("verify", "world", "--json")
                self.assertEqual(done.returncode, 1, (segment.name, offset))
                where = json.loads(done.stdout)["errors"][0]["where"]
                # Damage to a header is seen from the segment behind it too.
                self.assertRegex(where, rf"\Aworld/journal/0+\d+\.log at \d+\Z", (segment.name, offset))
                named, at = where.split("/")[-1].split(" at ")
                self.assertEqual(named, segment.name, offset)
                self.assertLessEqual(int(at), offset)
                segment.write_bytes(whole)
        self.assertEqual(self.run_program("verify", "world").returncode, 0)

    def test_bytes_behind_the_end_of_a_segment_are_found(self):
        self.make_world()
        first, last = self.segments()[0], self.segments()[-1]
        whole = first.read_bytes()
        first.write_bytes(whole[:-1] + b"x")
        self.assert_finds(f"world/journal/{first.name} at {len(whole) - 1}: should be zero, behind the end of the segment")
        first.write_bytes(whole)
        whole = last.read_bytes()
        last.write_bytes(whole[:-1] + b"x")
        done = self.run_program("verify", "world")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"world/journal/{last.name} at ", done.stderr.decode())
        self.assertIn("a torn write, which opening the world will cut off and keep aside, or damage", done.stderr.decode())

    def test_missing_and_foreign_files_are_found(self):
        self.make_world()
        self.make_world("other")
        kept = self.segments()[1].read_bytes()
        self.segments()[1].unlink()
        self.assert_finds("world/journal/000000000003.log at 0: segment 2 comes before it and is not there")
        (self.folder / "world/journal/000000000002.log").write_bytes(kept)
        shutil.copy(self.segments("other")[1], self.segments()[1])
        self.assert_finds("world/journal/000000000002.log at 0: the segment is of another journal")

    def test_a_world_file_that_is_lost_or_damaged_is_named(self):
        world = self.make_world()
        self.flip(world / "WORLD", 9)
        self.assert_refuses("holdfast: world/WORLD at 0: the file is damaged\n", "verify", "world")
        (world / "WORLD").unlink()
        self.assert_refuses("holdfast: world/WORLD at 0: the file is not there, but there is a journal\n",
                            "verify", "world")
        self.assertFalse((world / "WORLD").exists())

    def test_a_damaged_blob_is_found_when_asked(self):
        import sqlite3
        world = self.make_world()
        identity = (world / "WORLD").read_bytes()[8:24]
        blobs = sqlite3.connect(world / "blobs.db")
        blobs.execute("CREATE TABLE world(id BLOB NOT NULL)")
        blobs.execute("INSERT INTO world VALUES (?)", (identity,))
        blobs.execute("CREATE TABLE blobs(hash BLOB NOT NULL PRIMARY KEY, bytes BLOB NOT NULL)")
        blobs.execute("INSERT INTO blobs VALUES (?, ?)", (bytes(32), b"not these"))
        blobs.commit()
        blobs.close()
        self.assertEqual(self.run_program("verify", "world").returncode, 0)
        done = self.run_program("verify", "world", "--blobs")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"blobs     1 looked at\n", done.stdout)
        self.assertIn(b"world/blobs.db, blob number 1: is not what its hash says\n", done.stderr)

    def test_no_world_and_a_world_in_use_are_refused(self):
        self.assert_refused_without_a_world("verify")
        self.assert_refused_while_held("verify", "world")


if __name__ == "__main__":
    main()
