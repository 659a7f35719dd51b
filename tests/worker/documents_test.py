#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documents as people write them, through a real server and a real worker: good ones run to DONE, bad ones are refused with their
place, and leave nothing."""
import json
import os
import pathlib
import unittest

from live import ROOT, LiveTest, wait_until

VECTORS = pathlib.Path(os.environ.get("HOLDFAST_VECTORS", ROOT.parent / "shared" / "vectors")) / "flowmesh"

CONDITIONAL = """
apiVersion: flowmesh/v1
kind: EchoTask
metadata: {name: conditional}
spec:
  taskType: echo
  resources: {hardware: {cpu: 0.1, memory: 16Mi}}
  graph:
    nodes:
      - name: verdict
        spec: {data: {items: [skip-me]}}
      - name: maybe
        dependsOn: [verdict]
        spec:
          condition: {node: verdict, field: items.0.output, equals: run-me}
      - name: always
        dependsOn: [verdict, maybe]
        spec:
          data: {items: [{node: verdict, path: "items[0].output"}, "got ${verdict.items[0].output}"]}
"""

EPOCHS = """
apiVersion: flowmesh/v1
kind: Workflow
metadata:
  name: epochs
  annotations:
    schedule_hint:
      node_schedule_in_epoch_order: true
      node_execution_order: [[a, b], [c]]
spec:
  taskType: echo
  graph:
    nodes:
      - {name: a}
      - {name: b}
      - {name: c, dependsOn: [a]}
