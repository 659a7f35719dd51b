#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looking at one instance, and doing something to it."""
import unittest

from server import TELLER, ServerTest

HOUSE = "/v1/instances/test/House@1/a"
ORDER = {"schema": "test/Order@1", "value": {"house": "a", "colour": "red"}}


class Look(ServerTest):
    program = TELLER

    def test_an_instance_is_seen_from_all_sides(self):
        self.start()
        client = self.client()
        self.assertEqual(client.get("/healthz").json(), {"status": "ok"})
        self.assertEqual(client.get("/readyz").json(), {"status": "ready"})
        self.assertEqual(client.post("/v1/workflows/test/House@1/start", {"input": ORDER["value"]}).status, 201)
        seen = client.get(HOUSE).json()
        self.assertEqual((seen["status"], seen["state"], seen["key"]), ("waiting", {"signs": 0}, "a"))
        self.assertEqual(client.get(HOUSE + "/state").json(), {"record": seen["record"], "status": "waiting", "state": {"signs": 0}})
        self.assertIn("test/paint@1", client.get(HOUSE + "/why").json()["sentence"])
        timeline = client.get(HOUSE + "/timeline").json()
        self.assertEqual([record["record"] for record in timeline["records"]], [seen["record"]])
        self.assertGreater(client.get("/v1/limits").json()["wait_ms"], 0)
        for path in (HOUSE + "/timeline", "/v1/journal", "/v1/instances"):
            self.assertEqual(client.get(path + "?limit=0").code(), "bad_target", path)

    def test_a_trace_is_kept_with_the_instance_also_after_a_kill(self):
        self.start()
        trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        client = self.client()
        reply = client.post("/v1/workflows/test/House@1/start", {"input": ORDER["value"], "id": "1"}, traceparent=trace)
        self.assertEqual(reply.status, 201, reply.body)
        self.assertEqual(client.get(HOUSE).json()["traceparent"], trace)
        record, = client.get(HOUSE + "/timeline").json()["records"]
        self.assertEqual(record["tick"]["traceparent"], trace)
        other = trace.replace("4bf9", "ffff")
        reply = client.post("/v1/workflows/test/House@1/start", {"input": ORDER["value"], "id": "1"}, traceparent=other)
        self.assertTrue(reply.json()["repeated"], "another trace makes no other event")
        self.assertEqual(client.post("/v1/snapshots", b"").status, 200)
        self.kill()
        self.start()
        client = self.client()
        self.assertEqual(client.get(HOUSE).json()["traceparent"], trace)
        # What is none is passed over.
        event = {"schema": "test/Order@1", "value": {"house": "b", "colour": "red"}}
        self.assertEqual(client.post("/v1/events", event, traceparent="nonsense").status, 200)
        self.assertNotIn("traceparent", client.get("/v1/instances/test/House@1/b").json())
        self.assertEqual(self.stop(), 0)
        self.assertEqual(self.run_program("verify", self.world).returncode, 0)

    def test_an_instance_is_paused_resumed_signalled_and_cancelled(self):
        self.start()
        client = self.client()
        client.post("/v1/events", ORDER)
        self.assertEqual(client.post(HOUSE + "/pause", {"reason": "rain"}).status, 200)
        self.assertTrue(client.get(HOUSE).json()["paused"])
        self.assertEqual(client.post(HOUSE + "/signal", ORDER).json()["deliveries"], 1)
        self.assertEqual(client.get(HOUSE + "/why").json()["reasons"][0], {"kind": "paused", "mail": 1})
        self.assertEqual(client.post(HOUSE + "/resume", {}).status, 200)
        self.assertEqual(len(client.get(HOUSE + "/why").json()["reasons"]), 2, "the signal has opened one more")
        self.assertEqual(client.post(HOUSE + "/cancel", {"reason": "enough"}).status, 200)
        self.assertEqual(client.get(HOUSE).json()["status"], "cancelled")
        self.assertEqual(client.post(HOUSE + "/cancel", {}).code(), "conflict")


if __name__ == "__main__":
    unittest.main()
