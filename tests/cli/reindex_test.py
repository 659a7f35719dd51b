#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast reindex: the index of instances is made again."""
import contextlib
import json
import sqlite3

from order_worlds import ORDERS, RECORDS, OrderWorldTest
from program import main


class Reindex(OrderWorldTest):
    def rows(self):
        index = sqlite3.connect(self.folder / "world" / "history.db")
        with contextlib.closing(index):
            self.assertEqual(index.execute("SELECT version, begins, record FROM cursor").fetchall(), [(4, 1, RECORDS)])
            return index.execute("SELECT w.name, key_text, status, first_record, last_record, steps, error_code FROM "
                                 "instances i JOIN workflows w ON w.id = i.workflow ORDER BY i.id").fetchall()

    def test_there_is_one_row_for_each_instance(self):
        self.make_world()
        self.assert_prints(f"Indexed records 1 to {RECORDS}.\n", "reindex", "world")
        rows = self.rows()
        self.assertEqual(len(rows), ORDERS)
        self.assertEqual(rows[0], ("demo/Order@1", '"o-1"', "completed", 2, 5, 4, ""))
        self.assertEqual(rows[1], ("demo/Order@1", '"o-2"', "failed", 6, 7, 2, "not_charged"))
        self.assertEqual(rows[2], ("demo/Order@1", '"o-3"', "waiting", 8, 8, 1, ""))

    def test_again_gives_the_same_and_leaves_nothing_behind(self):
        self.make_world(how=("dies",))
        self.assertEqual(self.run_program("reindex", "world").returncode, 0)
        rows = self.rows()
        done = self.run_program("reindex", "world", "--json")
        self.assertEqual(json.loads(done.stdout), {"first": 1, "last": RECORDS})
        self.assertEqual(self.rows(), rows)
        names = {path.name for path in (self.folder / "world").iterdir()}
        self.assertEqual({name for name in names if not name.startswith("blobs.db")},
                         {"LOCK", "WORLD", "history.db", "journal"})

    def test_a_damaged_index_is_replaced(self):
        world = self.make_world()
        (world / "history.db").write_bytes(b"nothing of the kind")
        (world / "history.db-wal").write_bytes(b"nor this")
        (world / "history.db.new").write_bytes(b"what an attempt left")
        self.assert_prints(f"Indexed records 1 to {RECORDS}.\n", "reindex", "world")
        self.assertEqual(len(self.rows()), ORDERS)

    def test_a_damaged_journal_is_refused_and_the_old_index_stays(self):
        world = self.make_world()
        self.assertEqual(self.run_program("reindex", "world").returncode, 0)
        before = (world / "history.db").read_bytes()
        self.flip(self.segments()[0], 4096 + 200)
        self.assert_refuses("holdfast: world/journal/000000000001.log at 4096: record 1 cannot be read: the checksum of "
                            "the batch is wrong\n", "reindex", "world")
        self.assertEqual((world / "history.db").read_bytes(), before)

    def test_no_world_and_a_world_in_use_are_refused(self):
        self.assert_refused_without_a_world("reindex")
        self.assert_refused_while_held("reindex", "world")


if __name__ == "__main__":
    main()
