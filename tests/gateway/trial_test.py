#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trials of proposals that a server runs beside its world: while events arrive, one at a time, given up and killed."""
import copy
import json
import socket
import threading
import time
import unittest

from server import TELLER, Client, ServerTest, wait_until

EVENTS = 40
EACH_MS = 100
LEAST_S = 2 * EVENTS * EACH_MS / 1000  # what a trial takes, which lives through them twice


class Trial(ServerTest):
    program = TELLER

    def setUp(self):
        super().setUp()
        self.start()
        with Client(self.port) as client:
            definitions = copy.deepcopy(client.get("/v1/manifest").json()["definitions"])
            definitions.append({"$kind": "defschema", "name": "test/More@1", "type": {"text": {}}})
            for definition in definitions:
                if definition["$kind"] == "manifest":
                    definition["schemas"].append({"name": "test/More@1"})
                    definition["schemas"].sort(key=lambda entry: entry["name"])
            for number in range(EVENTS):
                event = {"schema": "test/Carry@1", "value": {"name": f"n-{number}", "ms": EACH_MS}}
                self.assertEqual(client.post("/v1/events", event).status, 200)
            made = client.post("/v1/proposals", {"definitions": definitions})
        self.assertEqual(made.status, 201, made.body)
        self.proposal = made.json()["proposal"]
        self.path = f"/v1/proposals/{self.proposal}"

    def begin(self, how=None):
        """Asks for a trial; the thread that waits for it, and where its answer comes. It is under way."""
        client, answers, body = self.client(), [], json.dumps(how or {}).encode()

        def ask():
            begun = time.monotonic()
            answers.append((client.post(self.path + "/shadow", body), time.monotonic() - begun))
        thread = threading.Thread(target=ask)
        thread.start()
        self.addCleanup(thread.join)
        self.wait_for_request(len(body))
        return thread, answers

    def wait_for_request(self, size):
        """Until one with a body of so many bytes is being answered."""
        wait_until(lambda: self.figure("holdfast_http_body_bytes") == size, "no trial begins")

    def shown(self):
        proposal, = self.client().get("/v1/proposals").json()["proposals"]
        return proposal

    def files(self):
        """What is there, but for the segments that the journal makes ahead of time."""
        return {str(path.relative_to(self.world)) for path in self.world.rglob("*") if path.parent.name != "journal"}

    def assert_untried_and_whole(self):
        self.assertEqual((self.shown()["stage"], self.shown()["report"]), ("proposed", None))
        refused = self.client().post(self.path + "/approve", {})
        self.assertEqual(refused.status, 409)
        tried = self.client().post(self.path + "/shadow", {"records": 3})
        self.assertEqual(tried.status, 200, tried.body)
        self.assertEqual(self.shown()["stage"], "shadowed")
        self.assertEqual(self.stop(), 0)
        verified = self.run_program("verify", self.world)
        self.assertEqual(verified.returncode, 0, verified.stderr)

    def post_while(self, thread, name):
        """Events as long as the thread goes on; how many, and what the slowest took."""
        client = self.client()
        count, slowest = 0, 0
        while thread.is_alive():
            begun = time.monotonic()
            event = {"schema": "test/Tell@1", "value": {"name": f"{name}-{count}", "count": 1, "letters": 3, "leave": False}}
            self.assertEqual(client.post("/v1/events", event).status, 200)
            slowest = max(slowest, time.monotonic() - begun)
            count += 1
            time.sleep(0.01)
        return count, slowest

    def test_events_go_on_arriving_meanwhile(self):
        self.wait_until_quiet()
        before = self.files()
        slowest = []
        while not slowest or slowest[-1] >= LEAST_S / 2:  # a trial that held up the world would do so each time
            self.assertLess(len(slowest), 4, f"the slowest events took {slowest} seconds")
            thread, answers = self.begin({"to": self.proposal})
            count, took_most = self.post_while(thread, f"t-{len(slowest)}")
            slowest.append(took_most)
            reply, took = answers[0]
            self.assertEqual(reply.status, 200, reply.body)
            self.assertGreaterEqual(took, LEAST_S)
            self.assertGreater(count, 10, "it did not hold up the world")
        report = reply.json()["report"]
        self.assertEqual((report["instances"], report["different"], report["fed"]), (EVENTS, 0, EVENTS))
        self.assertEqual(report["statuses"], [{"status": "completed", "present": EVENTS, "tried": EVENTS}])
        self.assertEqual(report["to"], self.proposal)
        self.assertGreater(reply.json()["record"], self.proposal + 10)
        self.assertEqual(self.shown()["report"], report)
        self.assertEqual(self.files() - before, set(), "nothing but the record was written")

    def test_two_at_once_are_refused(self):
        for _ in range(4):
            thread, answers = self.begin()
            second = self.client().post(self.path + "/shadow", {})
            if thread.is_alive():
                break  # otherwise the first may have been over, on a machine that stood still for that long
        self.assertEqual((second.status, second.code()), (429, "full"), second.body)
        self.assertIn("another trial is running", second.json()["detail"])
        thread.join()
        self.assertEqual(answers[0][0].status, 200, answers[0][0].body)
        again = self.client().post(self.path + "/shadow", {"from": self.proposal - 1})
        self.assertEqual(again.status, 200, again.body)

    def test_killed_in_the_middle_it_leaves_nothing(self):
        self.wait_until_quiet()
        before = self.files()
        self.begin()
        time.sleep(LEAST_S / 8)
        self.kill()
        self.assertEqual(self.files(), before)
        self.start()
        self.assert_untried_and_whole()

    def test_a_server_that_stops_gives_it_up(self):
        took = []
        while not took or took[-1] >= LEAST_S / 2:  # one that waited for it would do so each time
            self.assertLess(len(took), 4, f"it stopped within {took} seconds")
            thread, answers = self.begin()
            time.sleep(LEAST_S / 8)
            begun = time.monotonic()
            self.assertEqual(self.stop(), 0)
            took.append(time.monotonic() - begun)
            thread.join()
            reply = answers[0][0]
            if reply or took[-1] < 5:  # who is not told by then is not waited for
                self.assertEqual((reply.status, reply.code()), (503, "unavailable"), reply.body)
            self.start()
        self.assert_untried_and_whole()

    def test_it_is_given_up_when_the_client_leaves(self):
        client = self.client()
        client.send(f"POST {self.path}/shadow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    "Content-Length: 2\r\n\r\n{}".encode())
        self.wait_for_request(2)
        time.sleep(LEAST_S / 16)
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
        asked = self.client()

        def tried():
            reply = asked.post(self.path + "/shadow", {"from": self.proposal - 1})
            return reply if reply.status != 429 else None
        reply = wait_until(tried)
        self.assertEqual(reply.status, 200, reply.body)
        kinds = [each["tick"]["kind"] for each in self.client().get("/v1/journal?limit=1000").json()["records"]]
        self.assertEqual(kinds.count("shadow"), 1, "what nobody waited for is not recorded")


if __name__ == "__main__":
    unittest.main()
