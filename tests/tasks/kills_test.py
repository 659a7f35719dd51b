#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server and its workers are killed with -9 while graphs of every shape run. The tasks themselves write down when they begin and
end; afterwards that ledger, the journal and the answers of the server must tell the same story.

HOLDFAST_WORKERS, HOLDFAST_TASKS, HOLDFAST_KILLS (of the server, and as many of workers) and HOLDFAST_SEED make it larger:
5, 2000, 20 is the full size."""
import collections
import pathlib
import random
import re
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fleet import ASKED, ENDED, Fleet, Story, hold_against
from shapes import graphs
from waiting import PATIENCE, wait_until

WORKERS = int(ASKED.get("WORKERS", 3))
TASKS = int(ASKED.get("TASKS", 120))
KILLS = int(ASKED.get("KILLS", 3))
SEED = int(ASKED.get("SEED", 1))
SETTINGS = ("--worker-ttl", "6s", "--worker-grace", "6s", "--rehydration-grace", "60s")


class Kills(unittest.TestCase):
    def wait_for(self, fleet, count):
        """Until as many executions have ended. A large run may take long, but not without any progress."""
        last, since = fleet.count(), time.monotonic()
        while (now := fleet.count()) < count:
            if now != last:
                last, since = now, time.monotonic()
            self.assertLess(time.monotonic() - since, PATIENCE, f"nothing ends; {now} executions have")
            time.sleep(0.02)

    def test_conditions_that_were_open_are_looked_at_again(self):
        nodes = [{"name": "judge"}] + [
            {"name": f"t{i}", "dependsOn": ["judge"], "spec": {"condition": {"node": "judge", "field": "parity", "equals": i % 2}}}
            for i in range(300)]
        document = {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "w"},
                    "spec": {"taskType": "work", "graph": {"nodes": nodes}}}
        for attempt in range(20):
            with tempfile.TemporaryDirectory() as folder, Fleet(folder, 1, slots=2) as fleet:
                fleet.start()
                fleet.submit(document, "g")
                wait_until(lambda: fleet.count() > 0, "nothing ends")
                time.sleep(0.01 * attempt)  # until the kill comes when conditions are open
                fleet.kill_server()
                fleet.start_server()
                wait_until(lambda: fleet.status("g") in ENDED, "it does not end")
                tasks = fleet.tasks("g")
                fleet.stop_server()
                self.assertEqual(sum(task["skipped"] for task in tasks), 150)
                self.assertTrue(all(task["status"] == "DONE" for task in tasks))
                checks = re.findall(r"ready: (\d+) effects open", (fleet.folder / "server.log").read_text())
                if int(checks[-1]) > 5:
                    return
        self.fail("no kill came while conditions were open: the test shows nothing")

    def submit_slow(self, fleet, name, tasks, seconds, begun):
        """Tasks that take their time; comes back when as many of them run."""
        nodes = [{"name": f"t{i}", "spec": {"seconds": seconds}} for i in range(tasks)]
        fleet.submit({"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": name},
                      "spec": {"taskType": "work", "graph": {"nodes": nodes}}}, name)
        wait_until(lambda: self.noted(fleet, name, "begin") - self.noted(fleet, name, "end") >= begun, "they do not run at once")

    @staticmethod
    def noted(fleet, graph, what):
        return sum(entry.what == what and entry.graph == graph for entry in fleet.ledger())

    def end_without_server(self, fleet, away):
        """Whatever the kills before have hit: one result is made while there is no server."""
        self.submit_slow(fleet, "away", 1, 1, begun=1)
        fleet.kill_server()
        begun = time.time_ns()
        wait_until(lambda: self.noted(fleet, "away", "end"), "it does not end")
        away.append((begun, time.time_ns()))
        fleet.start_server()

    def lose_what_runs(self, fleet):
        """And workers are killed that have something to lose."""
        self.submit_slow(fleet, "held", WORKERS, 5, begun=1)
        for number in range(WORKERS):
            fleet.kill_worker(number)
        for number in range(WORKERS):
            fleet.start_worker(number)

    def test_every_result_counts_once_and_every_second_execution_is_explained(self):
        print(f"seed {SEED}")
        choose = random.Random(SEED)
        made = graphs(choose, TASKS, size=max(8, TASKS // 14))
        total = sum(len(shape.expected()) - len(shape.skipped) for shape in made.values())
        with tempfile.TemporaryDirectory() as folder, Fleet(folder, WORKERS, slots=3, settings=SETTINGS) as fleet:
            fleet.start()
            for name, shape in made.items():
                fleet.submit(shape.document(name), name)
            kills = ["server"] * KILLS + ["worker"] * KILLS
            choose.shuffle(kills)
            away = []  # spans in which there was no server
            for i, kill in enumerate(kills):
                self.wait_for(fleet, (i + 1) * total * 9 // (10 * (len(kills) + 1)))
                time.sleep(choose.uniform(0, 0.05))
                number = choose.randrange(WORKERS)
                if kill == "server":
                    fleet.kill_server()
                    begun, before = time.time_ns(), fleet.count()
                    if choose.random() < 0.3:
                        fleet.kill_worker(number)
                        fleet.start_worker(number)
                    # What runs now ends without a server.
                    open_now = fleet.count("begin") - before - fleet.count("fail")
                    time.sleep(choose.uniform(0.1, 0.5) if open_now else 0)
                    away.append((begun, time.time_ns()))
                    fleet.start_server()
                else:
                    fleet.kill_worker(number)
                    if i + 1 == len(kills):  # stays away until it is declared lost
                        wait_until(lambda: fleet.modes()[f"w{number}"] == "lost", "it is not declared lost")
                    fleet.start_worker(number)
            self.end_without_server(fleet, away)
            self.lose_what_runs(fleet)
            total += 1 + WORKERS
            answers = {}
            for name in (*made, "away", "held"):
                wait_until(lambda: fleet.status(name) in ENDED, lambda: f"{name} does not end: {fleet.tasks(name)}")
                answers[name] = fleet.tasks(name)
            fleet.stop_server()
            fleet.verify()
            story = Story(fleet.journal())
            hold_against(self, story, fleet, answers)
            for name, shape in made.items():
                expected = shape.expected()
                found = {task["name"]: task for task in answers[name] if task["kind"] == "task"}
                self.assertEqual(set(found), set(expected))
                for task, value in expected.items():
                    self.assertEqual(found[task]["status"], "DONE", found[task])
                    if value is None:
                        self.assertTrue(found[task]["skipped"])
                    else:
                        self.assertEqual(found[task]["result"]["total"], value, (name, task))
            arrived = [entry for entry in fleet.ledger() if entry.what == "end" and story.leases[entry.dispatch].end == "ok" and
                       any(begun < entry.time_ns < ended for begun, ended in away)]
            ends = collections.Counter(lease.end for lease in story.leases.values())
            print(f"{total} tasks, {len(story.leases)} leases: {dict(ends)}; {len(arrived)} results made without a server")
            self.assertEqual(ends["ok"], total)
            self.assertTrue(ends["lost"], "no kill hit an execution: the test shows nothing")
            self.assertTrue(arrived, "nothing ended without a server: the test shows nothing")


if __name__ == "__main__":
    unittest.main()
