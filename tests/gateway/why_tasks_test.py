#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`why` for every kind of wait of a task, one test each. KINDS names them; a kind without a test fails the last one."""
import unittest

from dispatch_test import OK, Dispatching, chain, document
from server import wait_until

KINDS = {"dependency", "epoch", "none_eligible", "exhausted", "busy", "key_limit", "running", "stopping", "lost_before"}
SEEN = set()


class WhyTasks(Dispatching):
    def placement(self, why):
        [reason] = why["reasons"]
        return reason["placement"]

    def test_dependency(self):
        graph = self.submit(chain("first", "second"))
        worker = self.worker()
        self.take_one(worker)
        why = self.why(graph, 1)
        self.assertEqual(why["sentence"], "It waits for 1 task before it: 'first' is PENDING.")
        self.assertEqual(why["reasons"], [{"kind": "dependency", "task": 0, "name": "first", "status": "PENDING"}])
        self.assertEqual(self.run_program("why", f"{graph}/second", "--server", f"http://127.0.0.1:{self.port}").stdout.split("\n")[0],
                         why["sentence"])
        SEEN.add("dependency")

    def test_epoch(self):
        graph = self.submit({**document([{"name": "a"}, {"name": "b"}]), "metadata": {
            "name": "w", "annotations": {"schedule_hint": {"node_execution_order": [["a"], ["b"]]}}}})
        why = self.why(graph, self.number_of(graph, "b"))
        self.assertIn("epoch 1 has not begun", why["sentence"])
        self.assertEqual([reason["kind"] for reason in why["reasons"]], ["epoch"])
        worker = self.worker()
        worker.finish(self.take_one(worker)["d"], payload=OK)
        wait_until(lambda: "epoch" not in self.why(graph, self.number_of(graph, "b"))["sentence"], "the epoch does not begin")
        SEEN.add("epoch")

    def number_of(self, graph, name):
        [number] = [task["task"] for task in self.tasks(graph) if task["name"] == name]
        return number

    def test_no_worker_fits_and_each_has_its_reason(self):
        self.worker(name="types", types=["http"])
        self.worker(name="labels")
        self.worker(name="cpus", labels={"zone": "eu"}, resources={"cpu_milli": 1000})
        self.worker(name="gpus", labels={"zone": "eu"}, resources={"cpu_milli": 8000})
        self.worker(name="recipes", labels={"zone": "eu"}, resources={
            "cpu_milli": 8000, "gpus": [{"index": 0, "type": "a100", "memory_bytes": 1 << 30}]})
        cordoned = self.worker(name="cordoned")
        self.client().post(f"/v1/workers/{cordoned.id}/cordon", {})
        graph = self.submit(document([{"name": "a"}], resources={
            "labels": {"zone": "eu"}, "cpu": 4, "gpu": {"type": "a100"}, "recipe": "llama"}))
        why = self.why(graph)
        placement = self.placement(why)
        self.assertEqual((placement["kind"], placement["exhausted"]), ("none_eligible", False))
        self.assertLessEqual(placement["fails_in_ms"], 60_000)
        self.assertEqual({each["name"]: each["reason"] for each in placement["workers"]}, {
            "types": "does not run the task type echo, only http",
            "labels": "does not have the label zone=eu",
            "cpus": "does not serve the recipe llama",
            "gpus": "does not serve the recipe llama",
            "recipes": "does not serve the recipe llama",
            "cordoned": "is cordoned"})
        graph = self.submit(document([{"name": "a"}], resources={"labels": {"zone": "eu"}, "cpu": 4, "gpu": {"type": "a100"}}))
        wait_until(lambda: self.why(graph)["reasons"][0]["lease"] is None, "")
        plain = self.submit(document([{"name": "a"}], resources={"labels": {"zone": "eu"}, "cpu": 16, "gpu": {"count": 2}}))
        reasons = {each["name"]: each["reason"] for each in self.placement(self.why(plain))["workers"]}
        self.assertEqual((reasons["cpus"], reasons["gpus"]),
                         ("has 1 processors; the task needs 16", "has 8 processors; the task needs 16"))
        self.assertIn("No worker can run this task", self.why(plain)["sentence"])
        SEEN.add("none_eligible")

    def test_every_worker_has_failed_it(self):
        worker = self.worker(name="only")
        graph = self.submit(chain("a"))
        worker.finish(self.take_one(worker)["d"], "error", error={"code": "x", "message": "broken"})
        def exhausted():
            why = self.why(graph)
            return why if why["reasons"][0].get("placement", {}).get("exhausted") else None
        why = wait_until(exhausted, "it is not said")
        self.assertIn("Every worker that can run this task has failed it: only has failed this task before; last: x: broken", why["sentence"])
        self.assertEqual((why["reasons"][0]["last_error"]["code"], why["reasons"][0]["last_error"]["message"]), ("x", "broken"))
        SEEN.add("exhausted")

    def test_busy_with_its_place_in_the_queue(self):
        busy = self.worker(name="busy", slots=1)
        self.submit(chain("a"), id="first")
        self.take_one(busy)
        for number in (1, 2, 3):
            self.submit(chain("a"), id=f"waiting-{number}")
        places = []
        for number in (1, 2, 3):
            placement = self.placement(self.why(f"waiting-{number}"))
            self.assertEqual((placement["kind"], placement["length"]), ("busy", 3))
            self.assertEqual([each["reason"] for each in placement["workers"]], ["runs 1 tasks and has 1 slots"])
            places.append(placement["place"])
        self.assertEqual(places, [1, 2, 3])
        SEEN.add("busy")

    def test_the_limit_of_a_concurrency_key(self):
        worker = self.worker()
        graph = self.submit(document([{"name": "a"}, {"name": "b"}], concurrency={"key": "db", "limit": 1}))
        taken = self.take_one(worker)
        placement = self.placement(self.why(graph, 1 - taken["task"]))
        self.assertEqual((placement["kind"], placement["key"], placement["limit"], placement["running"]), ("key_limit", "db", 1, 1))
        SEEN.add("key_limit")

    def test_running_and_on_which_worker(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        self.take_one(worker)
        why = self.why(graph)
        self.assertIn(f"Worker {worker.id} has been performing", why["sentence"])
        self.assertEqual((why["reasons"][0]["lease"]["worker"], why["reasons"][0]["lease"]["stopping"]), (worker.id, False))
        SEEN.add("running")

    def test_being_cancelled(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        self.take_one(worker)
        self.client().post(f"/v1/graphs/{graph}/cancel", {})
        why = self.why(graph)
        self.assertIn(f"Stopping: worker {worker.id}", why["sentence"])
        self.assertTrue(why["reasons"][0]["lease"]["stopping"])
        SEEN.add("stopping")

    def test_a_worker_was_lost_with_it(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        self.take_one(worker)
        worker.process, worker.holding = "second", []
        worker.begin(first=True)
        def waits():
            reason = self.why(graph)["reasons"][0]
            return reason if reason["losses"] == 1 and reason["lease"] is None else None
        self.assertEqual(wait_until(waits, "the loss is not said")["placement"]["kind"], "busy")
        SEEN.add("lost_before")

    def test_zz_all_kinds_were_seen(self):
        self.assertEqual(SEEN, KINDS)


# What it inherits runs in dispatch_test.py.
for name in list(vars(Dispatching)):
    if name.startswith("test_") and name not in vars(WhyTasks):
        setattr(WhyTasks, name, None)
del Dispatching

if __name__ == "__main__":
    unittest.main()
