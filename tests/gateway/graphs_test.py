#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Task graphs through a real server: what is submitted runs to its end, also when the server is killed in between."""
import json
import os
import pathlib
import random
import time
import unittest

VECTORS_GIVEN = os.environ.get("HOLDFAST_VECTORS")  # the server's own settings are taken away below

from server import BUILD, ROOT, ServerTest, wait_until

RUN = "sys/task.run@1"
VECTORS = pathlib.Path(VECTORS_GIVEN or ROOT.parent / "shared" / "vectors") / "flowmesh"


def document(nodes, annotations=None, **spec):
    metadata = {"name": "w", **({"annotations": annotations} if annotations else {})}
    return {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": metadata,
            "spec": {"taskType": "echo", **spec, "graph": {"nodes": nodes}}}


def chain(*names):
    return document([{"name": name, **({"dependsOn": [names[i - 1]]} if i else {})} for i, name in enumerate(names)])


class GraphServer(ServerTest):
    """A server whose tasks wait for what the test says."""
    program = BUILD / "tests" / "task_server"

    def setUp(self):
        super().setUp()
        self.verdicts = self.folder / "verdicts"
        self.verdicts.mkdir()
        os.environ["TASK_VERDICTS"] = str(self.verdicts)
        self.graphs = set()

    def start(self, *arguments, command="serve"):
        super().start("--handler-threads", "32", *arguments, command=command)

    def submit(self, document, **more):
        reply = self.client().post("/v1/graphs", {"document": document, **more})
        self.assertIn(reply.status, (200, 201), reply.body)
        self.graphs.add(reply.json()["id"])
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

    def open_runs(self):
        """The tasks that wait for a worker, or that one has, by key."""
        return [f"{graph}/{task['task']}" for graph in sorted(self.graphs) for task in self.tasks(graph) if task["ready"]]

    def why(self, key):
        return self.client().get(f"/v1/instances/sys/Task@1/{key.replace('/', '%2F')}/why").json()

    def intent_of(self, key):
        def look():
            reasons = self.why(key)["reasons"]
            return next((reason["intent"] for reason in reasons if reason.get("effect") == RUN), None)
        return wait_until(look, f"{key} does not become ready")

    def say(self, key, verdict):
        """What came of a task; waits until its graph has heard of it."""
        intent = self.intent_of(key)
        file = self.verdicts / intent.removeprefix("sha256:")
        (self.verdicts / "new").write_text(verdict)
        (self.verdicts / "new").rename(file)
        wait_until(lambda: all(reason.get("intent") != intent for reason in self.why(key)["reasons"]),
                   f"nobody hears of {key}")

    def done(self, key, result=None):
        self.say(key, "+" + json.dumps(result))

    def failed(self, key, retryable=False, message="it broke"):
        self.say(key, ("-" if retryable else "!") + message)

    def crash(self):
        self.kill()
        self.start()


