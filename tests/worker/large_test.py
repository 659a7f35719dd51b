#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results that are too large for the cell of a task: kept as blobs, read by other tasks, printed, and collected with their graph."""
import json
import unittest

from live import LiveTest, wait_until

FUNCTIONS = """
def make(input):
    return {"kind": "large", "items": ["x" * 100] * input["count"]}


def count(input):
    return {"items": len(input["items"]), "first": input["items"][0]}


def forge(input):
    return {"$blob": "a" * 64, "bytes": 7}


def same(input):
    return input["value"]
"""

COUNT = 30_000  # three million bytes


def document(*nodes):
    return {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "large"},
            "spec": {"maxAttempts": 1, "graph": {"nodes": list(nodes)}}}


def node(name, task_type, after=(), **spec):
    return {"name": name, "dependsOn": list(after), "spec": {"taskType": task_type, **spec}}


class LargeResults(LiveTest):
    settings = ("--graph-retention", "2s")

    def setUp(self):
        super().setUp()
        (self.folder / "functions.py").write_text(FUNCTIONS)
        self.worker("--python", self.folder / "functions.py")

    def run_graph(self, graph, *nodes, status="DONE"):
        (self.folder / "graph.json").write_text(json.dumps(document(*nodes)))
        self.command("submit", self.folder / "graph.json", "--id", graph)
        wait_until(lambda: self.graph(graph)["status"] == status, f"{graph} is not {status}")

    def graph(self, graph):
        reply = self.client().get(f"/v1/graphs/{graph}")
        return reply.json() if reply.status == 200 else {"status": "forgotten"}


class Reading(LargeResults):
    settings = ()

    def test_a_large_result_is_returned_read_and_printed(self):
        self.run_graph("g", node("make", "make", count=COUNT), node("count", "count", ["make"], items="${make.items}"),
                       node("taken", "same", ["make"], value="taken", condition={"node": "make", "field": "kind", "equals": "large"}),
                       node("left", "same", ["make"], value="left", condition={"node": "make", "field": "kind", "equals": "small"}))
        made = {"kind": "large", "items": ["x" * 100] * COUNT}
        self.assertEqual(self.ask("result", "g/make"), made)
        self.assertEqual(self.ask("result", "g/count"), {"items": COUNT, "first": "x" * 100})
        self.assertEqual(json.loads(self.command("result", "g/make")), made)
        tasks = {task["name"]: task for task in self.client().get("/v1/graphs/g/tasks?results=1").json()["tasks"]}
        self.assertEqual(set(tasks["make"]["result"]), {"$blob", "bytes"})
        self.assertGreater(tasks["make"]["result"]["bytes"], 100 * COUNT)
        self.assertEqual(tasks["taken"]["result"], "taken")
        self.assertEqual(tasks["left"]["result"], {"metadata": {"skipped": True}})
        self.kill()
        self.start()
        self.assertEqual(self.ask("result", "g/make"), made)

    def test_a_whole_large_result_is_an_input(self):
        self.run_graph("g", node("make", "make", count=COUNT), node("same", "same", ["make"], value="${make}"))
        self.assertEqual(self.ask("result", "g/same"), self.ask("result", "g/make"))

    def test_what_looks_like_a_reference_is_a_value(self):
        self.run_graph("g", node("forge", "forge"), node("same", "same", ["forge"], value="${forge.bytes}"))
        self.assertEqual(self.ask("result", "g/forge"), {"$blob": "a" * 64, "bytes": 7})
        self.assertEqual(self.ask("result", "g/same"), 7)

    def test_a_result_beyond_the_bound_fails_its_task(self):
        self.run_graph("g", node("make", "make", count=90_000), status="FAILED")
        [task] = self.ask("tasks", "g")["tasks"]
        self.assertEqual(task["error"]["code"], "task.result_too_large")
        self.assertIn("8388608", task["error"]["message"])

    def test_inputs_that_are_too_large_together_fail_their_task(self):
        self.run_graph("g", node("make", "make", count=50_000), node("both", "same", ["make"], value=["${make}", "${make}"]),
                       status="FAILED")
        tasks = {task["name"]: task for task in self.ask("tasks", "g")["tasks"]}
        self.assertEqual((tasks["make"]["status"], tasks["both"]["error"]["code"]), ("DONE", "task.bad_reference"))
        self.assertIn("more than 8388608 bytes", tasks["both"]["error"]["message"])

    def test_a_task_that_is_not_done_has_no_result(self):
        reply = self.client().get("/v1/graphs/g/tasks/0/result")
        self.assertEqual((reply.status, reply.json()["code"]), (404, "not_found"))
        self.run_graph("g", node("make", "make", count=90_000), status="FAILED")
        reply = self.client().get("/v1/graphs/g/tasks/0/result")
        self.assertEqual((reply.status, reply.json()["code"]), (409, "conflict"))


class Collecting(LargeResults):
    def collect(self):
        """What a collection of the stopped world says of effects.db."""
        self.assertEqual(self.stop(), 0)
        done = self.run_program("gc", self.world, "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)["effects"]

    def fill_a_segment(self, graph):
        self.run_graph(graph, *(node(f"n{number}", "same", value=1, filler="x" * 250_000) for number in range(40)))

    def test_large_results_are_collected_with_their_graph(self):
        self.run_graph("g", node("make", "make", count=COUNT))
        self.assertEqual(self.collect()["removed"], 0)
        self.start(*self.settings)
        self.worker("--python", self.folder / "functions.py", name="second")
        wait_until(lambda: self.graph("g")["status"] == "forgotten", "the graph is still there")
        named = self.last_record()
        # The journal keeps what is behind the older of two snapshots, and what the index has not read yet.
        for number in range(20):
            self.fill_a_segment(f"after-{number}")
            self.command("snapshot", "take")
            if self.client().get("/v1/journal?limit=1").json()["first"] > named:
                break
        collected = self.collect()
        self.assertEqual(collected["removed"], 1, collected)
        self.assertGreater(collected["removed_bytes"], 100 * COUNT)


if __name__ == "__main__":
    unittest.main()
