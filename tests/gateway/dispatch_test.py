#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tasks go to workers and their results come back: leases, redelivery, losses, the fence, stops, logs and `why`."""
import json
import unittest

from server import ServerTest, wait_until
from worker_client import ProtocolWorker

OK = {"ok": True}


def document(nodes, **spec):
    return {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "w"},
            "spec": {"taskType": "echo", **spec, "graph": {"nodes": nodes}}}


def chain(*names):
    return document([{"name": name, **({"dependsOn": [names[i - 1]]} if i else {})} for i, name in enumerate(names)])


class Dispatching(ServerTest):
    settings = ("--worker-ttl", "30s")

    def setUp(self):
        super().setUp()
        self.start(*self.settings)

    def worker(self, **more):
        return ProtocolWorker(self.port, **more).start()

    def restart(self, *workers):
        self.kill()
        self.start(*self.settings)
        for worker in workers:
            worker.port = self.port

    def submit(self, document, **more):
        reply = self.client().post("/v1/graphs", {"document": document, **more})
        self.assertIn(reply.status, (200, 201), reply.body)
        return reply.json()["id"]

    def graph(self, graph):
        reply = self.client().get(f"/v1/graphs/{graph}")
        self.assertEqual(reply.status, 200, reply.body)
        return reply.json()

    def tasks(self, graph, query=""):
        reply = self.client().get(f"/v1/graphs/{graph}/tasks?limit=1000{query}")
        self.assertEqual(reply.status, 200, reply.body)
        return reply.json()["tasks"]

    def states(self, graph):
        return {task["name"]: task["status"] for task in self.tasks(graph)}

    def wait_for(self, graph, status="DONE"):
        return wait_until(lambda: self.graph(graph)["status"] == status and self.graph(graph), f"it is not {status}")

    def why(self, graph, number=0):
        reply = self.client().get(f"/v1/instances/sys/Task@1/{graph}%2F{number}/why")
        self.assertEqual(reply.status, 200, reply.body)
        return reply.json()

    def take_one(self, worker):
        """One task, however long that takes."""
        found = wait_until(lambda: worker.take(want=1, wait_ms=1000), "there is no work")
        return found[0]

    def test_a_chain_runs_and_each_task_sees_the_result_before_it(self):
        worker = self.worker()
        nodes = [{"name": "a", "spec": {"x": 1}}, {"name": "b", "dependsOn": ["a"], "spec": {"y": "${a.n}", "z": "n=${a.n}"}}]
        graph = self.submit(document(nodes))
        first = self.take_one(worker)
        self.assertEqual((first["kind"], first["type"], first["name"], first["graph"], first["task"], first["attempt"]),
                         ("task", "echo", "a", graph, 0, 1))
        self.assertEqual(first["input"]["x"], 1)
        self.assertEqual(worker.finish(first["d"], payload={"n": 7}), "ok")
        second = self.take_one(worker)
        self.assertEqual((second["name"], second["input"]["y"], second["input"]["z"]), ("b", 7, "n=7"))
        self.assertNotEqual(second["key"], first["key"])
        self.assertEqual(worker.finish(second["d"], payload=None), "ok")
        self.wait_for(graph)

    def test_a_lost_answer_is_repeated_and_a_repeated_report_counts_once(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        first = self.take_one(worker)
        worker.holding = []  # as if the answer had never come
        again = self.take_one(worker)
        self.assertEqual((again["d"], again["key"]), (first["d"], first["key"]))
        self.assertEqual(worker.finish(first["d"], payload=1), "ok")
        self.assertEqual(worker.finish(first["d"], payload=2), "ok", "it was taken before")
        self.wait_for(graph)
        [task] = self.tasks(graph, "&results=1")
        self.assertEqual((task["result"], task["attempts"]), (1, 1))

    def test_a_dispatch_is_the_same_after_the_server_was_killed(self):
        worker = self.worker()
        graph = self.submit(chain("a", "b"))
        work = self.take_one(worker)
        self.restart(worker)
        reply = worker.begin(first=False)
        self.assertEqual((reply.status, reply.json()["keep"], reply.json()["drop"]), (200, [work["d"]], []))
        self.assertEqual(worker.sync(want=4).json()["work"], [], "it holds what there is")
        self.assertEqual(worker.finish(work["d"], payload=OK), "ok")
        worker.finish(self.take_one(worker)["d"], payload=OK)
        self.wait_for(graph)
        self.assertEqual([task["attempts"] for task in self.tasks(graph)], [1, 1])

    def test_what_was_handed_out_and_never_arrived_comes_again_after_a_restart(self):
        worker = self.worker()
        self.submit(chain("a"))
        work = self.take_one(worker)
        worker.holding = []
        self.restart(worker)
        self.assertEqual(worker.begin(first=False).status, 200)
        self.assertEqual(self.take_one(worker)["d"], work["d"])

    def test_a_new_process_loses_what_it_does_not_hold_and_that_spends_an_attempt(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        old = self.take_one(worker)
        worker.process, worker.holding = "second", []
        self.assertEqual(worker.begin(first=True).status, 200)
        new = self.take_one(worker)
        self.assertEqual((new["key"], new["attempt"]), (old["key"], 2))
        self.assertNotEqual(new["d"], old["d"])
        self.assertEqual(worker.finish(old["d"], payload="late"), "stale")
        self.assertEqual(worker.finish(new["d"], payload="good"), "ok")
        self.wait_for(graph)
        [task] = self.tasks(graph, "&results=1")
        self.assertEqual((task["result"], task["attempts"]), ("good", 2))

    def test_a_task_that_kills_its_workers_ends(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        for attempt in (1, 2, 3):
            self.assertEqual(self.take_one(worker)["attempt"], attempt)
            worker.process, worker.holding = f"p{attempt}", []
            worker.begin(first=True)
        self.wait_for(graph, "FAILED")

    def test_an_outbox_that_survived_is_kept(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        work = self.take_one(worker)
        worker.process = "second"
        reply = worker.begin(first=True)
        self.assertEqual(reply.json()["keep"], [work["d"]])
        self.assertEqual(worker.finish(work["d"], payload=1), "ok")
        self.wait_for(graph)
        self.assertEqual(self.tasks(graph)[0]["attempts"], 1)

    def test_what_is_given_back_costs_nothing(self):
        worker, other = self.worker(name="a"), self.worker(name="b")
        graph = self.submit(chain("a"))
        work = self.take_one(worker)
        for reason in ("drain", "refused"):
            reply = worker.sync(back=[{"d": work["d"], "reason": reason}])
            self.assertEqual(reply.json()["results"][0]["result"], "ok")
            worker.holding = []
            if reason == "drain":
                work = self.take_one(worker)
        self.assertEqual(worker.take(want=1, wait_ms=300), [], "what it refused goes to another worker")
        taken = self.take_one(other)
        self.assertEqual(taken["attempt"], 1)
        other.finish(taken["d"], payload=1)
        self.wait_for(graph)
        self.assertEqual(self.tasks(graph)[0]["attempts"], 1)

    def test_a_yield_comes_back_with_what_to_resume_with(self):
        worker = self.worker()
        self.submit(chain("a"))
        work = self.take_one(worker)
        worker.sync(back=[{"d": work["d"], "reason": "yield", "resume": {"step": 5}}])
        worker.holding = []
        again = self.take_one(worker)
        self.assertEqual((again["resume"], again["attempt"]), ({"step": 5}, 1))

    def test_a_report_about_the_task_of_another_worker_frees_nothing(self):
        holder, other = self.worker(name="a", slots=1), self.worker(name="b", types=["http"])
        keyed = document([{"name": "a"}, {"name": "b"}], concurrency={"key": "db", "limit": 1})
        graph = self.submit(keyed)
        work = self.take_one(holder)
        for report in ({"status": "ok", "payload": 1}, {"status": "error", "error": {"code": "x", "message": "m"}}):
            reply = other.sync(done=[{"d": work["d"], **report}])
            self.assertEqual(reply.json()["results"][0]["result"], "stale")
        reply = other.sync(back=[{"d": work["d"], "reason": "drain"}])
        self.assertEqual(reply.json()["results"][0]["result"], "stale")
        self.assertEqual(holder.take(want=1, wait_ms=500), [], "its only slot is in use, and so is the key")
        self.assertIn("concurrency key db", self.why(graph, 1 - work["task"])["sentence"])
        self.assertEqual(holder.finish(work["d"], payload=1), "ok")
        self.assertEqual(holder.finish(self.take_one(holder)["d"], payload=1), "ok")
        self.wait_for(graph)
        self.assertEqual([task["attempts"] for task in self.tasks(graph)], [1, 1])

    def test_a_failed_task_goes_to_another_worker(self):
        first, second = self.worker(name="a"), self.worker(name="b")
        graph = self.submit(chain("a"))
        work = self.take_one(first)
        self.assertEqual(first.finish(work["d"], "error", error={"code": "x", "message": "broken"}), "ok")
        again = self.take_one(second)
        self.assertEqual((again["attempt"], again["name"]), (2, "a"))
        second.finish(again["d"], payload=1)
        self.wait_for(graph)

    def test_a_cancelled_task_is_stopped_and_ends_cancelled_whatever_it_reports(self):
        worker = self.worker()
        graph = self.submit(chain("a", "b"))
        work = self.take_one(worker)
        self.assertEqual(self.client().post(f"/v1/graphs/{graph}/cancel", {}).status, 200)
        def stops():
            return worker.sync(wait_ms=1000).json()["stop"]
        [stop] = wait_until(stops, "it is not told to stop")
        self.assertEqual((stop["d"], stop["reason"]), (work["d"], "cancelled"))
        self.assertIn("topping", self.why(graph)["sentence"])
        self.assertEqual(worker.finish(work["d"], payload="too late"), "ok")
        self.wait_for(graph, "CANCELLED")
        self.assertEqual(self.states(graph), {"a": "CANCELLED", "b": "CANCELLED"})

    def test_a_result_that_is_too_large_is_refused_and_the_task_is_still_held(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        work = self.take_one(worker)
        most = worker.enrol().json()["max_result_bytes"]
        reply = worker.sync(done=[{"d": work["d"], "status": "ok", "payload": "x" * most}])
        result = reply.json()["results"][0]
        self.assertEqual((result["result"], result["problem"]["code"]), ("refused", "too_large"))
        error = {"code": "task.bad_result", "message": result["problem"]["detail"], "retryable": False}
        self.assertEqual(worker.finish(work["d"], "error", error=error), "ok")
        self.wait_for(graph, "FAILED")

    def test_a_result_is_read_alone(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        worker.finish(self.take_one(worker)["d"], payload={"n": 18446744073709551615})
        self.wait_for(graph)
        reply = self.client().get(f"/v1/graphs/{graph}/tasks/0/result")
        self.assertEqual((reply.status, reply.json()), (200, {"result": {"n": 18446744073709551615}}))

    def test_a_bad_reference_fails_the_task_with_its_place(self):
        worker = self.worker()
        nodes = [{"name": "a"}, {"name": "b", "dependsOn": ["a"], "spec": {"y": "${a.missing}"}}]
        graph = self.submit(document(nodes))
        worker.finish(self.take_one(worker)["d"], payload={"n": 7})
        wait_until(lambda: worker.sync(want=1, wait_ms=500).json() and self.graph(graph)["status"] == "FAILED", "it waits")
        [task] = [task for task in self.tasks(graph) if task["name"] == "b"]
        self.assertEqual(task["error"]["code"], "task.bad_reference")
        self.assertIn("missing", task["error"]["message"])

    def test_lines_of_a_task_are_kept(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        work = self.take_one(worker)
        lines = [[1, "out", "one"], [2, "err", "two"]]
        reply = worker.sync(logs=[{"d": work["d"], "from": 0, "lines": lines}, {"d": work["d"], "from": 4, "lines": [[3, "out", "five"]]}])
        self.assertEqual(reply.json()["logs_to"], [[work["d"], 2], [work["d"], 5]])
        path = f"/v1/graphs/{graph}/tasks/0/logs"
        page = self.client().get(path).json()
        self.assertEqual([(line["text"], line["stream"], line["missing"]) for line in page["lines"]],
                         [("one", "out", 0), ("two", "err", 0), ("five", "out", 2)])
        self.assertEqual([line["text"] for line in self.client().get(path + "?after=2").json()["lines"]], ["five"])

    def test_why_is_true_for_every_kind_of_wait(self):
        server_less = self.submit(chain("alone"), id="none")
        self.assertIn("No worker can run this task", self.why("none")["sentence"])
        self.client().post("/v1/graphs/none/cancel", {})
        busy = self.worker(name="busy", slots=1)
        other = self.worker(name="other", types=["http"])
        self.submit(chain("a", "after"), id="first")
        work = self.take_one(busy)
        running = self.why("first")
        self.assertIn(f"Worker {busy.id} has been performing", running["sentence"])
        self.submit(chain("b"), id="second")
        waiting = self.why("second")
        self.assertIn("Waiting for a free worker, place 1 of 1 in the queue", waiting["sentence"])
        reasons = {each["name"]: each["reason"] for each in waiting["reasons"][0]["placement"]["workers"]}
        self.assertEqual(reasons, {"busy": "runs 1 tasks and has 1 slots", "other": "does not run the task type echo, only http"})
        self.assertIn("a", self.why("first", 1)["sentence"], "it names the dependency")
        busy.offer["slots"] = 4
        busy.enrol()
        keyed = document([{"name": "k1"}, {"name": "k2"}], concurrency={"key": "db", "limit": 1})
        self.submit(keyed, id="keyed")
        taken = self.take_one(busy)
        while taken["graph"] != "keyed":
            taken = self.take_one(busy)
        left = 1 - taken["task"]
        self.assertIn("Waiting for the concurrency key db: 1 tasks with it are running", self.why("keyed", left)["sentence"])
        self.client().post("/v1/graphs/first/cancel", {})
        self.assertIn("topping", self.why("first")["sentence"])

    def test_a_task_goes_to_a_worker_that_serves_its_queue(self):
        other = self.worker(name="other")
        graph = self.submit(document([{"name": "a"}], resources={"queue": "gpu"}))
        placement = self.why(graph)["reasons"][0]["placement"]
        self.assertEqual([each["reason"] for each in placement["workers"]], ["does not serve the queue gpu, only default"])
        self.assertEqual(self.figure('holdfast_tasks_waiting{queue="gpu"}'), 1)
        self.assertEqual(other.take(want=1, wait_ms=0), [])
        worker = self.worker(name="gpu", queues=["gpu"])
        taken = self.take_one(worker)
        self.assertEqual((taken["queue"], taken["graph"]), ("gpu", graph))
        self.assertEqual(self.figure('holdfast_tasks_running{queue="gpu"}'), 1)
        self.restart(other, worker)
        worker.begin(first=False)
        worker.finish(taken["d"], payload=OK)
        self.wait_for(graph)

    def test_queues_are_counted(self):
        self.submit(chain("a"))
        self.submit(chain("b"))
        self.assertEqual(self.figure('holdfast_tasks_waiting{queue="default"}'), 2)
        worker = self.worker()
        self.take_one(worker)
        self.assertEqual(self.figure('holdfast_tasks_running{queue="default"}'), 1)
        self.assertEqual(self.figure("holdfast_workers_live"), 1)


class ShortGraces(Dispatching):
    """The same server with graces of a second, and tests that wait for them."""
    settings = ("--worker-ttl", "1s", "--worker-grace", "1s", "--no-worker-grace", "1s", "--rehydration-grace", "2s")

    def test_a_silent_worker_loses_its_task_once_and_its_late_report_is_stale(self):
        silent = self.worker(name="a")
        graph = self.submit(chain("a"))
        work = self.take_one(silent)
        other = self.worker(name="b")
        again = self.take_one(other)
        self.assertEqual((again["key"], again["attempt"]), (work["key"], 2))
        self.assertEqual(silent.sync().code(), "session")
        reply = silent.begin(first=False)
        self.assertEqual(reply.json()["drop"], [work["d"]])
        self.assertEqual(silent.finish(work["d"], payload="late"), "stale")
        self.assertEqual(other.finish(again["d"], payload="good"), "ok")
        self.wait_for(graph)
        self.assertEqual(self.tasks(graph)[0]["attempts"], 2)
        self.assertGreaterEqual(self.figure("holdfast_stale_task_reports_total"), 1)

    def test_a_task_that_no_worker_fits_fails_after_the_grace(self):
        graph = self.submit(chain("a"))
        self.wait_for(graph, "FAILED")
        [task] = self.tasks(graph)
        self.assertEqual((task["error"]["code"], task["attempts"]), ("task.no_eligible_worker", 0))

    def test_a_task_that_every_worker_failed_ends_with_the_error_of_the_executor(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        error = {"code": "disk.full", "message": "no space left", "retryable": True}
        self.assertEqual(worker.finish(self.take_one(worker)["d"], "error", error=error), "ok")
        def has_failed():
            worker.sync(wait_ms=100)  # it lives on, and is the only one
            return self.graph(graph)["status"] == "FAILED"
        wait_until(has_failed, "the task is not given up")
        [task] = self.tasks(graph)
        self.assertEqual((task["error"], task["attempts"]), ({"code": "disk.full", "message": "no space left"}, 1))

    def test_work_that_a_live_worker_denies_goes_back_for_free(self):
        worker = self.worker()
        self.submit(chain("a"))
        work = self.take_one(worker)
        worker.holding = []
        def comes_anew():
            found = [each for each in worker.sync(want=1, wait_ms=200).json()["work"] if each["d"] != work["d"]]
            return found and found[0]
        again = wait_until(comes_anew, "it is not taken back")
        self.assertEqual((again["key"], again["attempt"]), (work["key"], 1))


# What they inherit runs once.
for name in list(vars(Dispatching)):
    if name.startswith("test_") and name not in vars(ShortGraces):
        setattr(ShortGraces, name, None)

if __name__ == "__main__":
    unittest.main()
