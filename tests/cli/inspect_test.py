#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands that look at a world in its folder. Of three orders the first is shipped, the second refused, the third waits."""
import json
import subprocess

from order_worlds import OrderWorldTest
from program import PATIENCE, PROGRAM, main

WAITS = PROGRAM.parent / "tests" / "waits"


class Inspect(OrderWorldTest):
    def ask(self, *arguments):
        done = self.run_program(*arguments, "--world", "world", "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0), arguments)
        return json.loads(done.stdout)

    def refused(self, *arguments):
        done = self.run_program(*arguments, "--world", "world")
        self.assertEqual((done.stdout, done.returncode), (b"", 1), arguments)
        return done.stderr.decode()

    def test_instances_are_listed_and_filtered(self):
        self.make_world(orders=6)
        before = self.contents()
        listed = self.ask("ls")
        self.assertEqual([row["key"] for row in listed["instances"]], ["o-6", "o-5", "o-4", "o-3", "o-2", "o-1"])
        self.assertIsNone(listed["next"])
        self.assertEqual({row["key"]: row["status"] for row in listed["instances"]},
                         {"o-1": "completed", "o-2": "failed", "o-3": "waiting", "o-4": "completed", "o-5": "failed", "o-6": "waiting"})
        self.assertEqual([row["key"] for row in self.ask("ls", "--status", "waiting")["instances"]], ["o-6", "o-3"])
        self.assertEqual(self.refused("ls", "--workflow", "demo/Other@1"), "holdfast: demo/Other@1: there is no such workflow\n")
        self.assertEqual(self.ask("ls", "--since", "60")["instances"], [], "they are of 1970")
        self.assertEqual(self.ask("ls", "--since", "15m")["instances"], [])
        self.assertEqual(self.run_program("ls", "--world", "world", "--since", "99999999999999").returncode, 2)
        cut = self.ask("ls", "--limit", "2")
        self.assertEqual(([row["key"] for row in cut["instances"]], cut["next"]), (["o-6", "o-5"], 5))
        self.assertEqual(self.ask("cells", "demo/Order@1"), listed)
        table = self.run_program("ls", "--world", "world", "--limit", "2").stdout.decode().splitlines()
        self.assertRegex(table[0], r"\AINSTANCE +STATUS +RECORD +TIME\Z")
        self.assertRegex(table[1], r"\Ademo/Order@1/o-6 +waiting +\d+ +1970-01-01T00:00:\d\d\.000Z\Z")
        self.assertEqual(table[3], "There are more: --after 5")
        self.assertEqual(self.contents(), before, "nothing is written")

    def test_an_instance_is_found_by_a_prefix_that_only_it_has(self):
        self.make_world(orders=12)
        self.assertEqual(self.ask("show", "demo/Order@1/o-2")["key"], "o-2")
        self.assertEqual(self.ask("show", "demo/Order@1/o-11")["status"], "failed")
        self.assertEqual(self.ask("show", "demo/Order@1/o-1")["key"], "o-1", "the whole name goes before")
        self.assertRegex(self.refused("show", "demo/Order@1/o-"), r"\Aholdfast: demo/Order@1/o-: several instances begin so: "
                         r"(demo/Order@1/o-\d+, ){4}demo/Order@1/o-\d+ and others\n\Z")
        self.assertEqual(self.refused("show", "demo/Order@1/x"),
                         "holdfast: demo/Order@1/x: there is no such instance, and none whose name begins so\n")

    def test_which_instance_a_prefix_was_taken_for_is_said(self):
        self.make_world(orders=1)
        done = self.run_program("show", "demo/Or", "--world", "world", "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("holdfast: demo/Or is taken for demo/Order@1/o-1\n", 0))
        self.assertEqual(json.loads(done.stdout)["key"], "o-1")

    def test_a_folder_that_is_no_world_is_left_as_it_is(self):
        (self.folder / "project/journal").mkdir(parents=True)
        done = self.run_program("ls", "--world", "project")
        self.assertEqual((done.stderr.decode(), done.returncode), ("holdfast: project: there is no world\n", 1))
        self.assertEqual([path.name for path in (self.folder / "project").rglob("*")], ["journal"])

    def test_an_instance_is_shown(self):
        self.make_world(orders=3)
        shown = self.ask("show", "demo/Order@1/o-1")
        self.assertEqual(shown["result"], {"payment": "p-7", "tracking": "t-3"})
        self.assertEqual(self.ask("show", "demo/Order@1/o-2")["error"]["code"], "not_charged")
        text = self.run_program("show", "--world", "world", "demo/Order@1/o-3").stdout.decode()
        self.assertIn("status    waiting\n", text)

    def test_the_state_is_that_of_any_record(self):
        for snapshots in (0, 1):
            self.make_world("world", orders=3, snapshots=snapshots)
            records = self.ask("timeline", "demo/Order@1/o-1")["records"]
            self.assertEqual([record["record"] for record in records], [5, 4, 3, 2])
            for record in records:
                at = self.ask("state", "demo/Order@1/o-1", "--at", str(record["record"]))
                told = record["instances"][0]
                self.assertEqual((at["at"], at["record"], at["status"]),
                                 (record["record"], record["record"], told["status"]))
                if told["state"] is not None:
                    self.assertEqual(at["state"], told["state"])
            later = self.ask("state", "demo/Order@1/o-1", "--at", "8")
            self.assertEqual((later["at"], later["record"]), (8, 5), "the last that touched it")
            self.assertEqual(self.ask("state", "demo/Order@1/o-1")["state"], later["state"])
            self.assertEqual(self.refused("state", "demo/Order@1/o-3", "--at", "7"),
                             "holdfast: record 7: there is no demo/Order@1/o-3\n")
            self.assertIn("record 9999: the journal has records 1 to ",
                          self.refused("state", "demo/Order@1/o-1", "--at", "9999"))
            subprocess.run(["rm", "-r", self.folder / "world"], check=True)

    def test_a_record_that_was_trimmed_cannot_be_gone_back_to(self):
        self.make_world(orders=30, snapshots=4)
        first = json.loads(self.run_program("journal", "world", "--limit", "1", "--json").stdout)["records"][0]["record"]
        self.assertGreater(first, 2)
        self.assertIn(f"record 2: the journal has records {first} to ", self.refused("state", "demo/Order@1/o-1", "--at", "2"))

    def test_the_timeline_says_what_happened_in_order(self):
        self.make_world(orders=3)
        lines = self.run_program("timeline", "--world", "world", "demo/Order@1/o-1").stdout.decode().splitlines()
        self.assertRegex(lines[1], r"\A2 +1970-\S+ +event demo/OrderPlaced@1 +demo/Order@1/o-1 +waiting +opened ")
        self.assertRegex(lines[4], r"\A5 +1970-\S+ +receipt ok demo/ship@1 \([0-9a-f]{12}\) +demo/Order@1/o-1 +completed +")
        part = self.ask("timeline", "demo/Order@1/o-1", "--limit", "1")
        self.assertEqual((part["records"][0]["record"], part["next"]), (5, 4))
        self.assertEqual(self.ask("timeline", "demo/Order@1/o-1", "--from", "4", "--limit", "1")["records"][0]["record"], 4)

    def test_an_event_is_traced_through_its_effects(self):
        self.make_world(orders=3)
        for what in ("2", "demo/Order@1/o-1"):
            traced = self.ask("trace", what)
            self.assertEqual([record["record"] for record in traced["records"]], [2, 3, 4, 5])
            self.assertEqual((traced["open"], traced["complete"]), ([], True))
        waiting = self.ask("trace", "demo/Order@1/o-3")
        self.assertEqual(len(waiting["records"]), 1)
        self.assertEqual(len(waiting["open"]), 2, "the charge and the deadline")
        self.assertIn("no event of the journal has this id", self.refused("trace", "web-1"))
        self.assertIn("Nothing of it is under way any more.\n",
                      self.run_program("trace", "--world", "world", "2").stdout.decode())

    def test_a_diagnosis_says_where_it_stands(self):
        self.make_world(orders=3)
        verdicts = {key: self.ask("diagnose", f"demo/Order@1/{key}")["verdict"] for key in ("o-1", "o-2", "o-3")}
        self.assertEqual(verdicts, {"o-1": "completed", "o-2": "executor error", "o-3": "waiting for a receipt"})
        self.assertRegex(self.run_program("diagnose", "--world", "world", "demo/Order@1/o-3").stdout.decode(),
                         r"\Awaiting for a receipt: It waits for the receipt of demo/charge@1 \(worker\), opened by record 8 at ")

    def test_why_says_what_all_that_have_not_ended_wait_for(self):
        self.make_world(orders=6)
        why = self.ask("why", "demo/Order@1/o-3")
        self.assertEqual({reason["executor"] for reason in why["reasons"]}, {"worker", "timer"})
        self.assertEqual(self.ask("why", "demo/Order@1/o-1"), {"sentence": "It has ended: completed.", "reasons": []})
        self.assertEqual([each["instance"] for each in self.ask("why", "--all")["instances"]],
                         ["demo/Order@1/o-6", "demo/Order@1/o-3"])

    def test_the_definitions_of_the_world_are_listed(self):
        self.make_world(orders=1)
        names = [definition.get("name") for definition in self.ask("manifest")["definitions"]]
        self.assertIn("demo/Order@1", names)
        self.assertRegex(self.run_program("manifest", "--world", "world").stdout.decode(), r"demo/Order@1 +defworkflow\n")

    def test_code_that_is_not_here_is_said(self):
        self.make_world(how=("strange",))
        self.assertEqual(self.refused("ls"), "holdfast: this program has no code for strange/code@1 (strange/Wait@1)\n")

    def test_somebody_must_say_where(self):
        self.assert_misused("say --world DIR or --server URL, or set HOLDFAST_WORLD or HOLDFAST_SERVER", "ls")
        self.assertEqual(self.run_program("ls", "--world", "a", "--server", "http://127.0.0.1:1").returncode, 2)
        done = self.run_program("ls", "--world", "nowhere")
        self.assertEqual((done.stderr.decode(), done.returncode), ("holdfast: nowhere: there is no world\n", 1))
        with self.held_world() as pid:
            done = self.run_program("ls", "--world", "world")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"is held by process {pid}", done.stderr.decode())

    def test_a_damaged_record_is_named_and_not_passed_over(self):
        self.make_world(orders=9)
        self.flip(self.segments()[0], 4200)
        done = self.run_program("ls", "--world", "world")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), r"\Aholdfast: world/journal/000000000001\.log at \d+: ")

    def test_why_is_true_for_every_kind_of_wait(self):
        made = subprocess.run([WAITS, "make", "waits"], cwd=self.folder, check=True, capture_output=True, timeout=PATIENCE)
        expected = json.loads(made.stdout)
        # The program that makes it does not compile when there is a kind that it does not name.
        self.assertEqual({wait["kind"] for wait in expected}, {"receipt", "turn", "paused", "event", "room", "nothing"})
        self.assertEqual({wait["executor"] for wait in expected if wait["kind"] == "receipt"},
                         {"worker", "echo", "http", "process", "blob.put", "blob.get", "outside", "timer"})
        for wait in expected:
            done = subprocess.run([WAITS, "why", "--world", "waits", "--json", wait["instance"]],
                                  cwd=self.folder, check=True, capture_output=True, timeout=PATIENCE)
            why = json.loads(done.stdout)
            reason = why["reasons"][0]
            self.assertEqual(reason["kind"], wait["kind"], wait)
            if wait["kind"] == "receipt":
                self.assertEqual(reason["executor"], wait["executor"])
                self.assertIn("since_ns", reason)
                self.assertEqual("due_ns" in reason, wait["executor"] == "timer")
            if wait["executor"] == "timer":
                self.assertEqual(reason["due_ns"] - reason["since_ns"], 3600 * 10**9)
                self.assertRegex(why["sentence"], r"\AIt waits for a timer that is due at 2027-01-15T09:00:\d\d\.000Z\.\Z")
            if wait["kind"] == "turn":
                self.assertEqual(reason["mail"], 1)
            if wait["kind"] == "event":
                self.assertEqual(reason["schemas"], ["waits/Begin@1"])


if __name__ == "__main__":
    main()
