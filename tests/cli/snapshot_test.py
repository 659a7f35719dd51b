#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast snapshot ls, snapshot rm and gc: on worlds that are whole, damaged, in use and not there."""
import contextlib
import json
import sqlite3

from order_worlds import OrderWorldTest
from program import main


class Snapshots(OrderWorldTest):
    def ask(self, sql, *values):
        """What the blobs' database answers; it is not kept open, for our program wants it alone."""
        with contextlib.closing(sqlite3.connect(self.folder / "world" / "blobs.db", isolation_level=None)) as database:
            return database.execute(sql, values).fetchone()

    def answer(self, *arguments):
        done = self.run_program(*arguments, "--json", "world")
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        return json.loads(done.stdout)

    def test_snapshots_are_listed_from_the_newest(self):
        self.make_world(orders=10, snapshots=3)
        listed = self.answer("snapshot", "ls")["snapshots"]
        self.assertEqual([list(each) for each in listed],
                         [["next_record", "time", "hash", "lineage", "problem"]] * 2)
        self.assertEqual([each["next_record"] for each in listed], [72, 50])
        self.assertEqual({each["time"] for each in listed}, {"2023-11-14T22:13:20Z"})
        self.assertEqual([each["problem"] for each in listed], ["", ""])
        self.assert_prints(
            "NEXT RECORD  TIME                  HASH\n"
            f"72           2023-11-14T22:13:20Z  {listed[0]['hash']}\n"
            f"50           2023-11-14T22:13:20Z  {listed[1]['hash']}\n", "snapshot", "ls", "world")

    def test_a_world_without_snapshots_has_none_and_nothing_to_remove(self):
        self.make_world(orders=0, snapshots=0)
        self.assertEqual(self.answer("snapshot", "ls"), {"snapshots": []})
        self.assert_prints("NEXT RECORD  TIME  HASH\n", "snapshot", "ls", "world")
        nothing = {"marked": 0, "removed": 0, "removed_bytes": 0}
        self.assertEqual(self.answer("gc"), {**nothing, "effects": nothing})

    def test_what_no_snapshot_needs_is_removed_once(self):
        self.make_world(orders=100, snapshots=5)
        before = self.ask("SELECT count(*), sum(length(bytes)) FROM blobs")
        first = self.answer("gc")
        after = self.ask("SELECT count(*), sum(length(bytes)) FROM blobs")
        self.assertGreater(first["removed"], 10)
        self.assertEqual(after, (before[0] - first["removed"], before[1] - first["removed_bytes"]))
        self.assertEqual(first["marked"], after[0])
        self.assert_prints("FILE        MARKED  REMOVED  BYTES\n"
                           f"blobs.db    {after[0]:<6}  0        0\n"
                           "effects.db  0       0        0\n", "gc", "world")
        self.make_world(orders=10, snapshots=1)  # it opens, and goes on
        self.assertEqual(self.answer("snapshot", "ls")["snapshots"][0]["next_record"], 1195)

    def test_a_snapshot_that_lost_its_bytes_is_shown_and_nothing_is_removed(self):
        self.make_world(orders=50, snapshots=3)
        lost = self.answer("snapshot", "ls")["snapshots"][1]["hash"]
        self.ask("DELETE FROM blobs WHERE hash = ?", bytes.fromhex(lost[7:]))
        count = self.ask("SELECT count(*) FROM blobs")
        done = self.run_program("snapshot", "ls", "world")
        self.assertEqual((done.stderr.decode(), done.returncode),
                         (f"holdfast: {lost}: there is no such blob\n", 1))
        done = self.run_program("snapshot", "ls", "world", "--json")
        self.assertEqual(json.loads(done.stdout)["snapshots"][1]["problem"], "there is no such blob")
        self.assertEqual(done.returncode, 1)
        self.assert_refuses(f"holdfast: {lost}: a snapshot needs this blob, and it is not there\n", "gc", "world")
        self.assertEqual(self.ask("SELECT count(*) FROM blobs"), count)

    def test_one_that_is_removed_is_not_listed_any_more_and_the_world_opens_without_it(self):
        self.make_world(orders=10, snapshots=3)
        self.assert_refuses("holdfast: world: there is no snapshot before record 71\n", "snapshot", "rm", "world", "71")
        self.assert_prints("", "snapshot", "rm", "world", "72")
        self.assertEqual([each["next_record"] for each in self.answer("snapshot", "ls")["snapshots"]], [50])
        self.make_world(orders=1, snapshots=1)
        self.assertEqual([each["next_record"] for each in self.answer("snapshot", "ls")["snapshots"]], [76, 50])

    def test_a_world_that_somebody_has_is_refused_with_their_name(self):
        for command in (["gc", "world"], ["snapshot", "ls", "world"], ["snapshot", "rm", "world", "7"]):
            self.assert_refused_while_held(*command)

    def test_where_there_is_no_world_none_is_made(self):
        (self.folder / "empty").mkdir()
        before = sorted(self.folder.rglob("*"))
        for command in (["gc"], ["snapshot", "ls"]):
            for path in ("none", "empty"):
                self.assert_refuses(f"holdfast: {path}: there is no world\n", *command, path)
        self.assertEqual(sorted(self.folder.rglob("*")), before)


if __name__ == "__main__":
    main()
