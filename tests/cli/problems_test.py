#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With --json a refusal is one line of JSON on standard error, with the members of a problem document; the exit code is the same."""
import json
import socket
import urllib.error
import urllib.request

from program import PATIENCE, main
from serving import ORDER, ServingTest


class Problems(ServingTest):
    def problem(self, code, *arguments):
        done = self.run_program(*arguments, "--json")
        self.assertEqual((done.stdout, done.returncode), (b"", code), (arguments, done.stderr))
        line, = done.stderr.decode().splitlines()
        return json.loads(line)

    def test_of_a_folder(self):
        self.assertEqual(self.problem(1, "verify", "nowhere"), {"code": "not_found", "path": "nowhere", "detail": "there is no world"})
        self.make_world(orders=1)
        self.assertEqual(self.problem(1, "show", "demo/Order@1/x", "--world", "world"),
                         {"code": "not_found", "path": "demo/Order@1/x", "detail": "there is no such instance, and none whose name begins so"})

    def test_of_a_command_line_that_is_wrong(self):
        self.assertEqual(self.problem(2, "ls", "--status", "odd", "--world", "world")["code"], "usage")
        self.assertIn("say --world DIR", self.problem(2, "ls")["detail"])
        self.assertIn("there is no command 'bogus'", self.problem(2, "bogus")["detail"])

    def test_of_several_errors(self):
        self.write("bundle.json", '[{"$kind": "defworkflow"}]')
        problem = self.problem(1, "apply", "bundle.json", "--world", "world")
        self.assertEqual((problem["detail"], problem["code"]), ("5 errors in bundle.json", problem["errors"][0]["code"]))
        self.assertEqual(len(problem["errors"]), 5)

    def test_of_a_server_it_is_what_the_server_says(self):
        with self.server() as url:
            problem = self.problem(1, "start", "demo/Order@1", '{"id":1}', "--server", url)
            self.assertEqual((problem["code"], problem["status"], problem["type"]), ("schema", 422, "urn:holdfast:problem:schema"))
            self.assertTrue(problem["path"].startswith("$.input"), problem)
        with socket.socket() as nobody:  # has the port, and does not listen: so nobody else does
            nobody.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
            self.assertEqual(self.problem(75, "ls", "--server", url)["code"], "unavailable")

    def test_behind_the_dashes_it_is_of_another_program(self):
        done = self.run_program("swap", "run", "--dir", "registry", "--", "echo", "--json")
        self.assertEqual((done.stderr.decode().splitlines()[0], done.returncode), ("holdfast: --recipe is required", 2))


class Names(ServingTest):
    def test_a_workflow_that_nobody_knows_is_refused(self):
        with self.server() as url:
            place = ("--server", url)
            self.assertEqual(self.refused_at(place, "start", "nope", "{}"), "holdfast: nope: there is no such workflow\n")
            self.assertIn("the manifest has no workflow 'demo/Nope@1'", self.refused_at(place, "start", "demo/Nope@1", "{}"))
            for command in (("cells", "nope"), ("ls", "--workflow", "demo/Nope@1")):
                self.assertEqual(self.refused_at(place, *command), f"holdfast: {command[-1]}: there is no such workflow\n")
            self.assertEqual(self.ask_at(place, "cells", "demo/Order@1")["instances"], [], "it has none yet")
            self.ask_at(place, "send", "demo/OrderPlaced@1", ORDER % ("a", "mug"), "--wait", "60000")
        place = ("--world", "world")
        for command in (("cells", "nope"), ("ls", "--workflow", "demo/Nope@1"), ("ls", "--workflow", "nope", "--status", "failed")):
            self.assertIn("there is no such workflow", self.refused_at(place, *command))
        self.assertEqual(self.ask_at(place, "ls", "--workflow", "demo/Order@1", "--status", "failed")["instances"], [])
        self.assertEqual(self.ask_at(place, "cells", "demo/RefundCase@1")["instances"], [])

    def test_what_is_not_said_is_misuse(self):
        self.assert_misused("id is required, or --all", "why", "--world", "world")
        for command in ("show", "why", "timeline", "trace", "diagnose", "graph", "state"):
            done = self.run_program(command, "", "--world", "world")
            self.assertEqual((done.stdout, done.returncode), (b"", 2), command)
            self.assertIn(b"is empty", done.stderr)
        done = self.run_program("graph", "demo/RefundCase@1", "--format", "svg", "--json", "--world", "world")
        self.assertEqual((json.loads(done.stderr), done.returncode), ({"code": "usage", "detail": "--json excludes --format"}, 2))

    def test_how_long_may_be_waited_is_one_number(self):
        with self.server() as url:
            help_text = self.run_program("send", "--help").stdout.decode()
            self.assertIn("[1 - 60000]", help_text)
            with urllib.request.urlopen(url + "/v1/limits", timeout=PATIENCE) as answer:
                self.assertEqual(json.load(answer)["wait_ms"], 60000)
            sent = self.ask_at(("--server", url), "start", "demo/Order@1", ORDER % ("w", "mug"), "--wait", "60000")
            self.assertEqual(sent["instance"]["status"], "completed")
            # Durations are written as everywhere.
            for number, wait in enumerate(("1m", "59s", "20s500ms")):
                sent = self.ask_at(("--server", url), "start", "demo/Order@1", ORDER % (f"d-{number}", "mug"), "--wait", wait)
                self.assertEqual(sent["instance"]["status"], "completed")
        for wait in ("60001", "61s", "soon", "0s", "5 s", "-1s"):
            self.assertEqual(self.run_program("send", "x", "{}", f"--wait={wait}", "--server", url).returncode, 2, wait)

    def test_an_empty_object_says_nothing(self):
        with self.server() as url:
            for body, status in ((b"", 200), (b"{}", 200), (b'{"x":1}', 400), (b"[]", 400)):
                request = urllib.request.Request(url + "/v1/snapshots", data=body, headers={"Content-Type": "application/json"})
                try:
                    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                        found = answer.status
                except urllib.error.HTTPError as error:
                    found = error.code
                    error.close()
                self.assertEqual(found, status, body)


if __name__ == "__main__":
    main()
