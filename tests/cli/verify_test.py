#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast verify: a good world, and everything that may be wrong with one."""
import contextlib
import json
import shutil
import sqlite3

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
                           "snapshots 0, of which replay came to 0\n"
                           "seals     none\n"
                           "blobs     not looked at (--blobs)\n", "verify", "world")
        self.assertEqual(self.contents(), before)
        found = json.loads(self.run_program("verify", "world", "--json", "--blobs").stdout)
        self.assertEqual(found, {
            "first": 1, "last": RECORDS, "segments": 3, "records": RECORDS, "instances": ORDERS, "instances_not_followed": 0,
            "snapshots": 0, "snapshots_replayed": 0, "sealed": 0, "last_seal": None, "key": None, "replayed": RECORDS, "replay_stopped": None, "blobs": 0,
            "index_rows": None, "notes": [], "errors": []})

    def test_seals_answer_for_every_record(self):
        world = self.make_world(how=("sealed",))
        self.assertEqual((world / "keys" / "node").stat().st_mode & 0o777, 0o600)
        found = json.loads(self.run_program("verify", "world", "--json").stdout)
        self.assertEqual((found["sealed"], found["errors"]), (RECORDS, []))
        key, seal = found["key"], found["last_seal"]
        self.assertIn(f"seals     {RECORDS} records as sealed; the last seal is {seal}, the key {key}\n".encode(),
                      self.run_program("verify", "world", "--key", key, "--seal", seal).stdout)
        done = self.run_program("verify", "world", "--key", "00" * 32)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"was signed by another key: {key}", done.stderr.decode())
        done = self.run_program("verify", "world", "--seal", f"{RECORDS}:{'00' * 32}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not the one that is remembered", done.stderr.decode())
        for text in ("12", ""):
            self.assert_refuses("holdfast: --key: a public key is 64 hexadecimal digits\n", "verify", "world", "--key", text)
        for text in ("12", f":{'00' * 32}", "x:00", ""):
            self.assert_refuses("holdfast: --seal: a seal is RECORD:HASH, as verify prints it\n", "verify", "world", "--seal", text)
        with contextlib.closing(sqlite3.connect(world / "seals.db")) as seals, seals:
            seals.execute("UPDATE seals SET first = 2")
        done = self.run_program("verify", "world")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"the seal of records 2 to {RECORDS} was not signed", done.stderr.decode())

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
        # The last block is the handover to the next segment.
        self.assert_finds(f"world/journal/{first.name} at {len(whole) - 4096}: should be zero or a mark, behind the last "
                          "record of the segment")
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

    def change_blobs(self, sql):
        with contextlib.closing(sqlite3.connect(self.folder / "world" / "blobs.db", isolation_level=None)) as blobs:
            blobs.execute(sql)

    def test_a_damaged_blob_is_found_when_asked(self):
        self.make_world(snapshots=1)
        count = json.loads(self.run_program("verify", "world", "--json", "--blobs").stdout)["blobs"]
        self.assertGreater(count, 2)
        self.change_blobs("INSERT INTO blobs(hash, bytes) VALUES (zeroblob(32), 'not these')")
        self.assertEqual(self.run_program("verify", "world").returncode, 0)
        done = self.run_program("verify", "world", "--blobs")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"blobs     {count + 1} looked at\n", done.stdout.decode())
        self.assertIn(f"world/blobs.db, blob number {count + 1}: is not what its hash says\n", done.stderr.decode())

    def test_a_damaged_blob_that_a_workflow_has_put_is_found(self):
        self.make_world(orders=3)
        shutil.copy(self.make_world("other", orders=3, snapshots=1) / "blobs.db", self.folder / "world/effects.db")
        done = self.run_program("verify", "world", "--all")
        self.assertEqual(done.returncode, 1)
        self.assertIn("world/effects.db: belongs to another world", done.stderr.decode())
        # Of this world, with one blob that is not what its hash says.
        (self.folder / "world/effects.db").unlink()
        self.make_world(orders=3, snapshots=1)
        shutil.copy(self.folder / "world/blobs.db", self.folder / "world/effects.db")
        self.assertEqual(self.run_program("verify", "world", "--all").returncode, 0)
        with contextlib.closing(sqlite3.connect(self.folder / "world/effects.db", isolation_level=None)) as blobs:
            blobs.execute("INSERT INTO blobs(hash, bytes) VALUES (zeroblob(32), 'not these')")
        done = self.run_program("verify", "world", "--all")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), r"world/effects\.db, blob number \d+: is not what its hash says\n")

    def test_a_row_of_the_index_that_is_not_what_the_records_say_is_found(self):
        self.make_world(orders=6)
        self.assertEqual(self.run_program("reindex", "world").returncode, 0)
        with contextlib.closing(sqlite3.connect(self.folder / "world/history.db", isolation_level=None)) as index:
            index.execute("UPDATE instances SET steps = steps + 1 WHERE id = 3")
        self.assertEqual(self.run_program("verify", "world").returncode, 0, "it is not looked at")
        done = self.run_program("verify", "world", "--all")
        self.assertEqual((done.stderr.decode(), done.returncode),
                         ("holdfast: 1 error in world\n"
                          "  world/history.db, row 3 of instances: is not what the records say\n", 1))

    def test_a_trimmed_world_is_replayed_from_its_oldest_snapshot_and_nothing_is_changed(self):
        for how in ((), ("dies",)):
            self.make_world(orders=30, snapshots=4, how=how)
            before = self.contents()
            done = self.run_program("verify", "world", "--json", "--blobs")
            self.assertEqual((done.stderr, done.returncode), (b"", 0))
            self.assertEqual(self.contents(), before)
            found = json.loads(done.stdout)
            self.assertGreater(found["first"], 1)
            self.assertEqual((found["snapshots"], found["snapshots_replayed"]), (2, 1))
            self.assertEqual(found["replayed"], 70, "those between the two snapshots")
            self.assertEqual(found["replay_stopped"], None)

    def test_a_journal_that_lost_its_last_segment_is_found(self):
        self.make_world(orders=30)
        last = self.segments()[-1]
        last.unlink()
        number = int(last.stem)
        done = self.run_program("verify", "world")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), rf"{number - 1}\.log at \d+: segment {number} comes behind it and is not "
                         r"there\n\Z")

    def test_a_journal_that_is_older_than_a_snapshot_or_the_index_is_found(self):
        world = self.make_world(orders=6)
        shutil.copytree(world / "journal", self.folder / "older")
        self.make_world(orders=6, snapshots=1)
        self.assertEqual(self.run_program("reindex", "world").returncode, 0)
        last = json.loads(self.run_program("verify", "world", "--json").stdout)["last"]
        shutil.rmtree(world / "journal")
        shutil.copytree(self.folder / "older", world / "journal")
        done = self.run_program("verify", "world")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.decode(), "holdfast: 2 errors in world\n"
                         "  record 16: is not there, but the journal ends with record 15: the snapshot before record "
                         f"{last + 1} was taken when it was\n"
                         f"  history.db: has seen record {last}, but the journal ends with record 15\n")

    def test_a_snapshot_that_is_not_what_replay_comes_to_is_found(self):
        self.make_world(orders=6, snapshots=2)
        self.change_blobs("UPDATE snapshots SET hash = (SELECT hash FROM snapshots ORDER BY number LIMIT 1)")
        self.assert_finds("the snapshot before record 30: is not what replaying the records before it comes to")

    def test_no_world_and_a_world_in_use_are_refused(self):
        self.assert_refused_without_a_world("verify")
        self.assert_refused_while_held("verify", "world")


if __name__ == "__main__":
    main()
