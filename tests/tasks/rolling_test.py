#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rolling restart of docs/operating.md under load: workers one by one, then the server. No attempt is spent, and no task runs
twice."""
import collections
import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fleet import ENDED, Fleet, Story, hold_against
from shapes import graphs
from waiting import wait_until

WORKERS = 3


class Rolling(unittest.TestCase):
    def test_no_attempt_is_spent_and_no_task_runs_twice(self):
        choose = random.Random(3)
        made = graphs(choose, 150, size=20, longest=0.3, retries=False)
        total = sum(len(shape.expected()) - len(shape.skipped) for shape in made.values())
        with tempfile.TemporaryDirectory() as folder, Fleet(folder, WORKERS, slots=3) as fleet:
            fleet.start()
            for name, shape in made.items():
                fleet.submit(shape.document(name), name)
            at = []  # how much was done at each step, which shows that it happened under load
            for number in range(WORKERS):
                wait_until(lambda: fleet.count() > (number + 1) * total // 8, "nothing runs")
                fleet.stop_worker(number)
                fleet.start_worker(number)
                wait_until(lambda: fleet.modes()[f"w{number}"] == "active", "it does not come back")
                at.append(fleet.count())
            wait_until(lambda: fleet.count() > total // 2, "nothing runs")
            fleet.stop_server()
            at.append(fleet.count())
            fleet.start_server()
            for name in made:
                wait_until(lambda: fleet.status(name) in ENDED, lambda: f"{name} does not end: {fleet.tasks(name)}")
            answers = {name: fleet.tasks(name) for name in made}
            fleet.stop_server()
            fleet.verify()
            story = Story(fleet.journal())
            hold_against(self, story, fleet, answers)
            for name, tasks in answers.items():
                expected = made[name].expected()
                for task in tasks:
                    if task["kind"] == "task":
                        value = expected[task["name"]]
                        self.assertEqual((task["status"], task["attempts"]), ("DONE", 0 if value is None else 1), task)
            begins = collections.Counter((entry.graph, entry.name) for entry in fleet.ledger() if entry.what == "begin")
            self.assertEqual(set(begins.values()), {1})
            self.assertEqual(len(begins), total)
            self.assertLess(at[-1], total, "everything was done before the server was restarted")
            ends = collections.Counter(lease.end for lease in story.leases.values())
            print(f"{total} tasks; done at each restart: {at}; leases: {dict(ends)}")


if __name__ == "__main__":
    unittest.main()
