#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Effects that are performed outside: their receipts are taken once, also when the server is killed in between."""
import json
import unittest

from server import TELLER, ServerTest, wait_until

HOUSE = "/v1/instances/test/House@1/"
ERROR = {"code": "rain", "message": "it rains", "retryable": True, "details": None}


class Outside(ServerTest):
    program = TELLER

    def begin(self, house):
        """Its effect."""
        client = self.client()
        reply = client.post("/v1/workflows/test/House@1/start", {"input": {"house": house, "colour": "red"}})
        self.assertEqual(reply.status, 201, reply.body)
        reason = client.get(HOUSE + house + "/why").json()["reasons"][0]
        self.assertEqual((reason["kind"], reason["executor"]), ("receipt", "outside"))
        return reason["intent"]

    def settle(self, intent, **more):
        return self.client().post("/v1/receipts", {"intent": intent, **more})

    def test_a_receipt_settles_the_effect_once(self):
        self.start()
        client = self.client()
        intent = self.begin("a")
        effect = client.get(f"/v1/effects/{intent}").json()
        self.assertEqual((effect["effect"], effect["workflow"], effect["key"], effect["params"], effect["progress"]),
                         ("test/paint@1", "test/House@1", "a", {"colour": "red"}, 0))
        for sequence in (1, 2):
            reply = client.post("/v1/progress", {"intent": intent, "sequence": sequence, "kind": "wall", "payload": 7})
            self.assertEqual((reply.status, reply.json()["repeated"]), (200, False), reply.body)
        deep = json.loads("[" * 62 + "]" * 62)
        reply = client.post("/v1/progress", {"intent": intent, "sequence": 3, "kind": "wall", "payload": deep})
        self.assertEqual(reply.status, 200, reply.body)
        for accept in ("application/json", "application/cbor"):
            self.assertEqual(client.get("/v1/journal", Accept=accept).status, 200, "it stands deeper in the journal")
        again = client.post("/v1/progress", {"intent": intent, "sequence": 2, "payload": None})
        self.assertTrue(again.json()["repeated"])
        self.assertEqual(client.get(HOUSE + "a/state").json()["state"], {"signs": 3})
        first = self.settle(intent, payload={"litres": 3}, cost_cents=12)
        self.assertEqual((first.status, first.json()["repeated"]), (200, False), first.body)
        house = client.get(HOUSE + "a").json()
        self.assertEqual((house["status"], house["result"]), ("completed", 3))
        last = client.get("/v1/journal").json()["last"]
        again = self.settle(intent, status="error", error=ERROR).json()
        self.assertEqual(again, {"record": first.json()["record"], "repeated": True, "settled": "ok"})
        self.assertEqual(client.get("/v1/journal").json()["last"], last, "nothing happened")
        self.assertEqual(client.get(f"/v1/effects/{intent}").code(), "not_found")

    def test_an_error_fails_what_waits_for_it(self):
        self.start()
        intent = self.begin("a")
        self.assertEqual(self.settle(intent, status="error", error=ERROR).status, 200)
        house = self.client().get(HOUSE + "a").json()
        self.assertEqual((house["status"], house["error"]["code"]), ("failed", "rain"))

    def test_it_is_there_after_a_kill_and_the_receipt_counts_once(self):
        self.start()
        intent = self.begin("a")
        self.kill()
        self.start()
        self.assertFalse(self.settle(intent, payload={"litres": 1}).json()["repeated"])
        self.kill()
        self.start()
        self.assertTrue(self.settle(intent, payload={"litres": 1}).json()["repeated"])
        self.assertEqual(self.client().get(HOUSE + "a").json()["result"], 1)

    def test_what_does_not_fit_is_refused_and_settles_nothing(self):
        self.start()
        client = self.client()
        intent = self.begin("a")
        last = client.get("/v1/journal").json()["last"]
        none = "sha256:" + 64 * "0"
        for body, status, code, path in (
                ({"intent": intent, "payload": {"litres": "many"}}, 422, "schema", "$.payload.litres"),
                ({"intent": intent, "status": "error", "error": {"code": "x"}}, 422, "schema", "$.error"),
                ({"intent": intent}, 400, "bad_body", "$.payload"),
                ({"intent": intent, "status": "error", "payload": 1}, 400, "bad_body", "$.error"),
                ({"intent": intent, "payload": 1, "error": ERROR}, 400, "bad_body", "$.error"),
                ({"intent": intent, "status": "fine", "payload": 1}, 400, "bad_body", "$.status"),
                ({"intent": intent, "payload": 1, "cost_cents": -1}, 400, "bad_body", "$.cost_cents"),
                ({"intent": "x", "payload": 1}, 400, "bad_body", "$.intent"),
                ({"payload": 1}, 400, "bad_body", "$.intent"),
                ({"intent": intent, "payload": 1, "more": 1}, 400, "bad_body", "$.more"),
                ({"intent": none, "payload": {"litres": 1}}, 404, "not_found", None)):
            reply = client.post("/v1/receipts", body)
            self.assertEqual((reply.status, reply.code(), reply.json().get("path")), (status, code, path), body)
        for body, status, code in (
                ({"intent": intent, "sequence": 0, "payload": 1}, 422, "schema"),
                ({"intent": intent, "sequence": "x", "payload": 1}, 400, "bad_body"),
                ({"intent": intent, "sequence": 1}, 400, "bad_body"),
                ({"intent": none, "sequence": 1, "payload": 1}, 404, "not_found")):
            reply = client.post("/v1/progress", body)
            self.assertEqual((reply.status, reply.code()), (status, code), body)
        self.assertEqual(client.get("/v1/journal").json()["last"], last, "nothing was recorded")
        self.assertEqual(client.get("/v1/effects/nothing").code(), "not_found")

    def test_what_the_server_performs_itself_is_not_settled_from_outside(self):
        from server import PROGRAM, order
        self.program = PROGRAM
        self.start()
        client = self.client()
        client.post("/v1/events", order("a"))
        timer = None
        for record in client.get("/v1/journal").json()["records"]:
            for instance in record["instances"]:
                for opened in instance["opened"]:
                    if opened["effect"] == "sys/timer.set@1":
                        timer = opened["intent"]
        reply = self.settle(timer, payload={"delivered_at_ns": 1, "key": None})
        # The order may have ended meanwhile, and its timer with it.
        self.assertIn(reply.status, (200, 409), reply.body)
        if reply.status == 409:
            self.assertIn("'timer'", reply.json()["detail"])
        else:
            self.assertEqual(reply.json()["settled"], "cancelled")


