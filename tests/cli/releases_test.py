#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of several releases on one world: what a start refuses, what a rehearsal finds, why an instance stays where it is."""
import json
import os
import subprocess
import urllib.request

from program import PATIENCE, PROGRAM, main
from serving import ServingTest

RELEASES = PROGRAM.parent / "tests" / "releases"
ORDERS = ("a", "b", "odd")


class Releases(ServingTest):
    def run_release(self, release, *arguments):
        return subprocess.run([RELEASES, *arguments], cwd=self.folder, capture_output=True, timeout=PATIENCE,
                              env={**os.environ, "RELEASE": release})

    def release(self, release):
        """A program that the helpers can run: it is this release."""
        self.write(release, f'#!/bin/sh\nRELEASE={release} exec "{RELEASES}" "$@"\n')
        path = self.folder / release
        path.chmod(0o755)
        return path

    def ok(self, release, *arguments, code=0):
        done = self.run_release(release, *arguments, "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", code), arguments)
        return json.loads(done.stdout)

    def make(self):
        """A world of the first release with orders and questions under way."""
        with self.server(program=self.release("first")) as url:
            for key in ORDERS:
                self.ok("first", "start", "shop/Order@1", json.dumps({"id": key}), "--server", url)
            for key in ("q", "r"):
                self.ok("first", "start", "shop/Question@1", json.dumps({"id": key}), "--server", url)
            # A release without the code of a workflow could not replay its records.
            request = urllib.request.Request(url + "/v1/snapshots", b"{}", {"Content-Type": "application/json"}, method="POST")
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                self.assertEqual(answer.status, 200)

    def assert_start_is_refused(self, release, told):
        records = self.records()
        done = self.run_release(release, "serve", "--world", "world", "--any-file-system", "--apply", "--listen", "127.0.0.1:0")
        self.assertEqual((done.stdout, done.returncode), (b"", 1), release)
        said = done.stderr.decode()
        self.assertEqual(said.count("\n"), 1, said)
        for text in told:
            self.assertIn(text, said)
        self.assertEqual(self.records(), records, "nothing was recorded")
        self.assertEqual(self.ok("first", "verify", "world")["errors"], [])

    def assert_goes_on(self):
        with self.server(program=self.release("first")) as url:
            for key in ORDERS:
                self.assertEqual(self.ok("first", "show", f"shop/Order@1/{key}", "--server", url)["state"]["count"], 1)
            self.assertEqual(self.ok("first", "show", "shop/Question@1/q", "--server", url)["status"], "running")
            self.ok("first", "start", "shop/Order@1", '{"id": "more"}', "--server", url)

    def records(self):
        return [(each["record"], each["tick"]) for each in self.ok("first", "journal", "--world", "world")["records"]]

    def test_a_start_that_removes_a_workflow_with_instances_is_refused(self):
        self.make()
        self.assert_start_is_refused("without", ("shop/Question@1", "has not ended", "; nor have 1 more of shop/Question@1"))
        self.assert_goes_on()

    def test_a_start_that_changes_an_event_that_is_routed_is_refused(self):
        self.make()
        self.assert_start_is_refused("retyped", ("3 instances have not ended", "shop/Order@1/a", "shop/Placed@1"))
        self.assert_goes_on()

    def test_a_rehearsal_names_every_instance_that_replays_differently(self):
        self.make()
        before = self.contents()
        self.write("bundle.json", json.dumps(self.ok("first", "manifest", "--world", "world")["definitions"]))
        done = self.run_release("recoded", "apply", "bundle.json", "--rehearse", "--world", "world", "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 1))
        found = json.loads(done.stdout)["rehearsal"]
        self.assertEqual((found["differs"], found["differs_ended"], found["replay_stopped"], found["good"]), (1, 0, None, False))
        self.assertEqual([(each["workflow"], each["key"], each["why"]) for each in found["differing"]],
                         [("shop/Order@1", "odd", "it differs in: state")])
        self.assertEqual(found["replayed"], found["at"], "the records after it are compared as well")
        text = self.run_release("recoded", "apply", "bundle.json", "--rehearse", "--world", "world").stdout.decode()
        self.assertIn("1 instances under way replay differently, and 0 that have ended\n", text)
        self.assertRegex(text, r"(?m)^shop/Order@1/odd differs from record \d+ on: it differs in: state$")
        self.assertEqual(self.contents(), before, "nothing is written")

    def test_why_says_which_instances_would_not_move_and_why(self):
        self.make()
        program = self.release("migrating")
        with self.server(program=program) as url:
            def version(key):
                return self.ok("migrating", "why", f"shop/Order@1/{key}", "--server", url).get("version")
            self.assertEqual([version(key)["stays_because"] is None for key in ORDERS], [True, True, False])
            self.assertEqual(version("a")["sentence"].count("`migrate` would move it to the present one."), 1)
            moved = self.ok("migrating", "migrate", "shop/Order@1", "--server", url, code=1)
            self.assertEqual((moved["moved"], moved["stays"]), (2, 1))
            self.assertEqual([version(key) is None for key in ORDERS], [True, True, False])
            self.assertEqual(version("odd")["stays_because"], moved["staying"][0]["why"])
            self.assertNotEqual(version("odd")["hash"], version("odd")["present_hash"])
        # The same of the folder, when no server runs.
        self.assertEqual(self.ok("migrating", "why", "shop/Order@1/odd", "--world", "world")["version"]["stays_because"],
                         moved["staying"][0]["why"])


if __name__ == "__main__":
    main()
