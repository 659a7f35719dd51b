#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers that are broken or hostile: bodies of every wrong form, sessions and tasks of others, floods of lines, progress and
enrolments. The server answers each with a problem that names the place, keeps its bounds, and goes on serving good workers."""
import concurrent.futures
import copy
import json
import pathlib
import secrets
import unittest

from server import Client, ServerTest, wait_until
from worker_client import ProtocolWorker

ENROLMENTS = 10_000
STRANGE = [None, True, -1, 2**53 + 1, 2**64, 1e308, 0.5, "", "x" * 200, "\u0000", "../..", [], {}, [[]], {"x": {}}, [None], [-1], "0:" + "0" * 64,
           "18446744073709551616:" + "0" * 64, "1:" + "g" * 64, [{"d": 1}], [{"d": "1:" + "0" * 64}], [["a", "b", "c"]]]
RAW = [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"a":1,"a":2}', b"[" * 100_000, b'{"session":' + b"[" * 70 + b"]" * 70 + b"}",
       b'{"seq": 1e999999}', b'{"seq": NaN}', b"{}" * 1000, b'{"\\ud800": 1}']


def document(nodes):
    return {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "w"},
            "spec": {"taskType": "echo", "graph": {"nodes": nodes}}}


class Hostile(ServerTest):
    def setUp(self):
        super().setUp()
        self.start("--worker-ttl", "60s")

    def submit(self, count=1):
        reply = self.client().post("/v1/graphs", {"document": document([{"name": f"t{i}"} for i in range(count)])})
        self.assertIn(reply.status, (200, 201), reply.body)
        return reply.json()["id"]

    def worker(self, **more):
        return ProtocolWorker(self.port, **more).start()

    def take(self, worker):
        return wait_until(lambda: worker.take(wait_ms=1000), "there is no work")[0]

    def task(self, graph, number=0):
        return self.client().get(f"/v1/graphs/{graph}/tasks?results=1").json()["tasks"][number]

    def assert_well(self, worker, work, graph):
        """The work is still held, and ends as if nothing had happened."""
        self.assertEqual(worker.begin(first=False).json()["keep"], [work["d"]])
        self.assertEqual(worker.finish(work["d"], payload={"good": True}), "ok")
        wait_until(lambda: self.task(graph)["status"] == "DONE", "it does not end")
        task = self.task(graph)
        self.assertEqual((task["attempts"], task["result"]), (1, {"good": True}))

    def refused(self, reply, what):
        self.assertIsNotNone(reply, what)
        self.assertIn(reply.status, (200, 201, 400, 401, 404, 409, 413, 415, 422), (what, reply.body))
        if reply.status >= 300:
            self.assertTrue(reply.code(), (what, reply.body))

    def test_bodies_of_every_wrong_form(self):
        worker = self.worker()
        graph = self.submit()
        work = self.take(worker)
        d = work["d"]
        bodies = {
            "": {"protocol": 1, "node": "n", "name": "other", "secret": secrets.token_hex(32), "types": ["http"], "slots": 1,
                 "queues": ["default"], "labels": {"a": "b"}, "recipes": [],
                 "resources": {"cpu_milli": 1, "memory_bytes": 1, "gpus": [{"index": 0, "type": "a", "memory_bytes": 1}]}},
            f"/{worker.id}/session": {"process": worker.process, "first": False, "holding": [d]},
            f"/{worker.id}/sync": {"session": worker.session, "seq": 100, "holding": [d], "want": 0, "wait_ms": 0, "draining": False,
                                   "progress": [{"d": d, "n": 1, "payload": 1}], "logs": [{"d": d, "from": 0, "lines": [[1, "out", "x"]]}],
                                   "done": [], "back": []},
            f"/{worker.id}/leave": {"session": "0" * 32},
        }
        for path, body in bodies.items():
            for raw in RAW:
                with Client(self.port) as client:
                    self.refused(client.post("/v1/workers" + path, raw, Authorization=f"Bearer {worker.secret}"), (path, raw[:40]))
            for member in [*body, "surprise"]:
                for value in STRANGE:
                    wrong = copy.deepcopy(body)
                    wrong[member] = value
                    if path.endswith("sync") and member in ("done", "back", "draining") or member == "first" and value is True:
                        continue  # a good request, which would end what is held; the reports come below
                    self.refused(worker.post("/v1/workers" + path, wrong, worker.secret), (path, member, value))
        self.assertEqual(worker.begin(first=False).status, 200)
        for entry in ({"d": d}, {"d": d, "status": "ok"}, {"d": d, "status": "fine", "payload": 1}, {"d": d, "status": "error"},
                      {"d": d, "status": "ok", "payload": 1, "error": {"code": "x", "message": "m"}}, {"status": "ok", "payload": 1},
                      {"d": d, "status": "error", "error": {"code": "x" * 129, "message": "m"}}, {"d": 7, "status": "ok", "payload": 1},
                      {"d": d, "status": "error", "error": {"code": "x", "message": "m" * 4097}}, {"d": d, "reason": "bored"},
                      {"d": d, "reason": "drain", "resume": 1}, {"d": d, "reason": "yield", "resume": "x" * 70_000}):
            for member in ("done", "back"):
                reply = worker.sync(**{member: [entry]})
                self.assertIn(reply.status, (400, 409, 413, 422), (member, entry, reply.body))
        self.assert_well(worker, work, graph)

    def test_sessions_and_tasks_of_others(self):
        worker, thief = self.worker(name="a"), self.worker(name="b", types=["http"])
        graph = self.submit()
        work = self.take(worker)
        old = worker.session
        d = work["d"]
        # With its own secret, at another's place; with another's session, at its own place.
        for path, body in (("sync", {"session": worker.session, "seq": 50, "holding": []}), ("leave", {"session": worker.session}),
                           ("session", {"process": "p", "first": True, "holding": []})):
            self.assertEqual(thief.post(f"/v1/workers/{worker.id}/{path}", body, thief.secret).status, 401)
            self.assertEqual(thief.post(f"/v1/workers/{worker.id}/{path}", body, "").status, 401)
        stolen = {"session": worker.session, "seq": 60, "holding": [d], "done": [{"d": d, "status": "ok", "payload": "stolen"}]}
        self.assertEqual(thief.post(f"/v1/workers/{thief.id}/sync", stolen, thief.secret).code(), "session")
        # What it says about the task of another one changes nothing.
        reply = thief.sync(holding=[d], progress=[{"d": d, "n": 9, "payload": 1}], logs=[{"d": d, "from": 0, "lines": [[1, "out", "stolen"]]}],
                           done=[{"d": d, "status": "ok", "payload": "stolen"}], back=[{"d": d, "reason": "drain"}]).json()
        self.assertEqual([each["result"] for each in reply["results"]], ["stale", "stale"])
        self.assertEqual(reply["logs_to"], [[d, 1]])
        logs = self.client().get(f"/v1/graphs/{graph}/tasks/0/logs")
        self.assertNotIn(b"stolen", logs.body)
        # A session that has ended, and a number that was used before.
        worker.begin(first=False)
        ended = {"session": old, "seq": 1000, "holding": [], "done": [{"d": d, "status": "ok", "payload": "old"}]}
        self.assertEqual(worker.post(f"/v1/workers/{worker.id}/sync", ended, worker.secret).code(), "session")
        self.assertEqual(worker.post(f"/v1/workers/{worker.id}/leave", {"session": old}, worker.secret).code(), "session")
        worker.sync()
        again = {"session": worker.session, "seq": 1, "holding": [], "want": 4}
        self.assertEqual(worker.post(f"/v1/workers/{worker.id}/sync", again, worker.secret).json()["work"], [])
        self.assert_well(worker, work, graph)

    def test_many_syncs_of_one_worker_at_once(self):
        worker = self.worker()
        graph = self.submit()
        work = self.take(worker)
        def sync(number):
            body = {"session": worker.session, "seq": number, "holding": [work["d"]], "want": 4, "wait_ms": 20000}
            return worker.post(f"/v1/workers/{worker.id}/sync", body, worker.secret).status
        with concurrent.futures.ThreadPoolExecutor(40) as pool:
            # The last one is a newer one that ends all that are held back.
            replies = [pool.submit(sync, 100 + i % 20) for i in range(40)]
            wait_until(lambda: sum(each.done() for each in replies) >= 39, "they wait for each other")
            worker.seq = 1000
            worker.sync()
            self.assertEqual({each.result() for each in replies}, {200})
        self.assert_well(worker, work, graph)

    def memory(self):
        return int(next(line for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
                        if line.startswith("VmRSS")).split()[1]) * 1024

    def test_floods_of_lines_and_progress_keep_their_bounds(self):
        worker = self.worker()
        graph = self.submit()
        work = self.take(worker)
        d = work["d"]
        line = [1, "out", "x" * 8000]
        before = self.memory()
        for i in range(12):  # 8 MiB each
            reply = worker.sync(logs=[{"d": d, "from": 1000 * i, "lines": [line] * 1000}])
            self.assertEqual(reply.json()["logs_to"], [[d, 1000 * i + 1000]])
        self.assertLess(self.memory() - before, 96 << 20, "lines are kept beyond their bound")
        self.assertLess(self.figure("holdfast_task_log_bytes"), 2 << 20)
        self.assertEqual(worker.sync(logs=[{"d": d, "from": 0, "lines": [[1, "out", "x" * 8193]]}]).code(), "bad_body")
        self.assertEqual(worker.sync(logs=[{"d": d, "from": 0, "lines": [line] * 1001}]).code(), "bad_body")
        self.assertEqual(worker.sync(logs=[{"d": d, "from": 0, "lines": []}] * 257).code(), "bad_body")
        self.assertEqual(worker.sync(progress=[{"d": d, "n": 1, "payload": "x" * 70_000}]).code(), "too_large")
        for i in range(3):
            reply = worker.sync(progress=[{"d": d, "n": 1 + 100 * i + j, "payload": "x" * 60_000} for j in range(100)])
            self.assertEqual(reply.status, 200)
        self.assertEqual(worker.sync(progress=[{"d": d, "n": 7, "payload": "late"}]).status, 200)
        self.assertEqual(worker.sync(holding=["x"] * 65_537).code(), "bad_body")
        dropped = worker.sync(holding=[d] + [f"{i}:{'0' * 64}" for i in range(1, 65_536)]).json()["drop"]
        self.assertEqual(len(dropped), 65_535)
        self.assert_well(worker, work, graph)

    def test_very_many_workers_enrol_and_a_good_one_is_served(self):
        def enrol(number):
            body = {"protocol": 1, "node": f"n{number % 7}", "name": f"w{number}", "secret": secrets.token_hex(32), "types": ["http"]}
            with Client(self.port) as client:
                return client.post("/v1/workers", body).status
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            statuses = list(pool.map(enrol, range(ENROLMENTS)))
        self.assertEqual(set(statuses), {201})
        worker = self.worker(name="good")
        graph = self.submit()
        work = self.take(worker)
        seen, after = 0, ""
        while after is not None:
            page = self.client().get(f"/v1/workers?limit=1000{after}").json()
            seen += len(page["workers"])
            after = f"&after={page['next']}" if page.get("next") else None
        self.assertEqual(seen, ENROLMENTS + 1)
        self.kill()
        self.start("--worker-ttl", "60s")
        worker.port = self.port
        self.assertEqual(self.client().get(f"/v1/workers/{worker.id}").status, 200)
        self.assert_well(worker, work, graph)
        self.assertLess(self.memory(), 1 << 30)


if __name__ == "__main__":
    unittest.main()
