#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`why` for every kind of wait of a task, one test each, and for everything that keeps a worker from running one. The kinds are read
from the sources: a kind that no test has seen fails the last one."""
import re
import threading
import unittest

from dispatch_test import OK, Dispatching, chain, document
from server import ROOT, Client, wait_until

# Of a moment: the choice or the end is being recorded, and a test cannot hold it there. src/dispatch has tests of them.
MOMENTS = {"chosen", "ending", "unknown"}
# What a placement does not tell apart.
OTHERS = {"sealing", "dependency", "epoch", "exhausted", "stopping", "lost_before", "asked_to_swap"}
SEEN, MISFITS, LACKS = set(), set(), set()


def kinds_of_placement():
    source = (ROOT / "src" / "gateway" / "wait_reasons.cc").read_text()
    return set(re.findall(r'case Placement::Kind::k\w+: return "(\w+)";', source)) - MOMENTS


def enumerators(name):
    [body] = re.findall(r"enum class " + name + r" : std::uint8_t {([^}]*)}", (ROOT / "src" / "dispatch" / "candidate.h").read_text())
    return set(re.findall(r"\bk[A-Z]\w*", re.sub(r"//[^\n]*", "", body))) - {"kNone"}


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

    def test_a_graph_that_is_still_being_submitted(self):
        names = [f"n{number}" for number in range(40_000)]
        def submit(port, graph):
            try:
                with Client(port) as client:
                    client.post("/v1/graphs", {"document": document([{"name": name} for name in names]), "id": graph})
            except (OSError, ValueError, IndexError):
                pass  # the server is killed meanwhile
        def half(number):
            thread = threading.Thread(target=submit, args=(self.port, f"half-{number}"))
            thread.start()
            wait_until(lambda: self.client().get(f"/v1/graphs/half-{number}").status == 200, "it is not begun")
            self.restart()
            thread.join()
            reply = self.client().get(f"/v1/instances/sys/Task@1/half-{number}%2F0/why")
            return reply.json() if reply.status == 200 and reply.json()["sentence"].startswith("Its graph") else None
        why = next((found for number in range(5) if (found := half(number))), None)
        self.assertIsNotNone(why, "each of five was submitted before the server was killed")
        self.assertEqual(why, {"sentence": "Its graph is still being submitted.", "reasons": [{"kind": "sealing"}]})
        SEEN.add("sealing")

    def test_no_worker_fits_and_each_has_its_reason(self):
        whole = {"queues": ["default", "gpu"], "labels": {"zone": "eu"}, "recipes": ["llama"], "resources": {
            "cpu_milli": 8000, "memory_bytes": 8 << 30, "gpus": [{"index": 0, "type": "a100", "memory_bytes": 1 << 30}]}}
        lacking = {
            "kQueue": ({"queues": ["default"]}, "does not serve the queue gpu, only default"),
            "kType": ({"types": ["http"]}, "does not run the task type echo, only http"),
            "kLabel": ({"labels": {"zone": "us"}}, "does not have the label zone=eu"),
            "kRecipe": ({"recipes": ["qwen"]}, "does not serve the recipe llama"),
            "kCpu": ({"resources": {**whole["resources"], "cpu_milli": 1000}}, "has 1 processors; the task needs 4"),
            "kMemory": ({"resources": {**whole["resources"], "memory_bytes": 1 << 30}}, "has 1024Mi of memory; the task needs 2048Mi"),
            "kDevices": ({"resources": {**whole["resources"], "gpus": []}}, "has 0 GPUs that fit; the task needs 1 GPU of type a100"),
            "kSelected": ({}, "is not one of the selected workers: " + ", ".join(
                ["cordoned", "draining", "kCpu", "kDevices", "kLabel", "kMemory", "kQueue", "kRecipe"]) + ", ..."),
            "kSilent": ({}, "was not heard within its TTL")}
        self.worker(name="kSilent", **whole)
        self.restart()
        for name, (offer, _) in lacking.items():
            if name != "kSilent":
                self.worker(name=name, **{**whole, **offer}).sync(want=1)
        for name in ("cordoned", "draining"):
            worker = self.worker(name=name, **whole)
            if name == "cordoned":
                self.client().post(f"/v1/workers/{worker.id}/cordon", {})
            else:
                worker.sync(draining=True)
        selected = sorted([*(name for name in lacking if name != "kSelected"), "cordoned", "draining"])
        graph = self.submit({**document([{"name": "a"}], resources={
            "queue": "gpu", "labels": {"zone": "eu"}, "cpu": 4, "memory": "2Gi", "gpu": {"type": "a100"}, "recipe": "llama"}),
            "metadata": {"name": "w", "annotations": {"schedule_hint": {"selected_worker": selected}}}})
        why = self.why(graph)
        placement = self.placement(why)
        self.assertEqual((placement["kind"], placement["exhausted"]), ("none_eligible", False))
        self.assertLessEqual(placement["fails_in_ms"], 60_000)
        self.assertEqual({each["name"]: each["reason"] for each in placement["workers"]},
                         {**{name: reason for name, (_, reason) in lacking.items()}, "cordoned": "is cordoned", "draining": "is draining"})
        self.assertIn("No worker can run this task", why["sentence"])
        MISFITS.update([*lacking, "kMode"])
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
        MISFITS.add("kAvoided")
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
        LACKS.add("kSlots")
        SEEN.add("busy")

    def test_busy_and_what_each_worker_lacks_now(self):
        worker = self.worker(name="one", resources={
            "cpu_milli": 4000, "memory_bytes": 1 << 30, "gpus": [{"index": 0, "type": "a100", "memory_bytes": 1 << 30}]})
        self.submit(document([{"name": "a"}], resources={"cpu": 3, "memory": "700Mi", "gpu": {"count": 1}}))
        self.take_one(worker)
        for lack, resources, said in (
                ("kCpu", {"cpu": 2}, "has 3 of 4 processors in use"),
                ("kMemory", {"memory": "512Mi"}, "has 700Mi of 1024Mi of memory in use"),
                ("kDevices", {"gpu": {"count": 1}}, "has too few free GPUs; the task needs 1 GPU"),
                ("kPoll", {}, "is not asking for work")):
            placement = self.placement(self.why(self.submit(document([{"name": "a"}], resources=resources))))
            self.assertEqual((placement["kind"], [each["reason"] for each in placement["workers"]]), ("busy", [said]))
            LACKS.add(lack)

    def test_a_recipe_that_is_not_served_and_one_that_is_being_swapped_in(self):
        worker = self.worker(name="one", recipes=["a", "b"])
        self.assertEqual(worker.enrol().json()["takes"], ["recipes"])
        worker.sync(recipes={"serving": ["a"], "can_swap": True})
        graph = self.submit(document([{"name": "a"}], resources={"recipe": "b"}, preemptible=True))
        asked = wait_until(lambda: worker.sync(recipes={"serving": ["a"], "can_swap": True}).json().get("swap"), "it is not asked")
        self.assertEqual(asked, "b")
        why = self.why(graph)
        self.assertIn("one serves the recipe a, and is asked to swap to b", why["sentence"])
        self.assertEqual(self.placement(why)["kind"], "busy")
        SEEN.add("asked_to_swap")
        LACKS.add("kRecipe")
        wait_until(lambda: "swap" not in worker.sync(recipes={"serving": [], "swapping": "c", "can_swap": True}).json(), "it is still asked")
        self.assertIn("one is swapping to the recipe c", self.why(graph)["sentence"])
        worker.sync(recipes={"serving": ["a"], "can_swap": True, "problem": "no room"})
        self.assertIn("one serves the recipe a; its last swap was not done: no room", self.why(graph)["sentence"])
        worker.sync(recipes={"serving": [], "swapping": "b", "can_swap": True})
        why = self.why(graph)
        self.assertEqual(why["sentence"], f"Recipe b is being swapped in on worker {worker.id}.")
        placement = self.placement(why)
        self.assertEqual((placement["kind"], placement["recipe"], placement["worker"]), ("swapping", "b", worker.id))
        SEEN.add("swapping")
        def taken():
            work = worker.sync(want=1, wait_ms=1000, recipes={"serving": ["b"], "can_swap": True}).json()["work"]
            return work and work[0]
        work = wait_until(taken, "there is no work")
        self.assertEqual((work["recipe"], work["preemptible"]), ("b", True))
        for wrong, place in (({}, "$.recipes.serving"), ({"serving": "a"}, "$.recipes.serving"), ({"serving": [""]}, "$.recipes.serving[0]"),
                             ({"serving": [], "swapping": 1}, "$.recipes.swapping"), ({"serving": [], "swaps": 1}, "$.recipes"),
                             ({"serving": ["x"] * 65}, "$.recipes.serving"), ({"serving": [], "problem": "x" * 1025}, "$.recipes.problem")):
            reply = worker.sync(recipes=wrong)
            self.assertEqual(reply.status, 400, wrong)
            self.assertIn(place, reply.body.decode())

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
        self.assertEqual(SEEN, kinds_of_placement() | OTHERS)
        self.assertEqual(MISFITS, enumerators("Misfit"))
        self.assertEqual(LACKS, enumerators("Lack"))


# What it inherits runs in dispatch_test.py.
for name in list(vars(Dispatching)):
    if name.startswith("test_") and name not in vars(WhyTasks):
        setattr(WhyTasks, name, None)
del Dispatching

if __name__ == "__main__":
    unittest.main()
