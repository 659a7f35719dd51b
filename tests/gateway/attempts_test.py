#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run with three failed attempts: every way to look at it shows code and message of each. And events that no instance takes."""
import json
import os
import re
import subprocess
import unittest

from server import FLOWS, PATIENCE, ServerTest, wait_until
from streams_test import Stream

STUBBORN = "/v1/instances/flows/Stubborn@1/s"
SAID = [f"busy at attempt {number}" for number in (1, 2, 3)]


class Attempts(ServerTest):
    program = FLOWS

    def setUp(self):
        super().setUp()
        self.start()
        reply = self.client().post("/v1/workflows/flows/Stubborn@1/start", {"input": {"id": "s"}, "wait": 60000})
        self.assertEqual(reply.status, 200, reply.body)
        self.instance = reply.json()["instance"]

    def holdfast(self, *arguments):
        done = subprocess.run([self.program, *arguments, "--server", f"http://127.0.0.1:{self.port}"], cwd=self.folder,
                              timeout=PATIENCE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return done.returncode, done.stdout, done.stderr

    def expect_all(self, text):
        for said in SAID:
            self.assertIn(said, text)
            self.assertRegex(text, r"flows\.busy\W")

    def test_the_instance_and_show(self):
        self.assertEqual(self.instance["status"], "failed")
        self.assertEqual(self.instance["error"]["code"], "flows.busy")
        failures = self.client().get(STUBBORN).json()["state"]["failures"]
        self.assertEqual([(each["step"], each["attempt"], each["code"], each["message"]) for each in failures],
                         [("persist", number, "flows.busy", SAID[number - 1]) for number in (1, 2, 3)])
        self.expect_all(self.holdfast("show", "flows/Stubborn@1/s")[1])

    def test_why(self):
        document = self.client().get(STUBBORN + "/why").json()
        self.assertEqual([each["message"] for each in document["failed_attempts"]], SAID)
        self.expect_all(self.holdfast("why", "flows/Stubborn@1/s")[1])

    def test_the_timeline_and_the_journal(self):
        for command in (("timeline", "flows/Stubborn@1/s"), ("journal",)):
            code, text, errors = self.holdfast(*command)
            self.assertEqual((code, errors), (0, ""))
            self.expect_all(text)
            self.assertRegex(text, r"receipt failed( flows/Stubborn\.persist@1 \(\w+\))?: flows\.busy")
            self.assertNotIn("receipt ok flows/Stubborn.persist@1", text)
        records = self.client().get(STUBBORN + "/timeline").json()["records"]
        told = [record["tick"]["failure"] for record in records if "failure" in record["tick"]]
        self.assertEqual([each["message"] for each in reversed(told)], SAID)

    def test_the_stream(self):
        with Stream(self.port, STUBBORN + "/stream?kinds=attempt_failed,failed") as stream:
            entries = [value for kind, _, value in stream.events() if kind != "end"]
        self.assertEqual([entry["kind"] for entry in entries], ["attempt_failed"] * 3 + ["failed"])
        self.assertEqual([entry["message"] for entry in entries], SAID + SAID[2:])
        self.assertEqual([entry["attempts"] for entry in entries], [1, 2, 3, 3])
        self.assertEqual([bool(entry.get("due_ns")) for entry in entries], [True, True, False, False])

    def test_the_graph(self):
        document = self.client().get(STUBBORN + "/graph?format=json").json()["execution"]
        step = next(each for each in document["steps"] if each["step"] == "persist")
        self.assertEqual([(each["code"], each["message"]) for each in step["failures"]],
                         [("flows.busy", said) for said in SAID])
        for form in ("dot", "mermaid", "svg"):
            self.expect_all(self.client().get(STUBBORN + f"/graph?format={form}").body.decode())
            self.expect_all(self.holdfast("graph", "flows/Stubborn@1/s", "--format", form)[1])

    def test_the_log_and_the_metrics(self):
        def text():
            return (self.folder / "errors").read_text()
        wait_until(lambda: all(said in text() for said in SAID), "the log does not tell")
        self.expect_all(text())

        def count():
            found = re.search(r'^holdfast_failed_effects_total\{workflow="flows/Stubborn@1",status="failed",'
                              r'code="flows.busy"\} (\d+)$', self.metrics(), re.M)
            return found and found[1] == "3"
        wait_until(count, "the metrics do not tell")
        # The run says the same words everywhere.
        self.assertIn("an instance failed: flows.busy: busy at attempt 3", text())
        self.assertIn('holdfast_failed_instances_total{workflow="flows/Stubborn@1",status="failed",code="flows.busy"} 1',
                      self.metrics())

    def test_the_folder_says_the_same_when_the_server_is_gone(self):
        """Killed: what is shown is what was durable."""
        name = "flows/Stubborn@1/s"
        online = {command: self.holdfast(command, name) for command in ("show", "why", "timeline", "diagnose", "stream", "graph")}
        self.kill()
        for command, said in online.items():
            done = subprocess.run([self.program, command, name, "--world", self.world], cwd=self.folder, timeout=PATIENCE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr), said, command)
            if command != "diagnose":  # which has one line
                self.expect_all(said[1])
        self.assertEqual(online["diagnose"][1], "fault: its own step has failed it; flows.busy: busy at attempt 3\n")

    def test_the_time_of_the_end_is_in_lists(self):
        def row():
            rows = self.client().get("/v1/instances?workflow=flows/Stubborn@1").json()["instances"]
            return rows and rows[0]["status"] == "failed" and rows[0]
        found = wait_until(row, "it is not listed")
        self.assertEqual((found["ended_record"], found["ended_ns"]), (found["last_record"], found["last_ns"]))
        # An event that comes too late changes nothing of it.
        late = self.client().post(STUBBORN + "/signal", {"schema": "flows/Tried@1", "value": {"id": "s"}})
        self.assertEqual((late.status, late.code()), (404, "unhandled"), late.body)
        self.assertIn("flows/Stubborn@1/s has ended (failed)", late.body.decode())
        touched = row()
        self.assertEqual((touched["ended_record"], touched["ended_ns"]), (found["ended_record"], found["ended_ns"]))
        self.assertGreater(touched["last_record"], found["last_record"])

    def test_show_names_workflow_and_module_by_hash_and_so_does_the_journal(self):
        shown = self.client().get(STUBBORN).json()
        for name in ("workflow_hash", "module_hash"):
            self.assertRegex(shown[name], r"^sha256:[0-9a-f]{64}$")
        self.assertEqual(shown["module"], "flows/code.steps@1")
        text = self.holdfast("show", "flows/Stubborn@1/s")[1]
        self.assertRegex(text, rf"hash +{shown['workflow_hash']}\n")
        self.assertRegex(text, rf"module +flows/code.steps@1 {shown['module_hash']}\n")
        applied = self.client().get("/v1/journal?limit=1").json()["records"][0]["tick"]
        named = {each["workflow"]: each for each in applied["workflows"]}
        self.assertEqual(named["flows/Stubborn@1"], {each: shown[each] for each in
                                                     ("workflow", "workflow_hash", "module", "module_hash")})


