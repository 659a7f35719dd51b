#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looking back: the state behind any record, of a folder and through a server, which say the same."""
import contextlib
import json
import shutil
import sqlite3
import threading
import urllib.error
import urllib.request

from program import PATIENCE, PROGRAM, main, wait_until
from serving import ORDER, ServingTest

FLOWS = PROGRAM.parent / "tests" / "flows"
REVIEW = "flows/Review@1"


class Past(ServingTest):
    def copied(self):
        """The world as it is now, in another folder, which nobody has open."""
        shutil.rmtree(self.folder / "copy", ignore_errors=True)
        shutil.copytree(self.folder / "world", self.folder / "copy")
        return ("--world", "copy")

    def test_a_server_says_of_every_record_what_the_folder_says(self):
        for snapshots in (0, 2):
            shutil.rmtree(self.folder / "world", ignore_errors=True)
            # All of them have ended: the server has nothing to do, and its journal stays as it is.
            self.make_world(orders=2, snapshots=snapshots, how=("recent",))
            folder = self.copied()
            last = self.ask_at(folder, "ls", "--limit", "1")["instances"][0]["last_record"]
            first = self.ask_at(folder, "journal", "--limit", "1")["records"][0]["record"]
            with self.server(applies=False) as url:
                server = ("--server", url)
                for record in range(first, last + 1):
                    for key in ("o-1", "o-2"):
                        command = ("state", f"demo/Order@1/{key}", "--at", str(record))
                        there = self.run_program(*command, *folder, "--json")
                        online = self.run_program(*command, *server, "--json")
                        self.assertEqual(online.returncode, there.returncode, (command, online.stderr))
                        if there.returncode == 0:
                            self.assertEqual(json.loads(online.stdout), json.loads(there.stdout))
                        else:
                            self.assertIn(f"record {record}: there is no demo/Order@1", online.stderr.decode())
                    self.assertEqual(self.ask_at(server, "state", "demo/Order@1/o-1"),
                                     self.ask_at(folder, "state", "demo/Order@1/o-1"))
                self.assertIn("the journal has records", self.refused_at(server, "state", "demo/Order@1/o-1", "--at", str(last + 1000)))
                self.assertIn("there is no", self.refused_at(server, "state", "demo/Order@1/nobody", "--at", str(last)))

    def test_what_is_gone_now_is_seen_as_it_was(self):
        """From a snapshot that a server has taken, and the records behind it."""
        with self.server() as url:
            server = ("--server", url)
            self.ask_at(server, "start", "demo/Order@1", ORDER % ("a", "mug"), "--wait", "60000")
            self.ask_at(server, "snapshot", "take")
            self.ask_at(server, "start", "demo/Order@1", ORDER % ("b", "mug"), "--wait", "60000")
            last = self.ask_at(server, "show", "demo/Order@1/b")["record"]
            told = {}
            for record in self.ask_at(server, "timeline", "demo/Order@1/b")["records"]:
                at = self.ask_at(server, "state", "demo/Order@1/b", "--at", str(record["record"]))
                self.assertEqual((at["at"], at["status"]), (record["record"], record["instances"][0]["status"]))
                told[record["record"]] = at
            self.assertGreater(len(told), 2)
            self.assertEqual(told[last]["state"], self.ask_at(server, "state", "demo/Order@1/b")["state"])
        for record, at in told.items():
            self.assertEqual(self.ask_at(("--world", "world"), "state", "demo/Order@1/b", "--at", str(record)), at)

    def timeline(self, place, name, *more):
        told = self.ask_at(place, "timeline", name, *more)
        return {record["record"]: next(each["state"] for each in record["instances"] if f"demo/Order@1/{each['key']}" == name)
                for record in told["records"]}

    def test_a_timeline_has_the_states_that_something_still_leads_to(self):
        """Of an order that waited before the oldest snapshot of a journal that is trimmed, and ends behind it."""
        self.make_world(orders=14, snapshots=3, how=("wordy",))
        folder = ("--world", "world")
        first = self.ask_at(folder, "journal", "--limit", "1")["records"][0]["record"]
        oldest = min(each["next_record"] for each in self.ask_at(("world",), "snapshot", "ls")["snapshots"]) - 1
        self.assertLess(1, first)
        waiting = [each for each in self.ask_at(folder, "ls", "--status", "waiting")["instances"] if first <= each["last_record"] < oldest]
        self.assertGreater(len(waiting), 0, (first, oldest))
        name = "demo/Order@1/" + waiting[0]["key"]
        self.assertEqual(self.timeline(folder, name), {waiting[0]["last_record"]: None}, "nothing leads to it any more")
        with self.server(applies=False) as url:
            server = ("--server", url)
            wait_until(lambda: self.ask_at(server, "show", name)["status"] not in ("running", "waiting"))
            states = self.timeline(server, name)
            self.assertGreater(len(states), 2)
            self.assertEqual({record: state is not None for record, state in states.items()}, {record: record >= oldest for record in states})
            self.assertEqual(self.timeline(server, name, "--from", str(waiting[0]["last_record"])), {waiting[0]["last_record"]: None})
            self.assertIn("there is no snapshot before it", self.refused_at(server, "state", name, "--at", str(waiting[0]["last_record"])))
        self.assertEqual(self.timeline(folder, name), states)

    def test_where_a_snapshot_is_damaged_the_timeline_is_there_and_says_so(self):
        self.make_world(orders=14, snapshots=3, how=("wordy",))
        folder = ("--world", "world")
        newest, oldest = (each["next_record"] for each in self.ask_at(("world",), "snapshot", "ls")["snapshots"])
        ended = [each for each in self.ask_at(folder, "ls", "--status", "completed")["instances"]
                 if oldest + 10 < each["last_record"] < newest]
        name = "demo/Order@1/" + ended[0]["key"]
        states = self.timeline(folder, name)
        self.assertGreater(len(states), 2)
        self.assertNotIn(None, states.values())
        with contextlib.closing(sqlite3.connect(self.folder / "world/blobs.db")) as blobs, blobs:
            blobs.execute("DELETE FROM blobs WHERE hash = (SELECT hash FROM snapshots ORDER BY number LIMIT 1)")
        done = self.run_program("timeline", name, *folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr.decode(), "states that the records do not have are not shown: .*no snapshot before it can be used")
        self.assertEqual([record["record"] for record in json.loads(done.stdout)["records"]], sorted(states, reverse=True))

    def test_work_goes_on_while_somebody_looks_back_and_too_many_are_refused(self):
        self.make_world(orders=300)
        with self.server(applies=False) as url:
            codes, sent, ended = [], [], threading.Event()

            def look():
                try:
                    with urllib.request.urlopen(url + "/v1/instances/demo/Order@1/o-1/state?at=500", timeout=PATIENCE) as answer:
                        codes.append((answer.status, json.load(answer)["at"]))
                except urllib.error.HTTPError as problem:
                    codes.append((problem.code, json.load(problem)["code"]))

            def work():
                while not ended.is_set():
                    order = ORDER % (f"w-{len(sent)}", "mug")
                    sent.append(self.ask_at(("--server", url), "send", "demo/OrderPlaced@1", order)["deliveries"])

            worker = threading.Thread(target=work)
            worker.start()
            lookers = [threading.Thread(target=look) for _ in range(60)]
            for each in lookers:
                each.start()
            for each in lookers:
                each.join()
            ended.set()
            worker.join()
        self.assertEqual(set(sent), {1})
        self.assertEqual(len(codes), 60)
        self.assertLessEqual(set(codes), {(200, 500), (429, "full")}, "eight may wait, the rest come again")
        self.assertGreaterEqual(codes.count((200, 500)), 8, "and one is looked at, unless all came before it was begun")


