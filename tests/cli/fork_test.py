#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast fork: another world with the state behind a record, in which nothing happens by itself."""
import json

from program import main, wait_until
from letters import GOLDEN, LetterTest


class Fork(LetterTest):
    def listed_by_a_server(self, world):
        """What the index has: key, status, error, and the record of the last touch."""
        with self.server(world=world, applies=False) as url:
            # Their timers have been due for long, and ring now.
            wait_until(lambda: "timer" not in json.dumps(self.ask_at(("--server", url), "why", "--all")))
            for _ in range(100):  # the index may lag a little
                listed = self.ask_at(("--server", url), "ls", "--limit", "1000")
                if listed["lag"] == 0:
                    break
        return {row["key"]: (row["status"], row.get("error", {}).get("code"), row["last_record"]) for row in listed["instances"]}

    def test_a_server_of_the_fork_lists_what_ended_before_it(self):
        self.make_world(orders=6, how=("recent",))
        self.fork()
        listed = self.listed_by_a_server("fork")
        there = {row["key"]: row for row in self.ask("fork", "ls")["instances"]}
        self.assertEqual(len(there), 6)
        self.assertEqual({key: status for key, (status, *_) in listed.items()}, {key: row["status"] for key, row in there.items()})
        self.assertEqual({key: record for key, (_, _, record) in listed.items()}, {key: row["last_record"] for key, row in there.items()})
        self.assertEqual(listed["o-2"][1], "not_charged", "what it failed with is known, too")
        # The index is what the snapshot and the records say, and is made so again.
        done = self.run_program("verify", "fork", "--all")
        self.assertRegex(done.stdout.decode(), r"index     \d+ rows as the records say\n")
        (self.folder / "fork/history.db").unlink()
        self.assertEqual(self.run_program("reindex", "fork").returncode, 0)
        self.assertRegex(self.run_program("verify", "fork", "--all").stdout.decode(), r"index     \d+ rows as the records say\n")
        self.assertEqual(self.listed_by_a_server("fork"), listed)

    def test_an_index_of_a_trimmed_world_is_made_again_with_what_its_oldest_snapshot_knows(self):
        self.make_world(orders=30, snapshots=4)
        there = {row["key"]: row["status"] for row in self.ask("world", "ls", "--limit", "1000")["instances"]}
        self.assertEqual(len(there), 120)
        self.assertGreater(self.ask("world", "journal", "--limit", "1")["records"][0]["record"], 100)
        self.assertEqual(self.run_program("reindex", "world").returncode, 0)
        found = json.loads(self.run_program("verify", "world", "--json", "--all").stdout)
        self.assertEqual(found["errors"], [])
        self.assertGreater(found["index_rows"], 120)

    def fork(self, *arguments, into="fork"):
        done = self.run_program("fork", "--world", "world", *arguments, into, "--any-file-system", "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        return json.loads(done.stdout)

    def ask(self, world, *arguments):
        done = self.run_program(*arguments, "--world", world, "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0), arguments)
        return json.loads(done.stdout)

    def test_the_blobs_that_workflows_put_are_taken_along(self):
        with self.letter_world() as url:
            effect = self.get(url, "/v1/effects?effect=golden/sign@1")["effects"][0]
            self.post(url, "/v1/receipts", {"intent": effect["intent"], "payload": {"name": "Ada"}})
        done = self.run_golden("fork", "--world", "world", "fork", "--any-file-system")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        done = self.run_golden("verify", "fork", "--all")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        with self.serving("--retention", "0", world="fork", program=GOLDEN) as (url, _):
            self.post(url, "/v1/instances/golden/Letter@1/one/resume", {})
        self.assert_letter_is_there("fork")

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
