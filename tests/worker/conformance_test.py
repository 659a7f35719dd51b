#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The worker of this build, and the smallest one there is, keep to docs/worker-protocol.md; and a worker that breaks a rule is
found out."""
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build")) / "holdfast"
SCRIPT = ROOT / "tools" / "worker_conformance.py"
MINI = [sys.executable, str(ROOT / "tests" / "worker" / "mini_worker.py"), "--server", "{server}", "--dir", "{dir}", "--drain", "{drain}"]
OURS = [str(PROGRAM), "worker", "--server", "{server}", "--dir", "{dir}", "--slots", "4", "--drain-timeout", "{drain}s"]

# A bug of the mini worker, and a scenario that notices it.
BUGS = {
    "forget_identity": "results_of_a_killed_worker_arrive_from_its_next_process",
    "forget_outbox": "results_of_a_killed_worker_arrive_from_its_next_process",
    "unknown_member": "a_worker_enrols_begins_a_session_and_runs_a_task",
    "always_first": "when_the_session_ends_the_worker_begins_another_and_goes_on",
    "ignore_drop": "a_dispatch_that_is_dropped_is_ended_and_not_reported",
    "run_twice": "work_that_is_sent_twice_runs_once",
    "hold_too_little": "a_worker_enrols_begins_a_session_and_runs_a_task",
    "ignore_refusals": "a_result_that_is_refused_becomes_an_error",
}


def conformance(command, *options):
    done = subprocess.run([sys.executable, SCRIPT, *options, "--", *command], capture_output=True, text=True, timeout=1000)
    return done.returncode, done.stdout + done.stderr


class Conformance(unittest.TestCase):
    def test_the_worker_of_this_build_conforms(self):
        code, text = conformance(OURS)
        self.assertEqual(code, 0, text)
        self.assertTrue(text.endswith("conforms\n"), text)

    def test_the_smallest_worker_conforms(self):
        # Those that other tests run, and those that need nothing but patience, are left out.
        names = ["a_worker_enrols_begins_a_session_and_runs_a_task", "a_result_whose_answer_is_lost_is_reported_again",
                 "results_of_a_killed_worker_arrive_from_its_next_process", "a_worker_that_drains_takes_no_work_reports_and_leaves"]
        code, text = conformance(MINI, *(each for name in names for each in ("--only", name)))
        self.assertEqual(code, 0, text)

    def test_a_worker_that_breaks_a_rule_is_found_out(self):
        for bug, scenario in BUGS.items():
            with self.subTest(bug=bug):
                code, text = conformance([*MINI, "--bug", bug], "--only", scenario, "--patience", "8")
                self.assertEqual(code, 1, f"{bug} is not noticed:\n{text}")
                self.assertIn("FAILED", text)


if __name__ == "__main__":
    unittest.main()
