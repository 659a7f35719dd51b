#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast fork: another world with the state behind a record, in which nothing happens by itself."""
import json

from order_worlds import OrderWorldTest
from program import main


class Fork(OrderWorldTest):
    def fork(self, *arguments, into="fork"):
        done = self.run_program("fork", "--world", "world", *arguments, into, "--any-file-system", "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        return json.loads(done.stdout)

    def ask(self, world, *arguments):
        done = self.run_program(*arguments, "--world", world, "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0), arguments)
        return json.loads(done.stdout)

    def test_the_fork_has_the_state_behind_the_record(self):
        for snapshots in (0, 1):
            name = f"of-{snapshots}"
            self.make_world("world", orders=6, snapshots=snapshots)
            before = self.contents()
            report = self.fork("--at", "4", into=name)
            # o-1 has been charged, its reservation and its deadline are open.
            self.assertEqual(report, {"record": 4, "paused": 1, "settled": 1, "timers": 1})
            self.assertEqual(self.contents(), before, "the old world is only looked at")
            was = self.ask("world", "state", "demo/Order@1/o-1", "--at", "4")
            self.assertEqual(self.ask(name, "state", "demo/Order@1/o-1")["state"], was["state"])
            self.assertEqual([row["key"] for row in self.ask(name, "ls")["instances"]], ["o-1"])

    def test_a_fork_of_a_trimmed_world_begins_with_its_nearest_snapshot(self):
        self.make_world(orders=12, snapshots=4)
        journal = self.ask("world", "journal", "--limit", "1")
        first = journal["records"][0]["record"]
        self.assertGreater(first, 20)
        last = self.ask("world", "ls", "--limit", "1")["instances"][0]["last_record"]
        for record in (last, last - 5):
            into = f"at-{record}"
            self.assertEqual(self.fork("--at", str(record), into=into)["record"], record)
            self.assertEqual(self.run_program("verify", into, "--all").returncode, 0)
            for key in ("o-1", "o-2"):
                self.assertEqual(self.ask(into, "show", f"demo/Order@1/{key}"), self.ask("world", "show", f"demo/Order@1/{key}"))
        done = self.run_program("fork", "--world", "world", "--at", "3", "early", "--any-file-system")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"record 3: the journal has records {first} to {last}\n", done.stderr.decode())

    def test_nothing_that_was_open_is_performed_in_the_fork(self):
        self.make_world(orders=6)
        report = self.fork()
        self.assertEqual(report, {"record": 15, "paused": 2, "settled": 2, "timers": 2})
        for key in ("o-3", "o-6"):
            why = self.ask("fork", "why", f"demo/Order@1/{key}")
            kinds = [(reason["kind"], reason.get("executor")) for reason in why["reasons"]]
            self.assertEqual(kinds, [("paused", None), ("receipt", "timer")], "the charge is not open any more")
            self.assertEqual(why["reasons"][0]["mail"], 1, "the error waits for whoever resumes it")
        settled = [record for record in self.ask("fork", "timeline", "demo/Order@1/o-3")["records"]
                   if record["tick"]["kind"] == "receipt"]
        self.assertEqual([(record["tick"]["status"], record["tick"]["payload"]["code"]) for record in settled],
                         [("error", "world.forked")])

    def test_the_fork_is_a_world_that_verifies_and_can_be_forked_again(self):
        self.make_world(orders=6)
        self.fork()
        found = json.loads(self.run_program("verify", "fork", "--json", "--all").stdout)
        self.assertEqual((found["errors"], found["replay_stopped"], found["first"]), ([], None, 15))
        done = self.run_program("fork", "--world", "fork", "again", "--any-file-system", "--json")
        self.assertEqual(json.loads(done.stdout), {"record": 19, "paused": 0, "settled": 0, "timers": 2})
        self.assertEqual(self.run_program("verify", "again", "--all").returncode, 0)

    def test_the_same_event_opens_another_intent_in_the_fork(self):
        self.make_world(orders=1)
        self.fork()
        self.make_world(orders=1)
        self.make_world("fork", orders=1)
        intents = []
        for world in ("world", "fork"):
            last = self.ask(world, "ls", "--limit", "1")["instances"][0]
            records = self.ask(world, "timeline", f"demo/Order@1/{last['key']}")["records"]
            intents.append([opened["intent"] for opened in records[-1]["instances"][0]["opened"]])
        self.assertEqual(len(intents[0]), len(intents[1]))
        self.assertFalse(set(intents[0]) & set(intents[1]))

    def test_what_cannot_be_forked_is_refused_and_leaves_nothing(self):
        self.make_world(orders=3)
        done = self.run_program("fork", "--world", "world", "--at", "99", "fork", "--any-file-system")
        self.assertEqual((done.stderr.decode(), done.returncode),
                         ("holdfast: record 99: the journal has records 1 to 8\n", 1))
        self.assertFalse((self.folder / "fork").exists())
        (self.folder / "fork.unfinished").mkdir()
        done = self.run_program("fork", "--world", "world", "fork", "--any-file-system")
        self.assertEqual((done.stderr.decode(), done.returncode), ("holdfast: fork.unfinished: is there already\n", 1))
        self.assertFalse((self.folder / "fork").exists())
        (self.folder / "fork.unfinished").rmdir()
        (self.folder / "fork").mkdir()
        done = self.run_program("fork", "--world", "world", "fork", "--any-file-system")
        self.assertEqual((done.stderr.decode(), done.returncode), ("holdfast: fork: is there already\n", 1))


if __name__ == "__main__":
    main()