"""

GOOD = {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "w"}, "spec": {"taskType": "echo"}}


def with_nodes(*nodes, **spec):
    return {**GOOD, "spec": {"taskType": "echo", **spec, "graph": {"nodes": list(nodes)}}}


def with_spec(**spec):
    return {**GOOD, "spec": {"taskType": "echo", **spec}}


def with_hint(hint, *names):
    return {**with_nodes(*({"name": name} for name in names)), "metadata": {"name": "w", "annotations": {"schedule_hint": hint}}}


A = {"name": "a"}


def after(*names, name="b", **spec):
    return {"name": name, "dependsOn": list(names), **({"spec": spec} if spec else {})}


# A document, and the place that its refusal names.
MALFORMED = [
    ([], "expected a mapping"),
    ({}, "apiVersion"),
    ({**GOOD, "apiVersion": "v2"}, "apiVersion"),
    ({**GOOD, "apiVersion": 1}, "apiVersion"),
    ({**GOOD, "extra": 1}, "extra"),
    ({key: value for key, value in GOOD.items() if key != "kind"}, "kind"),
    ({**GOOD, "kind": 7}, "kind"),
    ({**GOOD, "metadata": None}, "metadata"),
    ({**GOOD, "metadata": {}}, "metadata"),
    ({**GOOD, "metadata": {"name": ""}}, "metadata.name"),
    ({**GOOD, "metadata": {"name": "w", "labels": {}}}, "metadata.labels"),
    ({**GOOD, "metadata": {"name": "w", "owner": 3}}, "metadata.owner"),
    ({**GOOD, "metadata": {"name": "w", "annotations": []}}, "metadata.annotations"),
    ({**GOOD, "spec": None}, "spec"),
    ({**GOOD, "spec": []}, "spec"),
    ({**GOOD, "spec": {}}, "spec.taskType"),
    (with_spec(taskType=5), "spec.taskType"),
    (with_spec(taskType=""), "spec.taskType"),
    ({**GOOD, "apiVersion": "flowmesh/v1", "spec": {"taskType": "ssh"}}, "spec.taskType"),
    (with_spec(resources=[]), "spec.resources"),
    (with_spec(resources={"cpus": 2}), "spec.resources.cpus"),
    (with_spec(resources={"cpu": -1}), "spec.resources.cpu"),
    (with_spec(resources={"cpu": "many"}), "spec.resources.cpu"),
    (with_spec(resources={"memory": "256Mib"}), "spec.resources.memory"),
    (with_spec(resources={"gpu": {"count": 1.5}}), "spec.resources.gpu.count"),
    (with_spec(resources={"gpu": {"vram": 1}}), "spec.resources.gpu.vram"),
    (with_spec(resources={"hardware": {"disk": 1}}), "spec.resources.hardware.disk"),
    (with_spec(resources={"labels": {"zone": 1}}), "spec.resources.labels.zone"),
    (with_spec(resources={"recipe": 1}), "spec.resources.recipe"),
    (with_spec(priority=1.5), "spec.priority"),
    (with_spec(priority=10**9), "spec.priority"),
    (with_spec(maxAttempts=0), "spec.maxAttempts"),
    (with_spec(maxAttempts="3"), "spec.maxAttempts"),
    (with_spec(timeout=30), "spec.timeout"),
    (with_spec(timeout="soon"), "spec.timeout"),
    (with_spec(queueTimeout="-1s"), "spec.queueTimeout"),
    (with_spec(effects="some"), "spec.effects"),
    (with_spec(preemptible="yes"), "spec.preemptible"),
    (with_spec(replayable=1), "spec.replayable"),
    (with_spec(concurrency={"key": "x"}), "spec.concurrency"),
    (with_spec(concurrency={"key": "x", "limit": 0}), "spec.concurrency.limit"),
    (with_spec(stages=[], graph={"nodes": []}), "spec"),
    (with_spec(stages={}), "spec.stages"),
    (with_spec(stages=[]), "spec.stages"),
    (with_spec(stages=[{"name": "a", "dependsOn": ["b"]}, {"name": "b"}]), "spec.stages[0].dependsOn[0]"),
    (with_spec(graph={}), "spec.graph"),
    (with_spec(graph={"nodes": {}}), "spec.graph.nodes"),
    (with_spec(graph={"nodes": [A], "edges": []}), "spec.graph.edges"),
    (with_nodes(3), "spec.graph.nodes[0]"),
    (with_nodes({"name": "a b"}), "spec.graph.nodes[0].name"),
    (with_nodes({"name": "a", "id": "b"}), "spec.graph.nodes[0]"),
    (with_nodes(A, A), "spec.graph.nodes[1].name"),
    (with_nodes({"name": "a", "needs": []}), "spec.graph.nodes[0].needs"),
    (with_nodes({"name": "a", "dependsOn": "b"}), "spec.graph.nodes[0].dependsOn"),
    (with_nodes(after("a", name="a")), "spec.graph.nodes[0].dependsOn[0]"),
    (with_nodes(A, after("c")), "spec.graph.nodes[1].dependsOn[0]"),
    (with_nodes(after("b", name="a"), after("a")), "spec.graph.nodes"),
    (with_nodes(A, {"name": "b", "spec": {"x": "${a.y}"}}), "spec.graph.nodes[1].spec.x"),
    (with_nodes(A, after("a", x="${c.y}")), "spec.graph.nodes[1].spec.x"),
    (with_nodes(A, after("a", x="${a.y")), "spec.graph.nodes[1].spec.x"),
    (with_nodes(A, after("a", condition={"node": "a", "field": "x"})), "spec.graph.nodes[1].spec.condition"),
    (with_nodes(A, {"name": "b", "spec": {"condition": {"node": "a", "field": "x", "equals": 1}}}),
     "spec.graph.nodes[1].spec.condition.node"),
    (with_nodes({"name": "a", "foreach": 3}), "spec.graph.nodes[0].foreach"),
    (with_nodes({"name": "a", "foreach": []}), "spec.graph.nodes[0].foreach"),
    (with_hint({"node_execution_order": [["a"]]}, "a", "b"), "metadata.annotations.schedule_hint.node_execution_order"),
    (with_hint({"node_execution_order": [["a"], []]}, "a"), "metadata.annotations.schedule_hint.node_execution_order[1]"),
    (with_hint({"node_execution_order": [["a", "x"]]}, "a"), "metadata.annotations.schedule_hint.node_execution_order[0][1]"),
    (with_hint({"order": []}, "a"), "metadata.annotations.schedule_hint.order"),
    (with_hint({"selected_worker": []}, "a"), "metadata.annotations.schedule_hint.selected_worker"),
]


class Documents(LiveTest):
    def run_text(self, text, graph):
        (self.folder / "document.yaml").write_text(text)
        self.ask("submit", "document.yaml", "--id", graph)
        watched = self.run_program("watch", graph, "--server", self.url)
        self.assertEqual(watched.returncode, 0, watched.stdout)

    def test_conditions_references_and_epochs_run_to_done(self):
        self.worker()
        self.run_text(CONDITIONAL, "conditional")
        tasks = {task["name"]: task for task in self.client().get("/v1/graphs/conditional/tasks?results=1").json()["tasks"]}
        self.assertEqual({name: (task["status"], task["skipped"]) for name, task in tasks.items()},
                         {"verdict": ("DONE", False), "maybe": ("DONE", True), "always": ("DONE", False)})
        self.assertEqual([item["output"] for item in tasks["always"]["result"]["items"]], ["skip-me", "got skip-me"])
        self.run_text(EPOCHS, "epochs")
        tasks = {task["name"]: task for task in self.client().get("/v1/graphs/epochs/tasks").json()["tasks"]}
        self.assertGreaterEqual(tasks["c"]["ready_ns"], max(tasks["a"]["ended_ns"], tasks["b"]["ended_ns"]))

    def test_tasks_go_to_workers_with_their_queue_and_recipe(self):
        for name, flags in (("plain", ()), ("queue", ("--queue", "gpu")), ("recipe", ("--recipe", "llama"))):
            self.worker(*flags, name=name)
        for graph, needed, expected in (("a", {"queue": "gpu"}, "queue"), ("b", {"recipe": "llama"}, "recipe")):
            (self.folder / "document.yaml").write_text(json.dumps({
                "apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "w"},
                "spec": {"taskType": "echo", "resources": needed, "data": {"items": [1], "delay_sec": 3600}}}))
            self.ask("submit", "document.yaml", "--id", graph)
            [task] = wait_until(lambda: [each for each in self.ask("tasks", graph)["tasks"] if "worker" in each], "no worker takes it")
            self.assertEqual(self.client().get(f"/v1/workers/{task['worker']}").json()["name"], expected)
            self.command("cancel", graph)

    @unittest.skipUnless(VECTORS.is_dir(), "the published vectors are not here: set HOLDFAST_VECTORS to their folder")
    def test_documents_of_flowmesh_run_unchanged_or_are_refused(self):
        self.worker()
        ran = refused = 0
        for file in sorted(VECTORS.glob("*.yaml")):
            if "taskType: ssh" in file.read_text():
                before = self.last_record()
                done = self.run_program("submit", file, "--server", self.url)
                self.assertEqual(done.returncode, 1)
                self.assertIn("spec.taskType: unknown task type 'ssh'", done.stderr)
                self.assertIn("allowed: echo, http, node, process, python", done.stderr)
                self.assertEqual(self.last_record(), before)
                refused += 1
            else:
                with self.subTest(file.name):
                    self.run_text(file.read_text(), file.stem)
                ran += 1
        self.assertEqual((ran, refused), (5, 1))

    def test_malformed_documents_are_refused_with_their_place_and_leave_nothing(self):
        self.assertGreaterEqual(len(MALFORMED), 50)
        before = self.last_record()
        for document, place in MALFORMED:
            with self.subTest(document=document):
                reply = self.client().post("/v1/graphs", {"document": document})
                self.assertEqual((reply.status, reply.code()), (422, "schema"), reply.body)
                self.assertIn(place, reply.json()["detail"])
                checked = self.folder / "checked.json"
                checked.write_text(json.dumps(document))
                done = self.run_program("validate", checked)
                if "ssh" not in json.dumps(document):  # which task types there are is known to a server
                    self.assertEqual(done.returncode, 1, done.stdout)
        for text in ("", "a: [", "a: 1\na: 2", "\t", "&a [*a]", "x" * (2 << 20)):
            reply = self.client().post("/v1/graphs", {"document": text})
            self.assertGreaterEqual(reply.status, 400, text[:20])
            self.assertLess(reply.status, 500, text[:20])
        self.assertEqual(self.last_record(), before, "something was recorded")
        self.assertEqual(self.ask("tasks")["graphs"], [])


if __name__ == "__main__":
    unittest.main()