class Late(ServerTest):
    """Two attempts that took too long: each is told once, and as what it is."""
    program = FLOWS

    def setUp(self):
        super().setUp()
        self.start("--log-format", "json")
        reply = self.client().post("/v1/workflows/flows/Sleeper@1/start", {"input": {"id": "s"}, "wait": 60000})
        self.assertEqual(reply.status, 200, reply.body)

    def holdfast(self, *arguments):
        return subprocess.run([self.program, *arguments, "--server", f"http://127.0.0.1:{self.port}"], cwd=self.folder,
                              timeout=PATIENCE, capture_output=True, text=True).stdout

    def test_it_is_told_once_and_the_entry_says_whether_it_is_tried_again(self):
        name = "flows/Sleeper@1/s"
        with Stream(self.port, f"/v1/instances/{name}/stream?kinds=attempt_failed") as stream:
            entries = [value for kind, _, value in stream.events() if kind != "end"]
        self.assertEqual([(entry["code"], entry["attempts"], "due_ns" in entry) for entry in entries],
                         [("effect.timeout", 1, True), ("effect.timeout", 2, False)])
        timeline = self.holdfast("timeline", name)
        told = re.findall(r"receipt timeout flows/Sleeper\.sleep@1 \([0-9a-f]+\): effect\.timeout", timeline)
        self.assertEqual(len(told), 2, timeline)
        self.assertNotIn("receipt failed", timeline)
        self.assertRegex(self.holdfast("diagnose", name), r"\Atimeout: record \d+ says that an effect took too long; effect.timeout: ")

        def logged():
            lines = [json.loads(line) for line in (self.folder / "errors").read_text().splitlines() if line.startswith("{")]
            return [line for line in lines if line["event"] in ("effect.failed", "step.failed")]
        wait_until(lambda: len(logged()) >= 2, "the log does not tell")
        wait_until(lambda: 'holdfast_failed_instances_total{workflow="flows/Sleeper@1"' in self.metrics(), "it has not ended")
        self.assertEqual([(line["step"], line["attempt"], line["code"]) for line in logged()],
                         [("sleep", 1, "effect.timeout"), ("sleep", 2, "effect.timeout")])
        counts = re.findall(r'^holdfast_failed_effects_total\{workflow="flows/Sleeper@1",status="(\w+)",code="effect.timeout"\} (\d+)$',
                            self.metrics(), re.M)
        self.assertEqual(counts, [("timeout", "2")])


