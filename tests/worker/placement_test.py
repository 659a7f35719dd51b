#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Another placement policy places differently, and a world that was placed by one policy is verified and continued with the other."""
import json
import sys
import threading
import unittest

from live import ROOT, LiveTest, wait_until

sys.path.insert(0, str(ROOT / "tests" / "gateway"))
from worker_client import ProtocolWorker

DOCUMENT = {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "w"},
            "spec": {"taskType": "echo", "resources": {"cpu": 1}}}


class Placement(LiveTest):
    settings = ("--placement", "first_fit")

    def placed_on(self, graph, workers):
        """Runs one task; the name of the worker that gets it. All of them ask for work before it is submitted."""
        found = {}
        def take(name, worker):
            for work in worker.take(want=1, wait_ms=8000):
                found[name] = work["d"]
                worker.finish(work["d"], payload=1)
        threads = [threading.Thread(target=take, args=each) for each in workers.items()]
        for thread in threads:
            thread.start()
        self.wait_until_all_ask(workers)
        reply = self.client().post("/v1/graphs", {"document": DOCUMENT, "id": graph})
        self.assertEqual(reply.status, 201, reply.body)
        for thread in threads:
            thread.join()
        [name] = found
        return name

    def wait_until_all_ask(self, workers):
        wait_until(lambda: self.figure("holdfast_worker_syncs_total") >= self.asked + len(workers), "not all of them ask")

    def start_workers(self):
        # The first one has much to spare, the second one fits exactly.
        sizes = {"large": 64000, "small": 1000}
        return {name: ProtocolWorker(self.port, name=name, slots=4, resources={"cpu_milli": cpu}).start() for name, cpu in sizes.items()}

    def test_a_world_of_one_policy_is_verified_and_continued_by_another(self):
        workers = self.start_workers()
        self.asked = self.figure("holdfast_worker_syncs_total")
        self.assertEqual(self.placed_on("first", workers), "large")
        self.assertEqual(self.stop(), 0)
        self.verify("best_fit")
        self.start("--placement", "best_fit")
        for worker in workers.values():
            worker.port = self.port
            worker.begin(first=True)
        self.asked = self.figure("holdfast_worker_syncs_total")
        self.assertEqual(self.placed_on("second", workers), "small")
        self.assertEqual(self.stop(), 0)
        self.verify("first_fit")

    def verify(self, policy):
        (self.folder / "holdfast.yaml").write_text(f"placement: {policy}\n")
        verified = self.run_program("verify", self.world, "--all", "--json")
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        json.loads(verified.stdout)
        (self.folder / "holdfast.yaml").unlink()


if __name__ == "__main__":
    unittest.main()
