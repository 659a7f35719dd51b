#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Logs of tasks: read, followed until the task ends, and still there after the server was killed."""
import subprocess
import unittest

from dispatch_test import OK, Dispatching, chain
from server import PATIENCE, PROGRAM, wait_until
from streams_test import Stream


class TaskLogs(Dispatching):
    def follow(self, path, last=None):
        stream = Stream(self.port, path, last)
        self.addCleanup(stream.close)
        return stream

    def write(self, worker, d, *lines, first=0):
        reply = worker.sync(logs=[{"d": d, "from": first, "lines": [[1, "out", line] for line in lines]}])
        self.assertEqual(reply.status, 200, reply.body)

    def wait_for_files(self, text):
        def is_written():
            return any(text.encode() in file.read_bytes() for file in (self.world / "logs").glob("*.log"))
        wait_until(is_written, "the line is not written to disk")

    def test_following_a_log_ends_with_the_task(self):
        worker = self.worker()
        graph = self.submit(chain("a", "b"))
        work = self.take_one(worker)
        path = f"/v1/graphs/{graph}/tasks/0/logs"
        self.write(worker, work["d"], "one")
        events = self.follow(path).events()
        self.assertEqual(next(events)[2]["text"], "one")
        waiting = self.follow(f"/v1/graphs/{graph}/tasks/1/logs").events()  # it has written nothing, and will not
        self.write(worker, work["d"], "two", first=1)
        self.assertEqual(next(events)[2]["text"], "two")
        worker.finish(work["d"], payload=OK)
        self.assertEqual([event[0] for event in events], ["end"])
        self.client().post(f"/v1/graphs/{graph}/cancel", {})
        self.assertEqual([event[0] for event in waiting], ["end"])
        again = list(self.follow(path).events())
        self.assertEqual([(name, value.get("text")) for name, _, value in again], [("message", "one"), ("message", "two"), ("end", None)])
        self.assertEqual([event[0] for event in self.follow(path, last=2).events()], ["end"])
        self.assertTrue(self.client().get(path).json()["ended"])

    def test_a_failed_execution_is_not_the_end_of_its_log(self):
        first, second = self.worker(name="a"), self.worker(name="b")
        graph = self.submit(chain("a"))
        work = self.take_one(first)
        events = self.follow(f"/v1/graphs/{graph}/tasks/0/logs").events()
        self.write(first, work["d"], "before")
        first.finish(work["d"], "error", error={"code": "x", "message": "broken"})
        again = self.take_one(second)
        self.write(second, again["d"], "after")
        second.finish(again["d"], payload=OK)
        found = [(name, value.get("attempt"), value.get("text")) for name, _, value in events]
        self.assertEqual(found, [("message", 1, "before"), ("message", 2, "after"), ("end", None, None)])

    def test_readers_that_leave_make_room_for_others(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        work = self.take_one(worker)
        path = f"/v1/graphs/{graph}/tasks/0/logs"
        for _ in range(100):  # more than may follow one log at a time
            with Stream(self.port, path) as stream:
                self.assertEqual(stream.read_head(), 200)
        def follows():
            with Stream(self.port, path) as stream:
                stream.read_head()
                self.write(worker, work["d"], "line")
                return next(stream.events())[0] == "message"
        wait_until(follows, "the log cannot be followed")

    def test_lines_are_there_after_the_server_was_killed(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        work = self.take_one(worker)
        self.write(worker, work["d"], "first line", "second line")
        self.wait_for_files("second line")
        self.restart(worker)
        worker.begin(first=False)
        self.write(worker, work["d"], "second line", "third line", first=1)
        worker.finish(work["d"], payload=OK)
        self.wait_for(graph)
        self.wait_for_files("third line")
        self.restart()
        page = self.client().get(f"/v1/graphs/{graph}/tasks/0/logs").json()
        self.assertEqual([line["text"] for line in page["lines"]], ["first line", "second line", "third line"])
        self.assertTrue(page["ended"])

    def test_a_damaged_file_costs_only_what_is_after_the_damage(self):
        worker = self.worker()
        graph = self.submit(chain("a"))
        work = self.take_one(worker)
        self.write(worker, work["d"], "good line")
        self.wait_for_files("good line")
        self.write(worker, work["d"], "bad line", first=1)
        self.wait_for_files("bad line")
        self.kill()
        [file] = (self.world / "logs").glob("*.log")
        file.write_bytes(file.read_bytes().replace(b"bad line", b"sad line"))
        self.start(*self.settings)
        page = self.client().get(f"/v1/graphs/{graph}/tasks/0/logs").json()
        self.assertEqual([line["text"] for line in page["lines"]], ["good line"])

    def test_a_task_that_is_not_there_has_no_log(self):
        graph = self.submit(chain("a"))
        for path in (f"/v1/graphs/{graph}/tasks/9/logs", "/v1/graphs/none/tasks/0/logs"):
            reply = self.client().get(path)
            self.assertEqual((reply.status, reply.code()), (404, "not_found"))
            with Stream(self.port, path) as stream:
                self.assertEqual(stream.read_head(), 404)

    def test_the_command_line_prints_and_follows_logs_and_cancels_one_task(self):
        server = ("--server", f"http://127.0.0.1:{self.port}")
        worker = self.worker()
        graph = self.submit(chain("fetch", "check"))
        work = self.take_one(worker)
        self.write(worker, work["d"], "one")
        follower = subprocess.Popen([PROGRAM, "logs", "-f", f"{graph}/fetch", *server], stdout=subprocess.PIPE, text=True)
        self.addCleanup(follower.stdout.close)
        self.addCleanup(follower.kill)
        self.assertEqual(follower.stdout.readline(), "one\n")
        self.write(worker, work["d"], "two", first=1)
        self.assertEqual(follower.stdout.readline(), "two\n")
        worker.finish(work["d"], payload=OK)
        self.assertEqual((follower.wait(timeout=PATIENCE), follower.stdout.read()), (0, ""))
        self.assertEqual(self.run_program("logs", f"{graph}/0", *server).stdout, "one\ntwo\n")
        self.assertEqual(self.run_program("logs", f"{graph}/fetch", "--after", "1", *server).stdout, "two\n")
        missing = self.run_program("logs", f"{graph}/nothing", *server)
        self.assertEqual(missing.returncode, 1)
        self.assertIn("the graph has no task 'nothing'", missing.stderr)
        self.assertIn("name one of them", self.run_program("logs", graph, *server).stderr)
        self.assertEqual(self.run_program("cancel", f"{graph}/check", *server).returncode, 0)
        self.wait_for(graph, "CANCELLED")
        self.assertEqual(self.states(graph), {"fetch": "DONE", "check": "CANCELLED"})


# What it inherits runs in dispatch_test.py.
for name in list(vars(Dispatching)):
    if name.startswith("test_") and name not in vars(TaskLogs):
        setattr(TaskLogs, name, None)
del Dispatching

if __name__ == "__main__":
    unittest.main()