class Graphs(GraphServer):
    def test_a_chain_reaches_done_over_kills_at_every_step(self):
        self.start()
        graph = self.submit(chain("a", "b", "c"), id="nightly")
        self.assertEqual(graph, "nightly")
        for number in range(3):
            self.crash()
            self.assertEqual(self.open_runs(), [f"nightly/{number}"], "nothing is lost, nothing is early")
            self.done(f"nightly/{number}", {"n": number})
        self.crash()
        found = self.graph(graph)
        self.assertEqual((found["status"], found["verdict"], found["done"], found["pending"]), ("DONE", "DONE", 3, 0))
        self.assertEqual([task["result"] for task in self.tasks(graph, "&results=1")], [{"n": 0}, {"n": 1}, {"n": 2}])
        self.assertEqual(self.open_runs(), [])

    def test_the_same_submission_again_changes_nothing_and_another_one_is_refused(self):
        self.start()
        self.submit(chain("a", "b"), id="g")
        client = self.client()
        again = client.post("/v1/graphs", {"document": chain("a", "b"), "id": "g"})
        self.assertEqual((again.status, again.json()), (200, {"id": "g", "tasks": 2, "repeated": True}))
        self.assertEqual(client.post("/v1/graphs", {"document": chain("a", "b")}, Idempotency_Key="g").status, 200)
        other = client.post("/v1/graphs", {"document": chain("a", "c"), "id": "g"})
        self.assertEqual((other.status, other.code()), (409, "conflict"), other.body)
        self.assertEqual(self.open_runs(), ["g/0"])

    def test_a_document_may_be_yaml_and_one_that_is_wrong_is_refused_with_every_place(self):
        self.start()
        yaml = ("apiVersion: holdfast/v1\nkind: Workflow\nmetadata: {name: hello}\n"
                "spec:\n  taskType: echo\n  data: {items: [hello]}\n")
        graph = self.submit(yaml)
        self.assertEqual(self.graph(graph)["name"], "hello")
        client = self.client()
        bad = document([{"name": "a", "dependsOn": ["b"]}, {"name": "c", "wrong": 1}])
        refused = client.post("/v1/graphs", {"document": bad, "id": "bad"})
        self.assertEqual((refused.status, refused.code()), (422, "schema"), refused.body)
        self.assertEqual(refused.json()["path"], "$.document")
        for place in ("spec.graph.nodes[0].dependsOn[0]", "spec.graph.nodes[1].wrong"):
            self.assertIn(place, refused.json()["detail"])
        self.assertEqual(client.get("/v1/graphs/bad").code(), "not_found", "nothing is stored")
        for body in ({"document": 7}, {"document": ""}, {"document": "a: [", "id": "x"}, {}, {"document": {}, "id": "a/b"}):
            self.assertIn(client.post("/v1/graphs", body).status, (400, 422), body)

    def test_a_failure_takes_its_descendants_and_other_branches_go_on(self):
        self.start()
        nodes = [{"name": "a"}, {"name": "b", "dependsOn": ["a"]}, {"name": "c", "dependsOn": ["b"]}, {"name": "x"}]
        graph = self.submit(document(nodes))
        self.failed(f"{graph}/0", message="no such file")
        self.crash()
        self.assertEqual(self.states(graph), {"a": "FAILED", "b": "FAILED", "c": "FAILED", "x": "PENDING"})
        found = self.graph(graph)
        self.assertEqual((found["status"], found["verdict"]), ("PENDING", "FAILED"))
        self.assertEqual(self.tasks(graph)[2]["origin"], "a")
        self.done(f"{graph}/3")
        found = self.graph(graph)
        self.assertEqual((found["status"], found["error"]), ("FAILED", "a: no such file"))

    def test_conditions_are_looked_at_in_the_results(self):
        self.start()
        nodes = [{"name": "judge"},
                 {"name": "yes", "dependsOn": ["judge"],
                  "spec": {"condition": {"node": "judge", "field": "ok", "equals": True}}},
                 {"name": "no", "dependsOn": ["judge"],
                  "spec": {"condition": {"node": "judge", "field": "ok", "equals": False}}},
                 {"name": "after", "dependsOn": ["no"]}]
        graph = self.submit(document(nodes))
        self.done(f"{graph}/0", {"ok": True})
        wait_until(lambda: set(self.open_runs()) == {f"{graph}/1", f"{graph}/3"}, "the conditions are not looked at")
        self.crash()
        no = self.tasks(graph, "&results=1")[2]
        self.assertEqual((no["status"], no["skipped"], no["result"]), ("DONE", True, {"metadata": {"skipped": True}}))
        self.done(f"{graph}/1")
        self.done(f"{graph}/3")
        self.assertEqual((self.graph(graph)["status"], self.graph(graph)["skipped"]), ("DONE", 1))

    def test_an_epoch_waits_for_the_one_before_it(self):
        self.start()
        hint = {"schedule_hint": {"node_execution_order": [["a", "b"], ["c"]]}}
        graph = self.submit(document([{"name": "c"}, {"name": "a"}, {"name": "b"}], hint))
        self.done(f"{graph}/0")
        self.crash()
        self.assertEqual((self.graph(graph)["frontier"], self.open_runs()), (0, [f"{graph}/1"]))
        self.done(f"{graph}/1")
        self.crash()
        self.assertEqual((self.graph(graph)["frontier"], self.open_runs()), (1, [f"{graph}/3"]))
        self.done(f"{graph}/3")
        self.assertEqual(self.graph(graph)["status"], "DONE")

    def test_cancel_ends_a_graph_and_one_task(self):
        self.start()
        client = self.client()
        graph = self.submit(chain("a", "b", "c"))
        self.done(f"{graph}/0")
        reply = client.post(f"/v1/graphs/{graph}/cancel", {"reason": "too late"})
        self.assertEqual(reply.status, 200, reply.body)
        self.crash()
        client = self.client()
        found = self.graph(graph)
        self.assertEqual((found["status"], found["reason"], found["cancelled"], found["done"]),
                         ("CANCELLED", "too late", 2, 1))
        self.assertEqual(client.post(f"/v1/graphs/{graph}/cancel", {}).code(), "conflict")
        self.assertEqual(client.post("/v1/graphs/none/cancel", {}).code(), "not_found")
        other = self.submit(document([{"name": "a"}, {"name": "b", "dependsOn": ["a"]}, {"name": "x"}]))
        self.assertEqual(client.post(f"/v1/graphs/{other}/tasks/0/cancel", {}).status, 200)
        self.assertEqual(self.states(other), {"a": "CANCELLED", "b": "CANCELLED", "x": "PENDING"})
        for task, code in (("0", "conflict"), ("9", "not_found"), ("x", "not_found")):
            self.assertEqual(client.post(f"/v1/graphs/{other}/tasks/{task}/cancel", {}).code(), code, task)

    def test_a_rerun_keeps_what_is_done_and_runs_the_rest(self):
        self.start()
        client = self.client()
        nodes = [{"name": "a"}, {"name": "b", "dependsOn": ["a"]}, {"name": "c", "dependsOn": ["b"]}]
        graph = self.submit(document(nodes), id="old")
        self.assertEqual(client.post("/v1/graphs/old/rerun", {}).code(), "conflict", "it has not ended")
        self.done("old/0", {"kept": 1})
        self.failed("old/1")
        reply = client.post("/v1/graphs/old/rerun", {"id": "new"})
        self.assertEqual((reply.status, reply.json()["id"]), (201, "new"), reply.body)
        self.assertEqual(client.post("/v1/graphs/old/rerun", {"id": "new"}).status, 200, "the same again")
        self.graphs = {"new"}
        self.crash()
        client = self.client()
        self.assertEqual(self.open_runs(), ["new/1"])
        self.assertEqual(self.tasks("new", "&results=1")[0]["result"], {"kept": 1})
        self.done("new/1")
        self.done("new/2")
        self.assertEqual((self.graph("new")["status"], self.graph("new")["rerun_of"]), ("DONE", "old"))
        self.assertEqual(client.post("/v1/graphs/new/rerun", {}).code(), "conflict", "all are done")
        self.assertEqual(client.post("/v1/graphs/none/rerun", {}).code(), "not_found")

    def test_a_large_graph_comes_in_in_parts_whole_or_not_at_all(self):
        """The server is killed while it comes in; what is sent again goes on."""
        self.start()
        nodes = [{"name": f"n{i}", "dependsOn": [f"n{i - 1}"] if i % 7 else []} for i in range(3000)]
        for _ in range(3):
            client = self.client()
            body = json.dumps({"document": document(nodes), "id": "big"}).encode()
            client.send(b"POST /v1/graphs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        b"Content-Length: %d\r\n\r\n" % len(body) + body)
            time.sleep(random.random() * 0.2)
            self.crash()
            reply = self.client().get("/v1/graphs/big")
            if reply.status == 200 and reply.json()["status"] == "ENTERING":
                self.assertEqual(self.open_runs(), [], "half a graph does not run")
        self.submit(document(nodes), id="big")
        found = self.graph("big")
        self.assertEqual((found["status"], found["tasks"], found["pending"]), ("PENDING", 3000, 3000))
        page = self.client().get("/v1/graphs/big/tasks?limit=1000&from=2500").json()
        self.assertEqual((len(page["tasks"]), page["next"]), (500, None))
        ready = 0
        for first in (0, 1000, 2000):
            ready += sum(task["ready"] for task in self.tasks("big", f"&from={first}"))
        self.assertEqual(ready, 429)

    def test_why_names_what_a_task_waits_for(self):
        self.start()
        hint = {"schedule_hint": {"node_execution_order": [["a", "b"], ["c"]]}}
        self.submit(document([{"name": "a"}, {"name": "b", "dependsOn": ["a"]}, {"name": "c"}], hint), id="g")

        dependency = self.why("g/1")
        self.assertEqual(dependency, {"sentence": "It waits for 1 task before it: 'a' is PENDING.",
                                      "reasons": [{"kind": "dependency", "task": 0, "name": "a", "status": "PENDING"}]})
        epoch = self.why("g/3")
        self.assertEqual(epoch, {"sentence": "It waits for 1 task before it: epoch 1 has not begun.",
                                 "reasons": [{"kind": "epoch", "task": 2, "epoch": 1}]})
        self.assertEqual(self.why("g/0")["reasons"][0]["effect"], RUN)

    def test_a_graph_is_forgotten_whole_when_its_time_is_over(self):
        self.start("--graph-retention", "1s", "--retention", "1s")
        self.submit(chain("a", "b"), id="open")
        self.done("open/0")
        self.submit(chain("a", "b"), id="over")
        self.done("over/0")
        self.done("over/1")
        client = self.client()
        wait_until(lambda: client.get("/v1/graphs/over").status == 404, "the graph is not forgotten")
        for number in (0, 1):
            self.assertEqual(client.get(f"/v1/instances/sys/Task@1/over%2F{number}").status, 404)
        self.assertEqual(client.get("/v1/instances/sys/Task@1/open%2F0").json()["status"], "completed",
                         "tasks stay as long as their graph")
        self.submit(chain("a", "b"), id="over")  # the id may begin again
        self.done("open/1")
        self.assertEqual(self.graph("open")["status"], "DONE")

    @unittest.skipUnless(VECTORS.is_dir(), "there are no vectors")
    def test_documents_of_flowmesh_run_unchanged_or_are_refused_with_a_reason(self):
        self.start()
        for file in sorted(VECTORS.glob("*.yaml")):
            reply = self.client().post("/v1/graphs", {"document": file.read_text(), "id": file.stem})
            if file.stem == "ssh_noninteractive":
                self.assertEqual(reply.status, 422)
                self.assertIn("'ssh'", reply.json()["detail"])
                continue
            self.assertEqual(reply.status, 201, reply.body)
            self.graphs.add(file.stem)

        def run_what_is_open():
            for key in self.open_runs():
                self.done(key, {"items": [{"output": "echo"}]})
            return all(self.graph(graph)["status"] == "DONE" for graph in self.graphs)
        wait_until(run_what_is_open, "they do not come to their end")

    def test_graphs_are_listed_and_tasks_are_instances_that_only_their_graph_ends(self):
        self.start()
        client = self.client()
        for name in ("one", "two"):
            self.submit(chain("a"), id=name)
        self.done("one/0")
        listed = wait_until(lambda: (lambda all: all if len(all) == 2 else None)(
            client.get("/v1/graphs").json()["graphs"]), "they are not listed")
        self.assertEqual({graph["id"]: graph["status"] for graph in listed}, {"one": "DONE", "two": "PENDING"})
        self.assertEqual([graph["id"] for graph in client.get("/v1/graphs?open=1").json()["graphs"]], ["two"])
        task = "/v1/instances/sys/Task@1/two%2F0"
        self.assertEqual(client.get(task).json()["status"], "waiting")
        self.assertEqual(client.post(task + "/cancel", {}).code(), "conflict")
        self.assertEqual(client.post("/v1/instances/sys/Graph@1/two/cancel", {}).code(), "conflict")
        event = {"schema": "sys/TaskDependencyEnded@1",
                 "value": {"key": "two/0", "state": 3, "epoch": False, "origin": 0, "name": ""}}
        self.assertEqual(client.post(task + "/signal", event).code(), "conflict", "others cannot say what a task says")
        self.assertEqual(client.post("/v1/events", event).status, 404)
        self.assertEqual(self.states("two"), {"a": "PENDING"})
        journal = client.get("/v1/journal?limit=1000")
        self.assertEqual(journal.status, 200)


if __name__ == "__main__":
    unittest.main()