class PastGraphs(ServingTest):
    """Of a program that has the code of two graphs, so that definitions may change from one to the other."""

    def ask_flows(self, place, *arguments):
        return self.ask_at(place, *arguments, program=FLOWS)

    def review(self, server, key):
        done = self.ask_flows(server, "start", REVIEW, json.dumps({"id": key}), "--wait", "60000")
        self.assertEqual(done["instance"]["status"], "completed")
        return [each["record"] for each in self.ask_flows(server, "timeline", f"{REVIEW}/{key}")["records"]]

    def change_graph(self, server):
        """The workflow keeps its name, and runs the steps of the other one from now on."""
        definitions = self.ask_flows(server, "manifest")["definitions"]
        named = {each["name"]: each for each in definitions if "name" in each}
        named[REVIEW].update({**named["flows/ShortReview@1"], "name": REVIEW})
        for entries in [each for each in definitions if each["$kind"] == "manifest"][0].values():
            for entry in entries if isinstance(entries, list) else []:
                entry.pop("hash", None)
        self.write("short.json", json.dumps(definitions))
        self.ask_flows(server, "apply", "short.json")

    def steps_behind(self, place, key, record):
        state = self.ask_flows(place, "state", f"{REVIEW}/{key}", "--at", str(record))["state"]
        return [each["step"] for each in state["steps"]]

    def test_a_state_is_read_with_the_graph_of_its_moment(self):
        with self.server(program=FLOWS) as url:
            server = ("--server", url)
            old = min(self.review(server, "old"))
            self.ask_flows(server, "snapshot", "take")
            self.change_graph(server)
            new = min(self.review(server, "new"))
            told = {key: [self.steps_behind(server, key, at) for at in (first, first + 1)]
                    for key, first in (("old", old), ("new", new))}
            self.assertEqual(told, {"old": [["read"], ["judge"]], "new": [["skim"], []]})
            self.assertIn("record 1: there is no", self.refused_at(server, "state", f"{REVIEW}/old", "--at", "1", program=FLOWS))
        for key, first in (("old", old), ("new", new)):
            self.assertEqual([self.steps_behind(("--world", "world"), key, at) for at in (first, first + 1)], told[key])


if __name__ == "__main__":
    main()
