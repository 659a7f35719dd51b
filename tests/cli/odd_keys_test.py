#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instances whose keys no path can have as they are: every command reaches them, through a server and in the folder."""
import contextlib
import http.client
import json
import subprocess

from program import PATIENCE, PROGRAM, main
from serving import ServingTest

TELLER = PROGRAM.parent / "tests" / "teller"
WORDS = {"": "~", ".": "~.", "..": "~..", "a\nb": "~a~0Ab", "\x7f": "~~7F", "~": "~~7E", "~..": "~~7E..", "~foo": "~foo",
         "-": "-", "a/b": "a/b", "...": "..."}


def name(key):
    return "test/Tale@1/" + WORDS[key]


class OddKeys(ServingTest):
    def begin(self, url):
        for index, key in enumerate(WORDS):
            tell = json.dumps({"name": key, "count": 2, "letters": 1, "leave": False})
            started = self.ask(url, *(("start", "test/Tale@1", tell) if index % 2 else ("send", "test/Tell@1", tell)))
            self.assertEqual(started["deliveries"], 1)

    def look(self, place, program):
        def ask(*arguments):
            return self.ask_at(place, *arguments, program=program)

        for key in WORDS:
            self.assertEqual(ask("show", name(key))["key"], key)
            self.assertEqual(ask("state", name(key))["state"], {"told": 2})
            self.assertTrue(ask("why", name(key))["sentence"])
            self.assertEqual(len(ask("timeline", name(key))["records"]), 1)
            self.assertEqual(ask("diagnose", name(key))["verdict"], "waiting for an event")
            if key.isprintable():
                self.assertEqual(ask("ls", "--where", "key=" + key)["instances"][0]["key"], key)
            traced = subprocess.run([program, "trace", name(key), *place], cwd=self.folder, capture_output=True, timeout=PATIENCE)
            self.assertEqual((traced.stderr, traced.returncode), (b"", 0))
        self.assertEqual({entry["instance"] for entry in ask("why", "--all")["instances"]}, {name(key) for key in WORDS})
        self.assertEqual(ask("show", "test/Tale@1/..")["key"], "..")  # as people write it
        listed = subprocess.run([program, "ls", *place], cwd=self.folder, capture_output=True, timeout=PATIENCE).stdout.decode()
        for key in WORDS:
            self.assertRegex(listed, r"(?m)^" + name(key).replace(".", r"\.") + r" ")

    def test_a_key_that_is_said_to_be_empty_is_the_empty_one(self):
        def tell(key):
            return json.dumps({"name": key, "count": 1, "letters": 1, "leave": False})

        with self.server(program=TELLER) as url:
            self.assertIn("the event has another key", self.refused(url, "start", "test/Tale@1", tell("x"), "--key", ""))
            self.assertEqual(self.ask(url, "start", "test/Tale@1", tell(""), "--key", "")["deliveries"], 1)
            self.assertEqual(self.ask(url, "show", name(""))["key"], "")
            # Where nothing can be empty, it is a mistake.
            for command in (("start", "test/Tale@1", tell("x"), "--id", ""), ("start", "test/Tale@1", tell("x"), "--event", ""),
                            ("send", "test/Tell@1", tell("x"), "--id", ""), ("send", "test/Tell@1", tell("x"), "--key", ""),
                            ("signal", name(""), "test/Tell@1", tell(""), "--id", "")):
                self.assert_misused(f"{command[-2]}: is empty", *command, "--server", url)
            self.assertEqual(len(self.ask(url, "ls")["instances"]), 1)

    def test_every_command_reaches_them(self):
        with self.server(program=TELLER) as url:
            self.begin(url)
            self.look(("--server", url), PROGRAM)
        self.look(("--world", "world"), TELLER)
        with self.server(program=TELLER) as url:
            for key in WORDS:
                tell = json.dumps({"name": key, "count": 1, "letters": 1, "leave": False})
                self.assertEqual(self.ask(url, "signal", name(key), "test/Tell@1", tell)["deliveries"], 1)
                self.assertEqual(self.ask(url, "send", "test/Tell@1", tell, "--key", name(key))["deliveries"], 1)
                self.assertEqual(self.ask(url, "state", name(key))["state"], {"told": 4})
                self.ask(url, "pause", name(key))
                self.assertTrue(self.ask(url, "show", name(key))["paused"])
                self.ask(url, "resume", name(key))
                self.ask(url, "cancel", name(key))
                self.assertEqual(self.ask(url, "show", name(key))["status"], "cancelled")
                done = self.run_program("stream", name(key), "--server", url)
                self.assertEqual(done.stdout.count(b'"number"'), 4, done)

    def test_a_path_with_dots_in_it_is_still_refused(self):
        with self.server(program=TELLER) as url:
            self.begin(url)
            with contextlib.closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE)) as connection:
                for path in ("..", "%2e%2e", ".", "", "a%0Ab"):
                    connection.request("GET", f"/v1/instances/test/Tale@1/{path}")  # it goes out as it is
                    self.assertEqual(json.load(connection.getresponse())["code"], "bad_target", path)


if __name__ == "__main__":
    main()
