#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Schedules on the real server: through the API, on the command line, and while the server is killed.

HOLDFAST_KILLS makes it longer.
"""
import datetime
import json
import os
import random
import time
import unittest

from server import ServerTest, wait_until

KILLS = int(os.environ.get("HOLDFAST_KILLS", "4"))
INPUT = {"id": "{key}", "sku": "mug", "count": 1, "cents": 5}


def nightly(**more):
    return {"name": "nightly", "cron": "30 2 * * *", "zone": "Europe/Berlin", "workflow": "demo/Order@1",
            "input": INPUT, **more}


class Schedules(ServerTest):
    def setUp(self):
        super().setUp()
        self.start()
        self.api = self.client()

    def ask(self, path, body, status=200):
        reply = self.api.post(path, body)
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def shown(self, name="nightly"):
        reply = self.api.get(f"/v1/schedules/{name}")
        return reply.json() if reply.status == 200 else None

    def test_a_schedule_is_added_listed_changed_and_removed(self):
        added = self.ask("/v1/schedules", nightly())
        self.assertEqual(added["key"], "{schedule}@{due}")
        self.assertEqual(added["event"], "demo/OrderPlaced@1")
        self.assertEqual(added["catch_up_window"], "1d")
        found = wait_until(lambda: self.shown()["next_ns"] and self.shown())
        due = datetime.datetime.fromtimestamp(found["next_ns"] / 1e9, datetime.timezone.utc)
        self.assertIn((due.hour, due.minute), ((0, 30), (1, 30), (1, 0)), "half past two in Berlin")
        self.assertEqual(self.ask("/v1/schedules", nightly())["name"], "nightly", "the same again")
        self.ask("/v1/schedules", nightly(cron="@daily"), 409)
        self.assertEqual(self.ask("/v1/schedules", nightly(cron="@daily", replace=True))["cron"], "@daily")
        listed = self.api.get("/v1/schedules").json()
        self.assertEqual([each["name"] for each in listed["schedules"]], ["nightly"])
        self.ask("/v1/schedules/nightly/pause", {})
        wait_until(lambda: self.shown()["status"] == "paused")
        self.ask("/v1/schedules/nightly/run", {})
        run = wait_until(lambda: self.shown()["completed"] == 1 and self.shown()["recent"][-1])
        self.assertEqual(run["outcome"], "completed")
        instance = self.api.get(f"/v1/instances/demo%2FOrder@1/{run['key']}").json()
        self.assertEqual(instance["status"], "completed")
        self.ask("/v1/schedules/nightly/resume", {})
        wait_until(lambda: self.shown()["status"] == "active" and self.shown()["next_ns"])
        self.ask("/v1/schedules/nightly/remove", {"cancel": True})
        wait_until(lambda: self.shown() is None)
        self.ask("/v1/schedules/nightly/pause", {}, 404)

    def test_what_is_wrong_with_a_schedule_is_said_with_its_place(self):
        for change, place in (({"cron": "61 * * * *"}, "'61' is not a good minute"),
                              ({"zone": "Europe/Nowhere"}, "no time zone 'Europe/Nowhere'"),
                              ({"zone": "../../etc/passwd"}, "cannot be a time zone"),
                              ({"zone": "Europe"}, "no time zone"),
                              ({"every": "10s"}, "one of cron, every and at"),
                              ({"workflow": "demo/None@1"}, "no workflow 'demo/None@1'"),
                              ({"event": "demo/None@1"}, "demo/None@1"),
                              ({"input": {"id": "{key}"}}, "input"),
                              ({"input": {**INPUT, "id": "always"}}, "write {key} there"),
                              ({"key": "fixed"}, "{due}"),
                              ({"overlap": "maybe"}, "skip, queue, allow, cancel"),
                              ({"jitter": "soon"}, "30s"),
                              ({"at": "tomorrow"}, "2026-11-18T06:00:00Z"),
                              ({"paused": 1}, "true or false"),
                              ({"name": "a/b"}, "letters, digits"),
                              ({"nonsense": 1}, "nonsense")):
            reply = self.api.post("/v1/schedules", nightly(**change))
            self.assertIn(reply.status, (400, 404, 422), (change, reply.body))
            self.assertIn(place, reply.json()["detail"] + reply.json().get("path", ""), change)

    def test_one_moment_is_started_and_a_preview_names_due_times(self):
        soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)
        self.ask("/v1/schedules", {"name": "once", "at": soon.strftime("%Y-%m-%dT%H:%M:%SZ"), "key": "o-1",
                                   "workflow": "demo/Order@1", "input": INPUT})
        wait_until(lambda: self.shown("once")["status"] == "ended" and self.shown("once")["completed"] == 1)
        self.assertEqual(self.api.get("/v1/instances/demo%2FOrder@1/o-1").json()["status"], "completed")
        due = self.ask("/v1/schedules/preview", {"cron": "30 2 * * *", "zone": "Europe/Berlin", "count": 3,
                                                 "after": "2026-03-28T00:00:00Z"})["due_ns"]
        texts = [datetime.datetime.fromtimestamp(ns / 1e9, datetime.timezone.utc).strftime("%m-%dT%H:%M") for ns in due]
        self.assertEqual(texts, ["03-28T01:30", "03-29T01:00", "03-30T00:30"])
        reply = self.api.post("/v1/events", {"schema": "sys/ScheduleControl@1", "value": {"key": "x", "action": "run"}})
        self.assertGreaterEqual(reply.status, 400, "events of the system are not for clients")

    def test_schedules_on_the_command_line(self):
        server = ("--server", f"http://127.0.0.1:{self.port}")

        def run(*arguments, code=0):
            done = self.run_program("schedule", *arguments, *server)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stdout + done.stderr
        run("add", "orders", "--every", "1h", "--workflow", "demo/Order@1", "--input", json.dumps(INPUT), "--overlap", "queue",
            "--catch-up", "all", "--catch-up-window", "7d", "--jitter", "5m")
        self.assertRegex(run("ls"), r"orders +active +every 1h +demo/Order@1 ")
        self.assertIn("overlap: queue  catch-up: all within 7d  jitter: 5m", run("show", "orders"))
        run("run", "orders")
        wait_until(lambda: json.loads(run("show", "orders", "--json"))["completed"] == 1)
        self.assertIn("completed", run("show", "orders"))
        run("pause", "orders")
        wait_until(lambda: "paused" in run("ls"))
        run("resume", "orders")
        wait_until(lambda: "active" in run("ls"))
        run("rm", "orders", "--cancel")
        wait_until(lambda: "orders" not in run("ls"))
        self.assertIn("there is no schedule 'orders'", run("show", "orders", code=1))
        done = self.run_program("schedule", "next", "--cron", "30 2 * * *", "--zone", "Europe/Berlin", "--after",
                                "2026-10-24T12:00:00Z", "--count", "2")
        self.assertEqual(done.stdout, "2026-10-25T00:30:00Z\n2026-10-26T01:30:00Z\n", done.stderr)
        wrong = self.run_program("schedule", "next", "--crno", "@daily")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("did you mean '--cron'?", wrong.stderr)


class Killed(ServerTest):
    def test_each_due_time_is_started_once_while_the_server_is_killed_around_it(self):
        self.start()
        reply = self.client().post("/v1/schedules", {"name": "s", "cron": "* * * * * *", "workflow": "demo/Order@1",
                                                     "input": INPUT, "overlap": "allow", "catch_up": "all"})
        self.assertEqual(reply.status, 200, reply.body)
        for _ in range(KILLS):
            # Somewhere around a whole second, often within some milliseconds of it.
            now = time.time()
            time.sleep(max(0, int(now) + 2 - now + random.gauss(0, 0.02)))
            self.process.kill()
            self.process.wait()
            time.sleep(random.choice((0, 0, 1.5)))
            self.start()
        api = self.client()
        started = api.get("/v1/schedules/s").json()["started"]
        wait_until(lambda: api.get("/v1/schedules/s").json()["started"] >= started + 3)
        self.assertEqual(api.post("/v1/schedules/s/pause", {}).status, 200)
        wait_until(lambda: not api.get("/v1/schedules/s").json()["running"])
        schedule = api.get("/v1/schedules/s").json()
        keys, after = set(), None
        while True:
            page = api.get("/v1/instances?workflow=demo%2FOrder@1&limit=1000" + (f"&after={after}" if after else "")).json()
            for each in page["instances"]:
                self.assertNotIn(each["key"], keys)
                keys.add(each["key"])
            after = page["next"]
            if not after:
                break
        self.assertEqual(schedule["skipped"] + schedule["missed"] + schedule["failed"], 0, schedule)
        self.assertEqual(len(keys), schedule["started"])
        seconds = sorted(datetime.datetime.strptime(key, "s@%Y-%m-%dT%H:%M:%SZ") for key in keys)
        expected = [seconds[0] + datetime.timedelta(seconds=i) for i in range(len(seconds))]
        self.assertEqual(seconds, expected, "each second once")


if __name__ == "__main__":
    unittest.main()