class Talking(ServerTest):
    program = FLOWS

    def setUp(self):
        super().setUp()
        self.start()

    def holdfast(self, *arguments):
        return subprocess.run([self.program, *arguments, "--server", f"http://127.0.0.1:{self.port}"], cwd=self.folder,
                              timeout=PATIENCE, capture_output=True, text=True).stdout

    def start_talk(self, key, how, wait=0):
        reply = self.client().post("/v1/workflows/flows/Talker@1/start", {"input": {"id": key, "how": how}, "wait": wait})
        self.assertIn(reply.status, (200, 201), reply.body)

    def waits(self, key):
        wait_until(lambda: "waits for flows/Answer@1" in self.client().get(f"/v1/instances/flows/Talker@1/{key}/why").json()["sentence"],
                   "it does not wait")

    def test_what_is_not_utf8_fails_the_step_at_the_call(self):
        self.start_talk("b", "bad", 60000)
        error = self.client().get("/v1/instances/flows/Talker@1/b").json()["error"]
        self.assertEqual(error["code"], "step.bad_put")
        self.assertIn("flows/Piece@1", error["message"])

    def test_pieces_that_come_again_come_after_an_entry_that_says_so(self):
        self.start_talk("w", "wait")
        self.waits("w")
        self.client().post("/v1/instances/flows/Talker@1/w/signal", {"schema": "flows/Answer@1", "value": {"id": "w"}})
        with Stream(self.port, "/v1/instances/flows/Talker@1/w/stream?kinds=event,began_again") as stream:
            entries = [value for kind, _, value in stream.events() if kind != "end"]
        self.assertEqual([(entry["kind"], entry.get("code", "")) for entry in entries],
                         [("event", ""), ("began_again", "step.waited"), ("event", "")])

    def test_many_pieces_hide_neither_the_failed_attempt_nor_themselves(self):
        self.start_talk("m", "much")
        self.waits("m")
        self.assertIn("Last trouble: failed step in record", self.holdfast("diagnose", "flows/Talker@1/m"))
        drawn = self.holdfast("graph", "flows/Talker@1/m", "--format", "mermaid")
        self.assertRegex(drawn, r'flows/Piece@1<br/>×200"\):::done')
        self.assertRegex(drawn, r"flows.hoarse: no voice yet")
        self.kill()
        done = subprocess.run([self.program, "graph", "flows/Talker@1/m", "--format", "mermaid", "--world", self.world], cwd=self.folder,
                              timeout=PATIENCE, capture_output=True, text=True)
        self.assertEqual(done.stdout, drawn)


class Threads(ServerTest):
    """Four bodies have the four threads: the fifth waits for one, and says so."""
    program = FLOWS

    def test_why_says_that_a_body_waits_for_a_thread(self):
        gate = self.folder / "gate"
        os.environ["HOLDFAST_GATE"] = str(gate)
        self.addCleanup(os.environ.pop, "HOLDFAST_GATE")
        self.start()
        for key in "abcde":
            reply = self.client().post("/v1/workflows/flows/Gate@1/start", {"input": {"id": key}})
            self.assertIn(reply.status, (200, 201), reply.body)

        def sentences():
            return [self.client().get(f"/v1/instances/flows/Gate@1/{key}/why").json() for key in "abcde"]

        def waiting():
            found = [document for document in sentences() if "free handler thread (4 of 4 busy)" in str(document)
                     or any("busy_handler_threads" in reason for reason in document["reasons"])]
            return found if len(found) == 1 else None
        document = wait_until(waiting, "nobody says that it waits for a thread")[0]
        self.assertEqual([reason["busy_handler_threads"] for reason in document["reasons"] if "busy_handler_threads" in reason], [4])
        self.assertIn("holdfast_handler_threads 4\n", self.metrics())
        self.assertIn("holdfast_busy_handler_threads 4\n", self.metrics())
        gate.write_text("")
        wait_until(lambda: "holdfast_busy_handler_threads 0\n" in self.metrics(), "they stay busy")


class Plain(ServerTest):
    """A workflow that is not made of steps has its failed effects in its records only."""

    def test_show_why_and_diagnose_say_what_failed(self):
        self.start()
        reply = self.client().post("/v1/events", {"schema": "demo/OrderPlaced@1", "wait": True,
                                                  "value": {"id": "o-2", "sku": "unicorn", "count": 1, "cents": 5}})
        self.assertEqual(reply.json()["instance"]["status"], "failed", reply.body)
        server = ("--server", f"http://127.0.0.1:{self.port}")
        for command in ("show", "why", "diagnose"):
            done = self.run_program(command, "demo/Order@1/o-2", *server)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("stock.empty: there are no unicorns", done.stdout, command)


