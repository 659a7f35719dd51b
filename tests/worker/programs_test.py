#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `holdfast worker` runs: Python and JavaScript functions, programs, HTTP requests; their logs, their ends, and the end of
the worker. The server is that of the conformance script."""
import contextlib
import http.server
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "support")]
import worker_conformance
from waiting import PATIENCE, wait_until

PROGRAM = pathlib.Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build")) / "holdfast"

PYTHON = '''
import os, pathlib, time

def add(input, task):
    print("adding", input["a"], "and", input["b"])
    task.progress({"percent": 50})
    return {"sum": input["a"] + input["b"]}

def talk(input):
    for number in range(input["lines"]):
        print("line", number)
    print("the end without a newline", end="")

def hang(input, task):
    pathlib.Path(input["file"]).write_text(str(os.getpid()))
    time.sleep(3600)

def polite(input, task):
    print("waiting")
    task.wait(3600)
    return task.stop_reason
'''


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = worker_conformance.Server()
        self.server.told_stops = set()
        self.addCleanup(self.server.close)

    def write(self, name, text, mode=0o644):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    @contextlib.contextmanager
    def worker(self, *flags):
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen([PROGRAM, "worker", "--server", self.server.url, "--dir", self.folder / "worker", "--slots", "4",
                                        *flags], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait(timeout=PATIENCE)

    @staticmethod
    def has_ended(pid):
        try:  # an orphan may wait for whoever adopts it
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except FileNotFoundError:
            return True

    def log(self):
        return (self.folder / "log").read_text()

    def result(self, type, **spec):
        d = self.server.give(spec, type=type)
        return d, self.server.result(d)

    def lines(self, d):
        return [(stream, text) for _, stream, text in self.server.logs.get(d, [])]

    def test_python_functions_are_tasks(self):
        with self.worker("--python", self.write("f.py", PYTHON)):
            d, entry = self.result("add", a=2, b=3)
            self.assertEqual(entry["payload"], {"sum": 5})
            self.assertEqual(self.lines(d), [("out", "adding 2 and 3")])
            self.assertLessEqual(entry["started_ns"], entry["ended_ns"])
            enrolment = next(body for kind, body in self.server.requests if kind == "enrol")
            self.assertEqual(enrolment["types"], ["echo", "python", "add", "hang", "polite", "talk"])
            _, entry = self.result("python", function="add", a="x", b="y")
            self.assertEqual(entry["payload"], {"sum": "xy"})
            _, entry = self.result("add", a=1)
            self.assertEqual(entry["error"]["message"], "KeyError: 'b'")
            _, entry = self.result("python")
            self.assertFalse(entry["error"]["retryable"])

    def test_the_functions_of_the_example_are_tasks(self):
        with self.worker("--python", str(ROOT / "examples" / "tasks" / "words.py")):
            d, entry = self.result("count", text="jumps over")
            self.assertEqual((entry["payload"], self.lines(d)), ({"words": 2}, [("out", "counting task-1")]))
            _, entry = self.result("add", counts=[4, 2, 3])
            self.assertEqual(entry["payload"], {"total": 9})

    def test_every_line_of_a_task_arrives_before_its_result_or_with_it(self):
        with self.worker("--python", self.write("f.py", PYTHON)):
            d, _ = self.result("talk", lines=2500)
            self.assertEqual(self.lines(d), [("out", f"line {number}") for number in range(2500)] + [("out", "the end without a newline")])

    def test_lines_and_progress_arrive_while_the_task_runs(self):
        with self.worker("--python", self.write("f.py", PYTHON)):
            d = self.server.give({}, type="polite")
            self.server.wait(lambda: self.lines(d) == [("out", "waiting")], "the line")
            self.server.stops[d] = {"reason": "cancelled", "grace_ms": 30000}
            self.assertEqual(self.server.result(d)["payload"], "cancelled")

    def test_a_task_that_does_not_listen_is_killed_with_its_process(self):
        with self.worker("--python", self.write("f.py", PYTHON)):
            place = self.folder / "pid"
            d = self.server.give({"file": str(place)}, type="hang", timeout_ms=1000)
            self.assertEqual(self.server.result(d)["status"], "timeout")
            pid = int(place.read_text())
            wait_until(lambda: self.has_ended(pid), "the process is still there")
            _, entry = self.result("add", a=1, b=1)
            self.assertEqual(entry["payload"], {"sum": 2})

    def test_children_of_a_killed_worker_die_with_it(self):
        with self.worker("--python", self.write("f.py", PYTHON)) as process:
            place = self.folder / "pid"
            self.server.give({"file": str(place)}, type="hang")
            pid = int(wait_until(lambda: place.exists() and place.read_text()))
            process.kill()
            process.wait(timeout=PATIENCE)
            wait_until(lambda: self.has_ended(pid), "the child is still there")

    def test_javascript_functions_are_tasks(self):
        path = self.write("f.mjs", "export async function twice(input, task) { console.log('doubling'); return {n: input.n * 2}; }\n")
        with self.worker("--node", path):
            d, entry = self.result("twice", n=21)
            self.assertEqual(entry["payload"], {"n": 42})
            self.assertEqual(self.lines(d), [("out", "doubling")])

    def test_programs_are_tasks(self):
        path = self.write("count", '#!/bin/sh\necho "attempt $HOLDFAST_ATTEMPT, token [$HOLDFAST_TOKEN]" >&2\ncat\n', 0o755)
        os.environ["HOLDFAST_TOKEN"] = "a-token"
        self.addCleanup(os.environ.pop, "HOLDFAST_TOKEN")
        with self.worker("--exec", path):
            d, entry = self.result("process", args=["x"], n=[1, {"a": None}])
            self.assertEqual(entry["payload"], {"args": ["x"], "n": [1, {"a": None}]})
            self.assertEqual(self.lines(d), [("err", "attempt 1, token []")])
            _, entry = self.result("process", program="/bin/sh")
            self.assertEqual(entry["error"]["code"], "process.input")

    def test_requests_are_tasks_and_go_only_where_they_may(self):
        seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                seen.append((self.path, self.headers["Idempotency-Key"], self.headers["Content-Type"], body))
                status = int(self.path[1:])
                self.send_response(status)
                data = b'{"taken": true}'
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=other.serve_forever, daemon=True).start()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        url = f"http://127.0.0.1:{other.server_address[1]}"
        with self.worker("--http-host", f"127.0.0.1:{other.server_address[1]}/private"):
            _, entry = self.result("http", url=url + "/200", body={"a": 1})
            self.assertEqual((entry["payload"]["status"], entry["payload"]["json"]), (200, {"taken": True}))
            self.assertEqual(seen[0], ("/200", "sha256:" + "%064x" % 1, "application/json", '{"a":1}'))
            _, entry = self.result("http", url=url + "/503", method="POST", body="x")
            self.assertEqual((entry["error"]["code"], entry["error"]["retryable"]), ("http.status", True))
            _, entry = self.result("http", url=url + "/404", body="x")
            self.assertEqual((entry["error"]["code"], entry["error"]["retryable"]), ("http.status", False))
            _, entry = self.result("http", url=url + "/404", body="x", any_status=True)
            self.assertEqual(entry["payload"]["status"], 404)
            _, entry = self.result("http", url=self.server.url)
            self.assertEqual(entry["error"]["code"], "http.host_refused")

    def test_a_file_that_cannot_be_loaded_ends_the_worker_at_once(self):
        with self.worker("--python", self.write("f.py", "def f(:\n")) as process:
            self.assertEqual(process.wait(timeout=PATIENCE), 1)
        self.assertIn("SyntaxError", self.log())

    def test_two_processes_do_not_share_a_folder(self):
        with self.worker() as _:
            self.server.after(0, "sync")
            with self.worker() as second:
                self.assertNotEqual(second.wait(timeout=PATIENCE), 0)
        self.assertIn("lock", self.log())

    def test_the_second_signal_gives_back_at_once(self):
        with self.worker("--python", self.write("f.py", PYTHON)) as process:
            place = self.folder / "pid"
            d = self.server.give({"file": str(place)}, type="hang")
            wait_until(place.exists)
            process.send_signal(signal.SIGTERM)
            self.server.after(0, "sync", lambda body: body.get("draining"), "draining")
            process.send_signal(signal.SIGTERM)
            self.server.wait(lambda: self.server.returned.get(d), "the task comes back")
            self.assertEqual(self.server.returned[d]["reason"], "drain")
            self.assertEqual(process.wait(timeout=PATIENCE), 0)

    def test_a_token_that_is_not_good_ends_the_worker(self):
        self.server.fault("enrol", 401)
        with self.worker() as process:
            self.assertEqual(process.wait(timeout=PATIENCE), 1)
        self.assertIn("unauthenticated", self.log())

    def test_the_name_of_a_folder_stays_and_the_secret_is_for_its_owner(self):
        with self.worker("--name", "anna", "--node-name", "here") as process:
            self.server.after(0, "sync")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=PATIENCE), 0)
        identity = self.folder / "worker" / "identity.json"
        self.assertEqual(identity.stat().st_mode & 0o777, 0o600)
        mark = self.server.mark()
        with self.worker():
            body = self.server.after(mark, "enrol")
            self.assertEqual((body["name"], body["node"]), ("anna", "here"))

    def test_flags_that_are_wrong_are_refused_before_anything_is_made(self):
        for flags, said in ((["--slots", "0"], "slots"), (["--label", "x"], "--label"), (["--name", "a b"], "is not a name"),
                            (["--http-host", "a/b"], "is no host"), (["--exec", "/no/such"], "/no/such")):
            done = subprocess.run([PROGRAM, "worker", "--server", self.server.url, "--dir", self.folder / "w", *flags],
                                  capture_output=True, text=True, timeout=PATIENCE)
            self.assertNotEqual(done.returncode, 0, flags)
            self.assertIn(said, done.stderr, flags)
        done = subprocess.run([PROGRAM, "worker", "--server", "http://10.0.0.1", "--token", "t", "--dir", self.folder / "w"],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn("in the clear", done.stderr)


if __name__ == "__main__":
    unittest.main()
