#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An instance that failed, timed out or was cancelled, and a request that was refused, is called so in the same words everywhere:
command line, API, stream, log and metrics."""
import json
import re
import subprocess
import unittest

from server import FLOWS, PATIENCE, ServerTest, wait_until
from streams_test import Stream

# What happened: the workflow, its input, the status, the last entry of the stream, the code, the verdict of `diagnose`.
ENDS = {
    "a step failed": ("flows/Stubborn@1", {"id": "a"}, "failed", "failed", "flows.busy", "fault"),
    "it took too long": ("flows/Late@1", {"id": "b"}, "failed", "timed_out", "steps.timed_out", "timeout"),
    "a body cancelled it": ("flows/Quitter@1", {"id": "c"}, "failed", "cancelled", "steps.cancelled", "fault"),
}


class Words(ServerTest):
    program = FLOWS

    def setUp(self):
        super().setUp()
        self.start("--log-format", "json")

    def holdfast(self, *arguments, place=None):
        place = place or ("--server", f"http://127.0.0.1:{self.port}")
        return subprocess.run([self.program, *arguments, *map(str, place)], cwd=self.folder, timeout=PATIENCE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def log(self, event):
        lines = [json.loads(line) for line in (self.folder / "errors").read_text().splitlines()]
        return [line for line in lines if line["event"] == event]

    def run_all(self):
        for workflow, value, *_ in ENDS.values():
            reply = self.client().post(f"/v1/workflows/{workflow}/start", {"input": value, "wait": 60000})
            self.assertEqual(reply.status, 200, reply.body)

    def test_instances_that_failed(self):
        self.run_all()
        for what, (workflow, value, status, kind, code, verdict) in ENDS.items():
            with self.subTest(what):
                path, name = f"/v1/instances/{workflow}/{value['id']}", f"{workflow}/{value['id']}"
                shown = self.client().get(path).json()
                error = shown["error"]
                self.assertEqual((shown["status"], error["code"]), (status, code))
                message = error["message"]
                # Lists.
                def row():
                    rows = self.client().get(f"/v1/instances?workflow={workflow}").json()["instances"]
                    return [each for each in rows if each["status"] not in ("running", "waiting")]
                listed, = wait_until(row, "it is not listed")
                self.assertEqual((listed["status"], listed["error"]), (status, {"code": code, "message": message}))
                # Why.
                sentence = self.client().get(path + "/why").json()["sentence"]
                self.assertEqual(sentence, f"It has ended: {status}: {code}: {message}")
                # The stream: its last entry, and its end.
                with Stream(self.port, path + "/stream") as stream:
                    *_, last, (end, _, ended) = stream.events()
                self.assertEqual((end, ended), ("end", {"status": status}))
                self.assertEqual((last[2]["kind"], last[2]["code"], last[2]["message"]), (kind, code, message))
                # The command line.
                done = self.holdfast("show", name)
                self.assertRegex(done.stdout, rf"status +{status}\n")
                self.assertIn(f'"code":"{code}"', done.stdout)
                self.assertIn(status, self.holdfast("ls", "--workflow", workflow).stdout)
                self.assertEqual(self.holdfast("why", name).stdout.splitlines()[0], sentence)
                told = json.loads(self.holdfast("diagnose", name, "--json").stdout)
                self.assertEqual((told["status"], told["verdict"]), (status, verdict))
                self.assertIn(f"{code}: {message}", told["explanation"])
                self.assertIn(f'end  {{"status":"{status}"}}', self.holdfast("stream", name).stdout)
                # The log.
                line, = wait_until(lambda: [each for each in self.log("instance.failed") if each["workflow"] == workflow])
                self.assertEqual((line["code"], line["message"]), (code, f"an instance {status}: {code}: {message}"))
                # Metrics.
                counted = f'holdfast_failed_instances_total{{workflow="{workflow}",status="{status}",code="{code}"}} 1'
                wait_until(lambda: counted in self.metrics(), counted)
                self.assertIn(f'holdfast_instances{{workflow="{workflow}",status="{status}"}} 1', self.metrics())

    def test_an_instance_that_was_cancelled_from_outside(self):
        self.assertEqual(self.client().post("/v1/workflows/flows/Patient@1/start", {"input": {"id": "p"}}).status, 201)
        path, name = "/v1/instances/flows/Patient@1/p", "flows/Patient@1/p"
        self.assertEqual(self.client().post(path + "/cancel", {"reason": "by mistake"}).status, 200)
        shown = self.client().get(path).json()
        self.assertEqual(shown["status"], "cancelled")
        with Stream(self.port, path + "/stream") as stream:
            *_, (end, _, ended) = stream.events()
        self.assertEqual((end, ended), ("end", {"status": "cancelled"}))
        self.assertEqual(self.client().get(path + "/why").json()["sentence"], "It has ended: cancelled.")
        self.assertRegex(self.holdfast("show", name).stdout, r"status +cancelled\n")
        self.assertEqual(json.loads(self.holdfast("diagnose", name, "--json").stdout)["verdict"], "cancelled")
        counted = 'holdfast_instances{workflow="flows/Patient@1",status="cancelled"} 1'
        wait_until(lambda: counted in self.metrics(), counted)

    def test_a_folder_says_the_same(self):
        self.run_all()
        names = [f"{workflow}/{value['id']}" for workflow, value, *_ in ENDS.values()]
        commands = [(command, name) for name in names for command in ("show", "why", "diagnose", "stream")]
        online = [self.holdfast(*command).stdout for command in commands]
        self.assertEqual(self.stop(), 0)
        self.assertEqual([self.holdfast(*command, place=("--world", self.world)).stdout for command in commands], online)

    def test_requests_that_were_refused(self):
        self.assertEqual(self.client().post("/v1/workflows/flows/Patient@1/start", {"input": {"id": "p"}}).status, 201)
        answer = "flows/Answer@1"
        cases = {
            "conflict": (("start", "flows/Patient@1", '{"id":"p"}'), "/v1/workflows/flows/Patient@1/start",
                         {"input": {"id": "p"}}),
            "unhandled": (("send", answer, '{"id":"typo"}'), "/v1/events", {"schema": answer, "value": {"id": "typo"}}),
            "schema": (("send", answer, '{"idd":"p"}'), "/v1/events", {"schema": answer, "value": {"idd": "p"}}),
            "not_found": (("start", "flows/Nobody@1", '{"id":"p"}'), "/v1/workflows/flows/Nobody@1/start",
                          {"input": {"id": "p"}}),
        }
        for code, (command, path, body) in cases.items():
            with self.subTest(code):
                reply = self.client().post(path, body)
                self.assertEqual(reply.code(), code, reply.body)
                place = reply.json().get("path", "")
                said = (place + ": " if place else "") + reply.json()["detail"]
                said_again = re.sub(r"record \d+", "record N", said)
                done = self.holdfast(*command)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertEqual(re.sub(r"record \d+", "record N", done.stderr), f"holdfast: {said_again} ({code})\n")
                done = self.holdfast(*command, "--json")
                self.assertEqual((done.returncode, json.loads(done.stderr)["code"]), (1, code))
                lines = wait_until(lambda: len(found := [line for line in self.log("request.refused") if line["code"] == code])
                                   == 3 and found)
                self.assertEqual({line["status"] for line in lines}, {reply.status})
                self.assertEqual(lines[0]["detail"], said)
                self.assertIn(f'holdfast_http_refused_requests_total{{code="{code}"}} 3\n', self.metrics())
        # What the world itself has refused has the same word.
        self.assertIn('holdfast_refused_inputs_total{code="conflict"} 3\n', self.metrics())


if __name__ == "__main__":
    unittest.main()
