#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The log of the server: one line each, as text and as JSON, and no more of one kind than a reader can take."""
import json
import re
import unittest

from server import ServerTest, order, wait_until


class Log(ServerTest):
    def lines(self):
        return (self.folder / "errors").read_text().splitlines()

    def events(self):
        return [json.loads(line) for line in self.lines()]

    def of(self, event):
        return [line for line in self.events() if line["event"] == event]

    def test_a_life_of_a_server_as_json(self):
        self.start("--log-format", "json")
        self.assertEqual(self.client().post("/v1/events", order("o-1")).status, 200)
        self.assertEqual(self.client().get("/v1/nothing?word=secret").status, 404)
        self.assertEqual(self.stop(), 0)
        for line in self.events():
            self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertIn(line["level"], ("debug", "info", "warning", "error"))
            self.assertTrue(line["message"])
        recovered, = self.of("recovered")
        self.assertEqual((recovered["records_replayed"], recovered["open_effects"]), (0, 0))
        self.assertEqual(self.of("started")[0]["world"], str(self.world))
        refused, = self.of("request.refused")
        self.assertEqual((refused["status"], refused["method"], refused["code"]), (404, "GET", "no_route"))
        self.assertNotIn("secret", json.dumps(refused))
        self.assertEqual([line["event"] for line in self.events()][-2:], ["stopping", "stopped"])
        self.assertGreater(self.of("stopped")[0]["last_record"], 1)

    def test_text_has_time_level_and_fields(self):
        self.start()
        self.assertEqual(self.stop(), 0)
        started = [line for line in self.lines() if "event=started" in line]
        self.assertEqual(len(started), 1)
        self.assertTrue(re.match(r"^\S+Z INFO  serving event=started url=http://\S+ world=\S+ version=\S+$", started[0]), started)

    def test_the_level_leaves_out_what_is_below_it_and_bad_ones_are_refused(self):
        self.start("--log-level", "warning")
        self.assertEqual(self.client().get("/v1/nothing").status, 404)
        self.assertEqual(self.stop(), 0)
        self.assertEqual(self.lines(), [])
        for flag, value in (("--log-level", "loud"), ("--log-format", "xml"), ("--access-log", "maybe")):
            done = self.run_program("serve", "--world", self.world, flag, value)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("expected", done.stderr)

    def test_requests_are_logged_on_demand(self):
        self.start("--log-format", "json", "--access-log", "true")
        self.assertEqual(self.client().get("/healthz").status, 200)
        line = wait_until(lambda: self.of("request"))[0]
        self.assertEqual((line["path"], line["status"]), ("/healthz", 200))

    def test_of_a_thousand_refusals_a_few_are_logged_and_the_others_counted(self):
        self.start("--log-format", "json")
        client = self.client()
        for _ in range(1000):
            client.get("/v1/nothing")
        self.assertEqual(self.stop(), 0)
        refused = self.of("request.refused")
        seconds = {line["time"][:19] for line in refused}
        self.assertLessEqual(len(refused), 20 * len(seconds))

    def test_instances_and_attempts_that_fail_are_logged_once(self):
        self.start("--log-format", "json")
        client = self.client()
        # No stock: the charge is undone and the order fails.
        reply = client.post("/v1/events", {"schema": "demo/OrderPlaced@1", "wait": True,
                                           "value": {"id": "o-2", "sku": "unicorn", "count": 1, "cents": 5}})
        self.assertEqual(reply.status, 200, reply.body)
        self.assertEqual(reply.json()["instance"]["status"], "failed", reply.body)
        failed, = wait_until(lambda: self.of("instance.failed"))
        self.assertEqual((failed["workflow"], failed["key"], failed["instance"]), ("demo/Order@1", "o-2", "demo/Order@1/o-2"))
        self.assertTrue(failed["code"])
        attempts = self.of("effect.failed")
        self.assertTrue(attempts)
        self.assertEqual({line["instance"] for line in attempts}, {"demo/Order@1/o-2"})
        self.assertEqual(client.post("/v1/events", {"schema": "demo/OrderCancelled@1", "value": {"id": "o-2"}}).code(), "unhandled")
        self.assertEqual(self.stop(), 0)
        self.assertEqual(len(self.of("instance.failed")), 1, "an event that is ignored is no second end")


if __name__ == "__main__":
    unittest.main()