class Workers(ServerTest):
    """Those who perform effects see what they are to perform, and nothing else."""
    program = TELLER

    def setUp(self):
        super().setUp()
        self.tokens = {}
        for role in ("viewer", "operator", "worker"):
            done = self.run_program("token", "add", "--new", "--world", self.world, "--role", role, "--name", role)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.tokens[role] = {"Authorization": f"Bearer {done.stdout.strip()}"}

    def order(self, house):
        reply = self.client().post("/v1/workflows/test/House@1/start", {"input": {"house": house, "colour": "red"}},
                                   **self.tokens["operator"])
        self.assertEqual(reply.status, 201, reply.body)

    def get(self, path, role="worker"):
        return self.client().get(path, **self.tokens[role])

    def open_effects(self, limit=100, role="worker"):
        found, after = [], ""
        while after is not None:
            part = self.get(f"/v1/effects?effect=test/paint@1&limit={limit}" + (f"&after={after}" if after else ""),
                            role).json()
            self.assertLessEqual(len(part["effects"]), limit)
            found += part["effects"]
            after = part["next"]
        return found

    def test_a_worker_finds_what_it_is_to_perform_and_performs_it(self):
        self.start()
        self.assertEqual(self.get("/v1/effects?effect=test/paint@1").json(), {"effects": [], "next": None})
        for i in range(7):
            self.order(f"h-{i}")
        for limit in (1, 3, 7, 100):
            self.assertEqual([effect["key"] for effect in self.open_effects(limit)], [f"h-{i}" for i in range(7)])
        first = self.open_effects()[0]
        self.assertEqual(first["params"], {"colour": "red"})
        self.assertEqual(self.get(f"/v1/effects/{first['intent']}").json(), first)
        reply = self.client().post("/v1/receipts", {"intent": first["intent"], "payload": {"litres": 1}},
                                   **self.tokens["worker"])
        self.assertEqual(reply.status, 200, reply.body)
        self.client().post("/v1/instances/test/House@1/h-3/cancel", {}, **self.tokens["operator"])
        left = [f"h-{i}" for i in (1, 2, 4, 5, 6)]
        self.assertEqual([effect["key"] for effect in self.open_effects()], left)
        self.assertEqual([effect["key"] for effect in self.open_effects(role="viewer")], left)
        self.kill()
        self.start()
        self.assertEqual([effect["key"] for effect in self.open_effects(2)], left, "they are there after a kill")

    def test_a_worker_sees_nothing_else(self):
        self.start()
        self.order("a")
        for path in (HOUSE + "a", HOUSE + "a/state", HOUSE + "a/why", "/v1/instances", "/v1/journal", "/v1/manifest",
                     "/metrics"):
            self.assertEqual(self.get(path).status, 403, path)
        self.assertEqual(self.get("/v1/effects?effect=test/none@1").json()["effects"], [])
        for query in ("", "?effect=", "?effect=a&after=x", "?effect=a&after=1:sha256:00", "?effect=a&limit=0",
                      "?effect=a&limit=1001", "?effect=a&status=open"):
            self.assertEqual(self.get("/v1/effects" + query).code(), "bad_target", query)
        self.assertEqual(self.client().get("/v1/effects?effect=test/paint@1").status, 401)

    def test_what_the_server_performs_itself_is_no_affair_of_a_worker(self):
        from server import PROGRAM, order
        self.program = PROGRAM
        self.start()
        self.client().post("/v1/events", order("a"), **self.tokens["operator"])
        timers = [opened["intent"] for record in self.get("/v1/journal", "viewer").json()["records"]
                  for instance in record["instances"] for opened in instance["opened"]
                  if opened["effect"] == "sys/timer.set@1"]
        self.assertTrue(timers)
        self.assertEqual(self.get(f"/v1/effects/{timers[0]}").code(), "not_found")
        self.assertEqual(self.get("/v1/effects?effect=sys/timer.set@1").json()["effects"], [])

    def test_a_worker_learns_nothing_of_what_the_server_performs_itself(self):
        refund = {"input": {"id": "r", "order": "o-1", "cents": 100000}}
        from server import PROGRAM
        self.program = PROGRAM
        self.start()
        reply = self.client().post("/v1/workflows/demo/RefundCase@1/start", refund, **self.tokens["operator"])
        self.assertEqual(reply.status, 201, reply.body)
        case = "/v1/instances/demo/RefundCase@1/r"
        viewer = self.client()
        wait_until(lambda: "wait" in [each["kind"] for each in viewer.get(case + "/why", **self.tokens["viewer"]).json()["reasons"]])
        touched = [instance for record in self.get(case + "/timeline", "viewer").json()["records"] for instance in record["instances"]]
        settled = {each["intent"] for instance in touched for each in instance["settled"]}
        timer = next(each["intent"] for instance in touched for each in instance["opened"]
                     if each["effect"] == "sys/timer.set@1" and each["intent"] not in settled)
        for path, body in (("/v1/receipts", {"payload": {"nothing": 1}}), ("/v1/receipts", {"payload": {"delivered_at_ns": 1, "key": None}}),
                           ("/v1/receipts", {"status": "error", "error": 1}), ("/v1/progress", {"sequence": 1, "payload": 1})):
            reply = self.client().post(path, {"intent": timer, **body}, **self.tokens["worker"])
            self.assertEqual((reply.status, reply.json()["detail"]), (404, f"no open effect {timer}"), (path, body))


if __name__ == "__main__":
    unittest.main()
