#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast journal: the records of a world, as lines and as JSON."""
import json
import socket

from order_worlds import RECORDS, OrderWorldTest
from program import main


class Journal(OrderWorldTest):
    def records(self, *options):
        done = self.run_program("journal", "world", "--json", *options)
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        return json.loads(done.stdout)

    def test_records_are_printed_one_a_line(self):
        self.make_world()
        done = self.run_program("journal", "world")
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        lines = done.stdout.decode().splitlines()
        self.assertEqual(len(lines), RECORDS)
        self.assertEqual(lines[0], "1  1970-01-01T00:00:01.000Z  apply")
        self.assertEqual(lines[1], '2  1970-01-01T00:00:02.000Z  event demo/OrderPlaced@1  demo/Order@1/o-1 waiting')
        self.assertEqual(lines[4], '5  1970-01-01T00:00:05.000Z  receipt ok  demo/Order@1/o-1 completed')
        self.assertEqual(lines[6], '7  1970-01-01T00:00:07.000Z  receipt error: no: no luck  demo/Order@1/o-2 failed')

    def test_a_part_says_where_to_go_on(self):
        self.make_world()
        self.assert_prints('3  1970-01-01T00:00:03.000Z  receipt ok  demo/Order@1/o-1 waiting\n'
                           "There are more: holdfast journal world --from 4\n",
                           "journal", "world", "--from", "3", "--limit", "1")
        self.assertEqual(self.records("--from", "3", "--limit", "1")["next"], 4)
        self.assertEqual(self.records("--from", str(RECORDS))["next"], None)

    def test_pages_are_the_whole(self):
        self.make_world()
        whole = self.records()
        self.assertEqual([record["record"] for record in whole["records"]], list(range(1, RECORDS + 1)))
        pages, at = [], 1
        while at is not None:
            page = self.records("--from", str(at), "--limit", "5")
            pages += page["records"]
            at = page["next"]
        self.assertEqual(pages, whole["records"])

    def test_a_server_that_does_not_answer_leaves_no_half_of_a_document(self):
        with socket.socket() as taken:  # and nothing listens
            taken.bind(("127.0.0.1", 0))
            done = self.run_program("journal", "--json", "--server", "http://127.0.0.1:%d" % taken.getsockname()[1])
        self.assertEqual((done.stdout, done.returncode), (b"", 75), done.stderr)

    def test_json_has_everything(self):
        self.make_world()
        records = self.records()["records"]
        self.assertEqual(records[1]["tick"], {
            "kind": "event", "schema": "demo/OrderPlaced@1", "id": "", "workflow": "", "key": None, "starts": False,
            "value": {"id": "o-1", "sku": "mug", "count": 2, "cents": 1990}})
        instance = records[1]["instances"][0]
        self.assertEqual((instance["key"], instance["previous"], instance["steps"]), ("o-1", 0, 1))
        self.assertEqual(instance["state"]["stage"], {"$tag": "charge"})
        self.assertEqual({each["effect"] for each in instance["opened"]}, {"demo/charge@1", "sys/timer.set@1"})
        charge = next(each for each in instance["opened"] if each["effect"] == "demo/charge@1")
        self.assertEqual(charge["params"], {"order": "o-1", "cents": 1990})
        self.assertEqual(records[2]["tick"]["intent"], charge["intent"])
        self.assertEqual(records[2]["tick"]["payload"], {"payment": "p-7"})
        self.assertEqual(records[2]["instances"][0]["previous"], 2)
        self.assertIn({"intent": charge["intent"], "status": "ok"}, records[2]["instances"][0]["settled"])
        self.assertEqual(records[4]["instances"][0]["outcome"], {"payment": "p-7", "tracking": "t-3"})
        self.assertEqual(records[0]["notes"][0][0], "manifest.applied")

    def test_nothing_is_changed(self):
        for how in ((), ("dies",)):
            world = self.make_world(how=how)
            before = self.contents()
            self.assertEqual(self.run_program("journal", "world").returncode, 0)
            self.assertEqual(self.contents(), before)
            for path in world.rglob("*"):
                if path.is_file():
                    path.unlink()

    def test_wrong_places_are_refused(self):
        self.make_world()
        self.assert_prints("", "journal", "world", "--from", str(RECORDS + 1))
        self.assert_refuses(f"holdfast: the last record is {RECORDS}\n", "journal", "world", "--from", str(RECORDS + 2))
        self.assert_misused("--from 40 is behind --to 30", "journal", "world", "--from", "40", "--to", "30")
        self.assert_misused("--from: Value 0 not in range 1 to 1000000000000000000", "journal", "world", "--from", "0")
        self.assert_refused_without_a_world("journal")

    def test_damage_is_named(self):
        self.make_world()
        self.flip(self.segments()[0], 4096 + 200)
        done = self.run_program("journal", "world")
        self.assertEqual((done.stdout, done.returncode), (b"", 1))
        self.assertEqual(done.stderr.decode(), "holdfast: world/journal/000000000001.log at 4096: record 1 cannot be "
                         "read: the checksum of the batch is wrong\n")

    def test_a_world_that_is_in_use_is_refused(self):
        self.assert_refused_while_held("journal", "world")


if __name__ == "__main__":
    main()
