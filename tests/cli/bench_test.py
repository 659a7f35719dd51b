#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast bench: it measures, and leaves nothing behind. What it measures is not judged here."""
import json

from program import ProgramTest, main


class Bench(ProgramTest):
    def measured(self, *arguments):
        (self.folder / "there").mkdir()
        done = self.run_program("bench", *arguments, "--dir", "there", "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        self.assertEqual(list((self.folder / "there").iterdir()), [])
        return json.loads(done.stdout)

    def test_workflows_in_an_engine_are_counted(self):
        self.assertGreater(self.measured("embedded", "--seconds", "0.3", "--in-flight", "16")["workflows"], 0)

    def test_so_many_workflows_are_run_and_plotted(self):
        figures = self.measured("embedded", "--workflows", "700", "--in-flight", "16", "--plot", "course.svg")
        self.assertEqual(figures["workflows"], 700)
        self.assertEqual(len(figures["spans"]), 60)
        self.assertGreater(figures["cpu_us_per_workflow"], 0)
        self.assertTrue((self.folder / "course.svg").read_text().endswith("</svg>\n"))

    def test_all_that_sleep_are_there_after_a_kill(self):
        figures = self.measured("sleep", "--count", "500")
        self.assertEqual((figures["count"], figures["recovered"]), (500, 500))

    def test_effects_that_wait_are_there_after_a_kill(self):
        figures = self.measured("waiting", "--count", "5000")
        self.assertEqual((figures["count"], figures["completed"]), (5000, 5000))

    def test_a_runaway_workflow_leaves_something_to_others(self):
        figures = self.measured("runaway", "--load", "echo", "--seconds", "0.5")
        self.assertGreater(figures["beside_per_s"], 0)
        self.assertGreater(figures["cancels"], 0)

    def test_parked_runs_are_there_after_a_kill_and_wake_to_their_results(self):
        figures = self.measured("parked", "--count", "500", "--wakes", "50")
        self.assertEqual((figures["count"], figures["recovered"], figures["woken"]), (500, 500, 50))
        self.assertGreater(figures["disk_bytes_per_run"], 100)
        self.assertGreater(figures["wake_p99_us"], 0)
        self.assertIn("cores", figures["hardware"])

    def test_of_a_few_that_are_parked_all_may_be_woken(self):
        figures = self.measured("parked", "--count", "3")
        self.assertEqual((figures["recovered"], figures["woken"]), (3, 3))


if __name__ == "__main__":
    main()
