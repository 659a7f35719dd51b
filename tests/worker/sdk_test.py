#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker that is a C++ program (examples/task_worker): its functions are tasks, and it keeps to the protocol."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "support")]
import worker_conformance
from waiting import PATIENCE

PROGRAM = pathlib.Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build")) / "examples" / "task_worker"


class Sdk(unittest.TestCase):
    def test_functions_of_a_program_are_tasks(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        server = worker_conformance.Server()
        server.told_stops = set()
        self.addCleanup(server.close)
        process = subprocess.Popen([PROGRAM, server.url, folder.name + "/worker"], stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        try:
            def result(type, **spec):
                d = server.give(spec, type=type)
                return d, server.result(d)
            d, entry = result("price", sku="mug", count=2)
            self.assertEqual(entry["payload"], {"cents": 600})
            self.assertEqual([line[2] for line in server.logs[d]], ["price of 2 mug"])
            _, entry = result("price", sku="", count=1)
            self.assertEqual(entry["error"], {"code": "shop.sku", "message": "an order needs a sku", "retryable": False})
            _, entry = result("price", sku="mug")
            self.assertEqual((entry["error"]["code"], entry["error"]["retryable"]), ("task.input", False))
            _, entry = result("total", prices=[{"cents": 100}, {"cents": 300}], discount_percent=50)
            self.assertEqual(entry["payload"], {"cents": 200})
            _, entry = result("total", prices=[])
            self.assertEqual(entry["payload"], {"cents": 0})
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=PATIENCE), 0)
            self.assertTrue(server.left)
        finally:
            process.kill()
            process.wait(timeout=PATIENCE)

    def test_it_keeps_to_the_protocol(self):
        names = ["many_tasks_are_each_reported_once_while_nothing_is_lost", "results_of_a_killed_worker_arrive_from_its_next_process",
                 "when_the_session_ends_the_worker_begins_another_and_goes_on", "a_server_can_drain_a_worker"]
        done = subprocess.run([sys.executable, ROOT / "tools" / "worker_conformance.py", *(each for name in names for each in ("--only", name)),
                               "--", PROGRAM, "{server}", "{dir}"], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
