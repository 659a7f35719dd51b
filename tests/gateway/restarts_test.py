#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instances that have failed begin again, and instances of earlier versions move."""
import unittest

from server import ServerTest, wait_until

ORDER = "/v1/instances/demo/Order@1/"


class Restarts(ServerTest):
    def make_failed(self, client, key):
        """An order that fails; gives its last record."""
        value = {"id": key, "sku": "unicorn", "count": 1, "cents": 5}
        reply = client.post("/v1/workflows/demo/Order@1/start", {"input": value, "wait": 60000})
        self.assertEqual((reply.status, reply.json()["instance"]["status"]), (200, "failed"), reply.body)
        return client.get(ORDER + key + "/timeline?limit=100").json()["records"]

    def wait_for_failure_after(self, client, key, record):
        def has_failed():
            shown = client.get(ORDER + key).json()
            return shown["status"] == "failed" and shown["record"] >= record
        wait_until(has_failed, "it does not fail again")

    def test_a_failed_instance_begins_again_and_keeps_its_history(self):
        self.start()
        client = self.client()
        before = self.make_failed(client, "r-1")
        retried = client.post(ORDER + "r-1/retry", {"reason": "once more"})
        self.assertEqual(retried.status, 200, retried.body)
        self.wait_for_failure_after(client, "r-1", retried.json()["record"])
        first = min(record["record"] for record in before)
        restarted = client.post(ORDER + "r-1/restart", {"record": first, "reason": "from the beginning"})
        self.assertEqual((restarted.status, restarted.json().get("from")), (200, first), restarted.body)
        self.wait_for_failure_after(client, "r-1", restarted.json()["record"])
        after = client.get(ORDER + "r-1/timeline?limit=100").json()["records"]
        self.assertEqual(after[-len(before):], before, "the old history is kept")
        reopened = {record["record"] for record in after if record["tick"]["kind"] == "reopen"}
        self.assertEqual(reopened, {retried.json()["record"], restarted.json()["record"]})
        self.kill()
        self.start()
        self.assertEqual(self.client().get(ORDER + "r-1/timeline?limit=100").json()["records"], after)
        self.assertEqual(self.stop(), 0)
        self.assertEqual(self.run_program("verify", self.world).returncode, 0)

    def test_what_cannot_begin_again_is_refused_and_nothing_happens(self):
        self.start()
        client = self.client()
        self.make_failed(client, "r-1")
        last = client.get("/v1/journal?limit=1").json()["last"]
        for path, body, status in ((ORDER + "nobody/retry", {}, 404), (ORDER + "r-1/restart", {}, 400),
                                   (ORDER + "r-1/restart", {"record": 0}, 400), (ORDER + "r-1/restart", {"step": "nothing"}, None),
                                   (ORDER + "r-1/restart", {"record": 10**9}, None), (ORDER + "r-1/retry", {"why": 1}, 400)):
            reply = client.post(path, body)
            self.assertTrue(400 <= reply.status < 500, (path, body, reply.body))
            if status:
                self.assertEqual(reply.status, status, (path, body, reply.body))
        self.assertEqual(client.get("/v1/journal?limit=1").json()["last"], last)

    def test_nothing_moves_where_there_is_one_version(self):
        self.start()
        reply = self.client().post("/v1/workflows/demo/Order@1/migrate", {})
        self.assertEqual((reply.status, reply.json()), (200, {"moved": 0, "stays": 0, "staying": []}), reply.body)
        self.assertEqual(self.client().post("/v1/workflows/nobody/Knows@1/migrate", {}).status, 404)


if __name__ == "__main__":
    unittest.main()
