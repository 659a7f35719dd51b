#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Named cursors over the events of tasks: nothing is skipped, nothing is lost in a crash, what cannot be processed is set aside."""
import threading
import time
import unittest

from dispatch_test import OK, Dispatching, chain
from server import wait_until


class Cursors(Dispatching):
    def ask(self, path, body=None, status=200):
        client = self.client()
        reply = client.get(path) if body is None else client.post(path, body)
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def create(self, name="ledger", **more):
        return self.ask("/v1/cursors", {"name": name, **more}, 201)

    def read(self, name="ledger", **more):
        return self.ask(f"/v1/cursors/{name}/read", more)["events"]

    def acknowledge(self, id, name="ledger", status=200):
        return self.ask(f"/v1/cursors/{name}/acknowledge", {"id": id}, status)

    def run_one(self, graph):
        worker = self.worker(name=graph)
        self.submit(chain("a"), id=graph)
        worker.finish(self.take_one(worker)["d"], payload=OK)
        self.wait_for(graph)
        worker.leave()

    def test_all_events_come_in_order_and_each_is_acknowledged_once(self):
        self.create()
        self.run_one("one")
        events = self.read()
        self.assertEqual([event["type"] for event in events],
                         ["graph.submitted", "task.queued", "task.leased", "task.ended", "graph.ended"])
        queued, leased, ended = events[1], events[2], events[3]
        self.assertEqual((queued["graph"], queued["task"], queued["name"], queued["attempt"]), ("one", 0, "a", 1))
        self.assertEqual(leased["intent"], queued["intent"])
        self.assertEqual((ended["graph"], ended["task"], ended["status"], ended["skipped"]), ("one", 0, "DONE", False))
        self.assertEqual(self.read(), events, "reading changes nothing")
        self.acknowledge(events[0]["id"])
        self.assertEqual(self.read(limit=2), events[1:3])
        self.restart()
        self.assertEqual(self.read(), events[1:], "what was acknowledged was not durable")
        self.assertEqual(self.acknowledge(events[0]["id"], status=409)["code"], "conflict")
        self.assertEqual(self.acknowledge("999999.0", status=409)["code"], "conflict")
        self.acknowledge(events[-1]["id"])
        self.assertEqual(self.read(), [])
        info = self.ask("/v1/cursors/ledger")
        self.assertEqual((info["name"], info["beyond_horizon"], info["quarantined"]), ("ledger", False, 0))

    def test_a_reader_that_waits_gets_what_comes(self):
        self.create(**{"from": "now"})
        found = []
        reader = threading.Thread(target=lambda: found.extend(self.read(wait_ms=60_000)))
        reader.start()
        self.submit(chain("a"), id="later")
        reader.join()
        self.assertEqual(found[0]["type"], "graph.submitted")
        begun = time.monotonic()
        self.acknowledge(found[0]["id"])
        self.read("ledger", wait_ms=1)
        self.assertLess(time.monotonic() - begun, 60)

    def test_an_event_that_is_rejected_five_times_is_quarantined_and_can_be_replayed(self):
        self.create()
        self.run_one("one")
        events = self.read()
        reject = lambda reason: self.ask("/v1/cursors/ledger/reject", {"id": events[0]["id"], "reason": reason})
        for number in range(1, 5):
            self.assertEqual(reject(f"try {number}"), {"tries": number, "quarantined": False})
            self.assertEqual(self.read(limit=1), events[:1], "it stays the next one")
        self.restart()
        self.assertEqual(self.ask("/v1/cursors/ledger")["tries"], 4)
        self.assertEqual(self.ask("/v1/cursors/ledger/reject", {"id": events[1]["id"]}, 409)["code"], "conflict")
        self.assertEqual(reject("no such table"), {"tries": 5, "quarantined": True})
        self.assertEqual(self.read(), events[1:])
        [entry] = self.ask("/v1/cursors/ledger/quarantine")["quarantine"]
        self.assertEqual((entry["id"], entry["reason"], entry["event"], entry["replayed"]),
                         (events[0]["id"], "no such table", events[0], False))
        self.ask("/v1/cursors/ledger/replay", {"id": events[0]["id"]})
        self.assertEqual(self.read(), events, "it comes again, before the others")
        self.assertEqual(reject("still not"), {"tries": 5, "quarantined": True})
        self.assertEqual(self.read(), events[1:])
        self.ask("/v1/cursors/ledger/replay", {"id": events[0]["id"]})
        self.acknowledge(events[0]["id"])
        self.assertEqual(self.ask("/v1/cursors/ledger/quarantine")["quarantine"], [])
        self.assertEqual(self.read(), events[1:])
        self.ask("/v1/cursors/ledger/replay", {"id": events[0]["id"]}, 404)

    def test_cursors_are_listed_removed_and_bounded(self):
        self.create("b")
        self.create("a", **{"from": "now"})
        self.assertEqual([each["name"] for each in self.ask("/v1/cursors")["cursors"]], ["a", "b"])
        self.assertEqual(self.ask("/v1/cursors", {"name": "a"}, 409)["code"], "conflict")
        for name in ("", "../x", ".x", "x" * 65, "a/b"):
            self.assertGreaterEqual(self.client().post("/v1/cursors", {"name": name}).status, 400, name)
        self.assertEqual(self.client().post("/v1/cursors", {"name": "c", "from": "then"}).status, 400)
        self.assertEqual(self.client().post("/v1/cursors/a/acknowledge", {"id": "x"}).status, 400)
        self.ask("/v1/cursors/a/remove", {})
        self.ask("/v1/cursors/a", status=404)
        self.ask("/v1/cursors/a/read", {}, 404)
        for number in range(63):
            self.create(f"n{number}")
        self.assertGreaterEqual(self.client().post("/v1/cursors", {"name": "one-more"}).status, 429)


class Horizon(Dispatching):
    """Records go early, so that a cursor can fall behind."""
    settings = ("--snapshot-every", "50", "--worker-ttl", "30s")

    def test_a_cursor_that_is_beyond_the_horizon_says_so_until_it_is_reset(self):
        post = lambda path, body: self.client().post(path, body)
        self.assertEqual(post("/v1/cursors", {"name": "slow"}).status, 201)
        self.stop()
        [file] = (self.world / "cursors").glob("*.cursor")
        kept = file.read_bytes()
        file.unlink()  # nobody holds the records now
        self.start(*self.settings)
        def is_trimmed():
            for _ in range(100):
                self.submit(chain("a"))
            return self.client().get("/v1/journal?limit=1").json()["first"] > 1
        wait_until(is_trimmed, "the journal is not trimmed")
        self.stop()
        file.write_bytes(kept)
        self.start(*self.settings)
        self.assertTrue(self.client().get("/v1/cursors/slow").json()["beyond_horizon"])
        for _ in range(2):
            reply = post("/v1/cursors/slow/read", {})
            self.assertEqual((reply.status, reply.code()), (409, "stale_cursor"))
            self.assertIn("are not in the journal any more", reply.json()["detail"])
        self.assertEqual(post("/v1/cursors/slow/reset", {"from": "oldest"}).status, 200)
        self.assertEqual(post("/v1/cursors/slow/read", {}).status, 200)


# What they inherit runs in dispatch_test.py.
for case in (Cursors, Horizon):
    for name in list(vars(Dispatching)):
        if name.startswith("test_") and name not in vars(case):
            setattr(case, name, None)
del Dispatching

if __name__ == "__main__":
    unittest.main()
