#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker whose disk is full: results are sent all the same, no new work is taken meanwhile, and nothing is lost or run twice."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fleet import ENDED, Fleet, Story, hold_against
from waiting import wait_until


class FullOutbox(unittest.TestCase):
    def test_results_are_sent_and_no_new_work_is_taken_until_there_is_room(self):
        nodes = [{"name": f"t{i}", "spec": {"number": i}} for i in range(12)]
        document = {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "w"},
                    "spec": {"taskType": "work", "graph": {"nodes": nodes}}}
        with tempfile.TemporaryDirectory() as folder, Fleet(folder, 1, slots=2) as fleet:
            fleet.start_server()
            fleet.start_worker(0)  # makes its identity while there is room
            wait_until(lambda: fleet.modes().get("w0") == "active", "it does not come")
            fleet.stop_worker(0)
            fleet.around_worker = lambda number: ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e",
                                                  "inject=pwrite64:error=ENOSPC:when=5..7"]
            fleet.submit(document, "g")
            fleet.start_worker(0)
            wait_until(lambda: fleet.status("g") in ENDED, "it does not end")
            tasks = fleet.tasks("g")
            log = (fleet.folder / "worker-0.log").read_text()
            self.assertIn("the outbox cannot be written; no new work is taken until it can be", log)
            self.assertIn("the outbox can be written again", log)
            fleet.stop_server()
            story = Story(fleet.journal())
            hold_against(self, story, fleet, {"g": tasks})
            self.assertEqual([(task["status"], task["attempts"], task["result"]["total"]) for task in tasks],
                             [("DONE", 1, i) for i in range(12)])


if __name__ == "__main__":
    unittest.main()