class Unhandled(ServerTest):
    def setUp(self):
        super().setUp()
        self.start()

    def test_an_event_that_no_instance_takes_is_told(self):
        event = {"schema": "demo/RefundDecided@1", "value": {"id": "mistyped", "by": "manager", "approved": True}}
        reply = self.client().post("/v1/events", event)
        self.assertEqual((reply.status, reply.code()), (404, "unhandled"), reply.body)
        done = self.run_program("send", "demo/RefundDecided@1", '{"id":"mistyped","by":"manager","approved":true}',
                                "--server", f"http://127.0.0.1:{self.port}")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("there is no demo/RefundCase@1/mistyped, and this event begins none", done.stderr)
        # Nothing of it is left.
        self.assertEqual(self.client().get("/v1/instances/demo/RefundCase@1/mistyped").status, 404)
        listed = self.client().get("/v1/instances").json()["instances"]
        self.assertNotIn("mistyped", [row["key"] for row in listed])
        self.assertNotIn('status="deleted"', self.metrics())
        overview = self.client().get("/v1/overview").json()
        self.assertNotIn("deleted", str(overview))
        self.assertEqual(self.client().get("/v1/instances/demo/RefundCase@1/mistyped/stream").status, 404)
        # Nor is it said that anything was deleted, in the folder as with the server.
        for where in (("--server", f"http://127.0.0.1:{self.port}"), ("--world", self.world)):
            if where[0] == "--world":
                self.kill()
            lines = [self.run_program("journal", *where).stdout] if where[0] == "--server" else \
                [self.run_program("journal", self.world).stdout]
            lines.append(self.run_program("trace", "2", *where).stdout)
            for text in lines:
                self.assertRegex(text, r"demo/RefundCase@1/mistyped +unhandled")
                self.assertNotIn("deleted", text)
            self.assertEqual(self.run_program("stream", "demo/RefundCase@1/mistyped", *where).returncode, 1)

    def test_it_is_unhandled_again_when_it_is_sent_again_under_its_id(self):
        value = '{"id":"typo","by":"manager","approved":true}'
        event = {"schema": "demo/RefundDecided@1", "value": json.loads(value), "id": "web-9"}
        why = "there is no demo/RefundCase@1/typo, and this event begins none"

        def twice(expected):
            for said in expected:
                done = self.run_program("send", "demo/RefundDecided@1", value, "--id", "web-9",
                                        "--server", f"http://127.0.0.1:{self.port}")
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(f"{why}{said}", done.stderr)
                self.assertIn("(unhandled)", done.stderr)
                reply = self.client().post("/v1/events", event)
                self.assertEqual((reply.status, reply.code()), (404, "unhandled"), reply.body)

        again = "; it was sent before"
        twice(("", again))
        self.kill()
        self.start()
        twice((again,))
        self.assertEqual(self.client().post("/v1/snapshots", {}).status, 200)
        self.kill()
        self.start()
        twice((again,))
        # The run that begins later does not change what was answered.
        self.client().post("/v1/events", {"schema": "demo/RefundRequested@1", "value": {"id": "typo", "order": "o", "cents": 5}})
        twice((again,))

    def test_it_is_unhandled_in_json_too_and_nothing_begins_later(self):
        server = ("--server", f"http://127.0.0.1:{self.port}")
        value = '{"id":"mistyped","by":"manager","approved":true}'
        done = self.run_program("send", "demo/RefundDecided@1", value, "--json", *server)
        self.assertEqual((done.returncode, done.stdout, json.loads(done.stderr)["code"]), (1, "", "unhandled"))
        done = self.run_program("signal", "demo/RefundCase@1/mistyped", "demo/RefundDecided@1", value, *server)
        self.assertEqual(done.returncode, 1)
        self.assertIn("(not_found)", done.stderr)
        # After a kill nothing has come of it, and the right key is taken.
        self.kill()
        self.start()
        self.assertEqual(self.client().get("/v1/instances").json()["instances"], [])
        right = {"schema": "demo/RefundRequested@1", "value": {"id": "mistyped", "order": "o-1", "cents": 5}}
        reply = self.client().post("/v1/events", right)
        self.assertEqual((reply.status, reply.json()["unhandled"], reply.json()["deliveries"]), (200, 0, 1), reply.body)


if __name__ == "__main__":
    unittest.main()
