#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast salvage: what can be read becomes a new world, and what is lost is said."""
import contextlib
import json
import sqlite3

from letters import LetterTest
from order_worlds import RECORDS
from program import main


class Salvage(LetterTest):
    def salvage(self):
        before = self.contents()
        done = self.run_program("salvage", "world", "new", "--json")
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        self.assertEqual(self.contents(), before, "the old world stays as it is")
        report = json.loads(done.stdout)
        self.assertEqual(json.loads((self.folder / "new" / "SALVAGED").read_text()), report)
        return report

    def assert_good(self, last):
        done = self.run_program("verify", "new", "--json")
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        found = json.loads(done.stdout)
        self.assertEqual((found["first"], found["last"], found["replayed"]), (1, last, last))
        self.assertEqual(found["notes"], ["the world was salvaged; see SALVAGED"])

    def batch_of(self, record):
        return self.batch_or_none(record) or self.fail(f"no batch begins with record {record}")

    def batch_or_none(self, record):
        """The segment, the offset and the length of the batch that begins with the record."""
        for segment in self.segments():
            data = segment.read_bytes()
            for offset in range(4096, len(data), 4096):
                if data[offset:offset + 4] == b"HFB1" and int.from_bytes(data[offset + 20:offset + 24], "little") > 0 \
                        and int.from_bytes(data[offset + 40:offset + 48], "little") == record:
                    return segment, offset, int.from_bytes(data[offset + 8:offset + 12], "little")
        return None

    def test_a_good_world_is_taken_over_whole(self):
        self.make_world()
        report = self.salvage()
        self.assertEqual(report, {"complete": True, "first": 1, "last": RECORDS, "aside": [], "snapshots": [],
                                  "effect_blobs": 0, "lost_records": [], "lost_bytes": []})
        self.assert_good(RECORDS)
        ours = self.run_program("journal", "world", "--json").stdout
        self.assertEqual(self.run_program("journal", "new", "--json").stdout, ours)
        worlds = [(self.folder / name / "WORLD").read_bytes() for name in ("world", "new")]
        self.assertNotEqual(worlds[0], worlds[1], "it is another world")

    def test_records_behind_a_damaged_batch_are_kept_aside(self):
        self.make_world()
        segment, offset, length = self.batch_of(10)
        self.flip(segment, offset + 150)
        report = self.salvage()
        self.assertEqual((report["first"], report["last"]), (1, 9))
        self.assertEqual(report["lost_records"], [{"first": 10, "last": 12}])
        self.assertEqual(report["lost_bytes"], [
            {"file": f"world/journal/{segment.name}", "begin": offset, "end": offset + length,
             "why": "the checksum of the batch is wrong"}])
        self.assertEqual(report["aside"], [{"first": 13, "last": RECORDS, "file": "records-from-13.cborseq"}])
        aside = (self.folder / "new" / "records-from-13.cborseq").read_bytes()
        self.assertEqual(aside.count(bytes.fromhex("d9d9f78801")), RECORDS - 12, "each begins as a record does")
        self.assert_good(9)
        self.assertEqual(self.run_program("reindex", "new").returncode, 0)

    def test_a_lost_segment_is_named_with_its_records(self):
        self.make_world()
        lost = self.segments()[1]
        first = int.from_bytes(lost.read_bytes()[64:72], "little")
        after = int.from_bytes(self.segments()[2].read_bytes()[64:72], "little")
        lost.unlink()
        report = self.salvage()
        self.assertEqual(report["last"], first - 1)
        self.assertEqual(report["lost_records"], [{"first": first, "last": after - 1}])
        self.assertEqual(report["lost_bytes"], [{"file": f"world/journal/{lost.name}", "begin": 0, "end": 0,
                                                 "why": "the segment is not there"}])
        self.assert_good(first - 1)

    def test_a_damaged_segment_header_loses_the_segment(self):
        self.make_world()
        lost = self.segments()[1]
        self.flip(lost, 70)
        report = self.salvage()
        self.assertEqual(report["lost_bytes"], [
            {"file": f"world/journal/{lost.name}", "begin": 0, "end": lost.stat().st_size,
             "why": "the header of the segment is damaged"}])
        self.assertEqual(len(report["lost_records"]), 1)

    def test_a_torn_end_loses_what_was_not_acknowledged(self):
        self.make_world(how=("dies",))
        last = self.segments()[-1]
        data = last.read_bytes()
        last.write_bytes(data[:-4096] + b"x" * 4096)
        report = self.salvage()
        self.assertEqual((report["last"], report["lost_records"]), (RECORDS, []))
        self.assertEqual(report["lost_bytes"][0]["end"], len(data))

    def test_where_nothing_could_be_saved_it_is_refused(self):
        self.make_world()
        for segment in self.segments():
            segment.write_bytes(b"x" * segment.stat().st_size)
        done = self.run_program("salvage", "world", "new")
        self.assertEqual(done.returncode, 1)
        self.assertIn("salvaged  nothing\n", done.stdout.decode())
        self.assertEqual(done.stderr.decode(), "holdfast: world: there is nothing in it that could be saved: the new world is empty\n")

    def test_without_the_world_file_the_journal_is_taken_over(self):
        world = self.make_world()
        (world / "WORLD").unlink()
        report = self.salvage()
        self.assertEqual(report["last"], RECORDS)
        self.assertEqual(report["lost_bytes"][0]["file"], "world/WORLD")

    def test_what_is_lost_is_printed(self):
        self.make_world()
        segment, offset, length = self.batch_of(10)
        self.flip(segment, offset + 150)
        self.assert_prints("salvaged  records 1 to 9\n"
                           f"aside     records 13 to {RECORDS} in records-from-13.cborseq\n"
                           "lost      records 10 to 12\n"
                           f"lost      world/journal/{segment.name} from {offset} to {offset + length}: the checksum of "
                           "the batch is wrong\n", "salvage", "world", "new")

    def test_snapshots_are_taken_along_and_make_up_for_what_is_lost_before_them(self):
        self.make_world(orders=30, snapshots=4)
        verified = json.loads(self.run_program("verify", "world", "--json").stdout)
        lost = verified["first"] + 20
        newest, oldest = verified["last"] + 1, verified["last"] + 1 - 70
        self.assertLess(oldest, lost)
        segment, offset, _ = next(found for found in map(self.batch_or_none, range(lost, lost + 5)) if found)
        self.flip(segment, offset + 150)
        report = self.salvage()
        self.assertEqual(report["snapshots"], [
            {"next_record": newest, "left_out": None},
            {"next_record": oldest, "left_out": "records behind it are lost, and a newer one is whole"}])
        self.assertEqual(report["last"], verified["last"])
        done = self.run_program("verify", "new", "--json", "--blobs")
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        self.assertEqual(json.loads(done.stdout)["snapshots"], 1)
        self.make_world("new", orders=3, snapshots=1)  # it opens, and goes on
        self.assertEqual(self.run_program("verify", "new").returncode, 0)

    def test_a_new_world_that_cannot_be_opened_is_said_to_be_so(self):
        # The first records were trimmed, and the snapshots that stand for them are gone.
        self.make_world(orders=30, snapshots=4)
        (self.folder / "world/blobs.db").unlink()
        done = self.run_program("salvage", "world", "new")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), r"\Aholdfast: new: the new world cannot be opened: record \d+: the journal "
                                               r"begins here, and no snapshot can be used\n\Z")

    def test_the_blobs_that_workflows_put_are_taken_along(self):
        with self.letter_world():
            pass
        done = self.run_golden("salvage", "world", "new")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        self.assertIn("salvaged  2 blobs that workflows put\nlost      nothing\n", done.stdout.decode())
        self.assert_letter_is_there("new")

    def test_a_damaged_blob_of_a_workflow_is_lost_and_the_others_are_not(self):
        with self.letter_world():
            pass
        with contextlib.closing(sqlite3.connect(self.folder / "world/effects.db", isolation_level=None)) as blobs:
            blobs.execute("UPDATE blobs SET bytes = 'x' WHERE id = 2")
        done = self.run_golden("salvage", "world", "new")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        self.assertIn("lost      world/effects.db, blob number 2: is not what its hash says\n", done.stdout.decode())
        self.assertIn("salvaged  1 blobs that workflows put\n", done.stdout.decode())
        self.assertNotIn("lost      nothing", done.stdout.decode())

    def test_a_folder_that_is_there_is_refused(self):
        self.make_world()
        self.make_world("new")
        before = self.contents("new")
        self.assert_refuses("holdfast: new: is there already\n", "salvage", "world", "new")
        self.assertEqual(self.contents("new"), before)

    def test_no_world_and_a_world_in_use_are_refused(self):
        done = self.run_program("salvage", "nowhere", "new")
        self.assertEqual((done.stdout, done.returncode), (b"", 1))
        self.assertFalse((self.folder / "nowhere").exists())
        self.assert_refused_while_held("salvage", "world", "new")
        self.assertFalse((self.folder / "new").exists())


if __name__ == "__main__":
    main()
