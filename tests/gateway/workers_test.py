#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers: enrolment, sessions and what operators do with them (docs/worker-protocol.md)."""
import json
import unittest

from server import ServerTest, wait_until
from worker_client import ProtocolWorker


class Workers(ServerTest):
    def setUp(self):
        super().setUp()
        self.start()

    def worker(self, **more):
        return ProtocolWorker(self.port, **more)

    def listed(self):
        return self.client().get("/v1/workers").json()["workers"]

    def test_a_worker_enrols_once_however_often_it_asks(self):
        worker = self.worker()
        first, second = worker.enrol(), worker.enrol(slots=9)
        self.assertEqual((first.status, second.status), (201, 200))
        self.assertEqual(first.json()["worker"], second.json()["worker"])
        [listed] = self.listed()
        self.assertEqual((listed["name"], listed["node"], listed["mode"], listed["slots"], listed["live"]),
                         ("w", "n", "active", 9, False))
        self.assertNotIn(worker.secret, json.dumps(listed))
        alone = self.client().get(f"/v1/workers/{listed['worker']}")
        self.assertEqual((alone.status, alone.json()["worker"]), (200, listed["worker"]))
        self.assertEqual(self.client().get("/v1/workers/w-unknown").code(), "not_found")

    def test_what_is_wrong_with_an_enrolment_is_named(self):
        for more, path in (({"protocol": 2}, "$.protocol"), ({"secret": "short"}, "$.secret"), ({"node": ""}, "$.node"),
                           ({"types": []}, "$.types"), ({"slots": 0}, "$.slots"), ({"extra": 1}, "$"),
                           ({"resources": {"gpus": [{"index": 0}, {"index": 0}]}}, "$.resources.gpus")):
            reply = self.worker().enrol(**more)
            self.assertEqual((reply.status, reply.code(), reply.json().get("path")), (400, "bad_body", path), more)
        self.assertEqual(self.listed(), [])

    def test_only_the_secret_opens_the_worker(self):
        worker = self.worker().start()
        for bearer, path in ((None, worker.id), ("0" * 64, worker.id), (worker.secret, "w-unknown")):
            reply = worker.post(f"/v1/workers/{path}/sync", {"session": worker.session, "seq": 1, "holding": []}, bearer)
            self.assertEqual((reply.status, reply.code()), (401, "unauthenticated"))

    def test_a_sync_needs_the_present_session(self):
        worker = self.worker().start()
        self.assertEqual(worker.sync().status, 200)
        old = worker.session
        worker.begin(first=False)
        self.assertNotEqual(worker.session, old)
        reply = worker.sync(session=old)
        self.assertEqual((reply.status, reply.code()), (409, "session"))

    def test_sessions_end_with_the_server_and_workers_do_not(self):
        worker = self.worker().start()
        self.kill()
        self.start()
        worker.port = self.port
        reply = worker.sync()
        self.assertEqual((reply.status, reply.code()), (409, "session"))
        self.assertEqual(worker.begin(first=False).status, 200)
        self.assertEqual(worker.sync().status, 200)

    def test_a_second_process_takes_over_and_the_first_is_told(self):
        worker = self.worker().start()
        other = self.worker()
        other.secret, other.id, other.process = worker.secret, worker.id, "other"
        self.assertEqual(other.begin(first=True).status, 200)
        self.assertEqual(worker.sync().code(), "session")
        reply = worker.begin(first=False)
        self.assertEqual((reply.status, reply.code()), (409, "superseded"))

    def test_a_live_worker_keeps_its_name(self):
        first = self.worker().start()
        second = self.worker()
        reply = second.enrol()
        self.assertEqual((reply.status, reply.code()), (409, "name_taken"))
        self.assertEqual(first.leave().status, 200)
        self.assertEqual(second.enrol().status, 201)

    def test_a_newer_sync_ends_the_one_that_is_held_back(self):
        worker = self.worker().start()
        parked = self.client()
        body = json.dumps({"session": worker.session, "seq": 1, "holding": [], "want": 1, "wait_ms": 10000}).encode()
        parked.send(f"POST /v1/workers/{worker.id}/sync HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    f"Authorization: Bearer {worker.secret}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        worker.seq = 1
        # Whichever arrives first: the older one is answered without work.
        self.assertEqual(worker.sync().status, 200)
        reply = parked.receive()
        self.assertEqual((reply.status, reply.json()["seq"], reply.json()["work"]), (200, 1, []))

    def test_a_dispatch_of_nobody_is_stale_and_a_held_one_is_dropped(self):
        worker = self.worker().start()
        d = "7:" + "a" * 64
        worker.holding = [d, "made up"]
        reply = worker.sync(done=[{"d": d, "status": "ok", "payload": 1}], back=[{"d": "made up", "reason": "drain"}])
        self.assertEqual([each["result"] for each in reply.json()["results"]], ["stale", "stale"])
        self.assertEqual(reply.json()["drop"], [], "what it reports it does not have to drop")
        self.assertEqual(sorted(worker.sync().json()["drop"]), sorted([d, "made up"]))

    def test_what_is_wrong_with_a_sync_is_named(self):
        worker = self.worker().start()
        d = "7:" + "a" * 64
        for more, path in (({"done": [{"d": d, "status": "fine"}]}, "$.done[0].status"),
                           ({"done": [{"d": d, "status": "ok"}]}, "$.done[0].payload"),
                           ({"done": [{"d": d, "status": "error", "payload": 1}]}, "$.done[0].payload"),
                           ({"done": [{"d": d, "status": "error"}]}, "$.done[0].error"),
                           ({"done": [{"d": d, "status": "error", "error": {"code": "x"}}]}, "$.done[0].error.message"),
                           ({"done": [{"d": d, "status": "ok", "payload": 1}] * 257}, "$.done"),
                           ({"back": [{"d": d, "reason": "tired"}]}, "$.back[0].reason"),
                           ({"back": [{"d": d, "reason": "drain", "resume": 1}]}, "$.back[0].resume"),
                           ({"progress": [{"d": d, "n": 0, "payload": 1}]}, "$.progress[0].n"),
                           ({"logs": [{"d": d, "from": 0, "lines": [[1, "in", "x"]]}]}, "$.logs[0].lines[0]"),
                           ({"holding": "all"}, "$.holding"), ({"want": -1}, "$.want"), ({"more": 1}, "$")):
            reply = worker.sync(**more)
            self.assertEqual((reply.status, reply.code(), reply.json().get("path")), (400, "bad_body", path), more)

    def test_a_cordon_belongs_to_node_and_name(self):
        worker = self.worker().start()
        client = self.client()
        reply = client.post(f"/v1/workers/{worker.id}/cordon", {"reason": "repair"})
        self.assertEqual((reply.status, reply.json()["mode"], reply.json()["reason"]), (200, "cordoned", "repair"))
        self.assertEqual(worker.sync().json()["mode"], "cordoned")
        worker.leave()
        again = self.worker()
        self.assertEqual(again.enrol().json()["mode"], "cordoned", "another identity with the same node and name")
        self.kill()
        self.start()
        again.port = self.port
        self.assertEqual(again.enrol().json()["mode"], "cordoned")
        self.assertEqual(self.client().post(f"/v1/workers/{again.id}/uncordon", {}).json()["mode"], "active")

    def test_a_worker_is_drained_by_an_operator_and_by_itself(self):
        for ask in (lambda worker: self.client().post(f"/v1/workers/{worker.name}/drain", {}),
                    lambda worker: worker.sync(draining=True)):
            worker = self.worker(name=f"w{len(self.listed())}").start()
            self.assertEqual(ask(worker).status, 200)
            self.assertEqual(worker.sync().json()["mode"], "draining")
            self.assertEqual(worker.leave().status, 200)
            self.assertEqual(worker.sync().code(), "session")

    def test_a_worker_that_is_not_heard_is_lost_and_may_come_back(self):
        self.kill()
        self.start("--worker-ttl", "1s", "--worker-grace", "1s")
        worker = self.worker().start()
        def is_lost():
            return self.listed()[0]["mode"] == "lost"
        wait_until(is_lost, "it is still taken for alive")
        self.assertEqual(worker.sync().code(), "session", "a ghost's heartbeat changes nothing")
        self.assertTrue(is_lost())
        worker.begin(first=False)
        self.assertEqual(worker.sync().json()["mode"], "active")

    def test_operators_see_workers_on_the_command_line(self):
        worker = self.worker(name="trainer").start()
        server = ("--server", f"http://127.0.0.1:{self.port}")
        def run(*arguments):
            done = self.run_program("workers", *arguments, *server)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        self.assertRegex(run("ls"), rf"{worker.id} +trainer +n +active +\d+s ago +0 +4")
        self.assertIn('"types":["echo"]', run("show", "trainer"))
        self.assertIn("cordoned", run("cordon", "trainer", "--reason", "repair"))
        self.assertIn("active", run("uncordon", "trainer"))
        self.assertEqual(json.loads(run("drain", "trainer", "--json"))["mode"], "draining")
        worker.leave()
        self.assertNotIn("trainer", run("ls"))
        self.assertIn("trainer", run("ls", "--all"))
        missing = self.run_program("workers", "show", "nobody", *server)
        self.assertEqual(missing.returncode, 1)


class WithTokens(ServerTest):
    def test_an_enrolment_needs_a_token_of_the_role_worker(self):
        def token(role):
            return self.run_program("token", "add", "--world", self.world, "--role", role).stdout.split()[-1]
        self.start()
        self.kill()
        worker, viewer = token("worker"), token("viewer")
        self.start()
        self.assertEqual(ProtocolWorker(self.port).enrol().status, 401)
        self.assertEqual(ProtocolWorker(self.port, token=viewer).enrol().status, 403)
        good = ProtocolWorker(self.port, token=worker)
        self.assertEqual(good.enrol().status, 201)
        self.assertEqual(good.begin().status, 200, "from then on its secret is enough")
        self.assertEqual(good.sync().status, 200)


if __name__ == "__main__":
    unittest.main()
