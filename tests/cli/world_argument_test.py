#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command about a world is told which one in the same way: a flag, the environment, the settings file, and for some an argument."""
import json
import os
import shutil

from order_worlds import OrderWorldTest
from program import main

# Commands that work on a folder. Those with True take it as an argument, too.
ON_A_FOLDER = {("verify",): True, ("gc",): True, ("reindex",): True, ("snapshot", "ls"): True, ("journal",): True,
               ("token", "ls"): False, ("ls",): False, ("manifest",): False}


class WorldArgument(OrderWorldTest):
    def done(self, *arguments, **environment):
        done = self.run_program(*arguments, env={"PATH": os.environ["PATH"], **environment})
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0), arguments)
        return done.stdout.decode()

    def test_a_flag_the_environment_and_the_file_say_the_same(self):
        self.make_world(orders=3, snapshots=1)
        for command, takes_argument in ON_A_FOLDER.items():
            said = self.done(*command, "--world", "world")
            self.assertEqual(self.done(*command, HOLDFAST_WORLD="world"), said, command)
            if takes_argument:
                self.assertEqual(self.done(*command, "world"), said, command)
                self.assertEqual(self.done(*command, "world", HOLDFAST_WORLD="nowhere"), said, "an argument goes before the environment")
        self.write("holdfast.yaml", "world: world\n")
        for command in ON_A_FOLDER:
            self.assertEqual(self.done(*command), self.done(*command, "--world", "world"), command)

    def test_two_worlds_at_once_are_refused(self):
        self.make_world(orders=1)
        shutil.copytree(self.folder / "world", self.folder / "other")
        for command, takes_argument in ON_A_FOLDER.items():
            if takes_argument:
                self.assert_misused("other: is a folder, and there is --world, too: say only one of them", *command, "other", "--world", "world")
        self.assert_misused("other: is a folder, and there is --server, too: say only one of them", "journal", "other", "--server", "http://127.0.0.1:9")

    def test_an_empty_name_is_not_the_same_as_none(self):
        self.make_world(orders=1)
        for command in (("verify", ""), ("ls", "--world", ""), ("gc", "")):
            done = self.run_program(*command, env={"HOLDFAST_WORLD": "world"})
            self.assertEqual((done.stdout, done.returncode), (b"", 2), command)
            self.assertIn(b"is empty", done.stderr)

    def test_a_snapshot_is_taken_off_the_list_wherever_the_world_is_said(self):
        for where in (("world", "%s"), ("%s", "--world", "world"), ("--world", "world", "%s")):
            shutil.rmtree(self.folder / "world", ignore_errors=True)
            self.make_world(orders=3, snapshots=1)
            before = json.loads(self.done("snapshot", "ls", "world", "--json"))["snapshots"]
            words = [word % before[0]["next_record"] if "%" in word else word for word in where]
            self.assertEqual(json.loads(self.done("snapshot", "rm", *words, "--json")), {"removed": before[0]["next_record"]})
            self.assertEqual(json.loads(self.done("snapshot", "ls", "world", "--json"))["snapshots"], before[1:])
        self.assert_misused("record: first is not the number of a record", "snapshot", "rm", "world", "first")

    def test_a_world_is_salvaged_wherever_it_is_said(self):
        self.make_world(orders=1)
        first = self.done("salvage", "world", "a")
        self.assertEqual(self.done("salvage", "b", "--world", "world"), first)
        self.assertEqual(self.done("salvage", "c", HOLDFAST_WORLD="world"), first)

    def test_tokens_are_of_the_world_that_is_set(self):
        self.make_world(orders=1)
        self.done("token", "add", "--role", "viewer", "--name", "ci", HOLDFAST_WORLD="world")
        token, = json.loads(self.done("token", "ls", "--json", HOLDFAST_WORLD="world"))["tokens"]
        self.assertEqual((token["name"], token["revoked"]), ("ci", False))
        self.assertEqual(json.loads(self.done("token", "revoke", token["id"], "--json", HOLDFAST_WORLD="world")), {"revoked": token["id"]})
        self.assertIn("revoked", self.done("token", "ls", "--world", "world"))

    def test_a_command_that_needs_a_server_says_so(self):
        for command in (("tail",), ("send", "demo/OrderPlaced@1", "{}"), ("signal", "demo/Order@1/o-1", "demo/OrderCancelled@1", "{}"),
                        ("start", "demo/Order@1", "{}"), ("resume", "demo/Order@1/o-1"), ("snapshot", "take")):
            self.assert_misused("--world: this command needs a server: say --server URL", *command, "--world", "world")
        for command in (("verify",), ("gc",), ("fork", "new")):
            self.assert_misused("--server: this command works on a folder: say --world DIR", *command, "--server", "http://127.0.0.1:9")


if __name__ == "__main__":
    main()
