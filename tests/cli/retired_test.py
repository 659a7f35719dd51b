#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instances of a workflow that the manifest does not have any more are shown as all others."""
import json

from program import main
from serving import ServingTest


def without_workflows(definitions):
    """Nobody hears of anything any more."""
    kept = [each for each in definitions if each["$kind"] not in ("defworkflow", "defmodule")]
    for each in kept:
        if each["$kind"] == "manifest":
            each.update({name: [] for name in ("workflows", "modules") if name in each})
            each["routing"]["subscriptions"] = []
    return json.loads(json.dumps(kept), object_hook=lambda each: {name: value for name, value in each.items() if name != "hash"})


class Retired(ServingTest):
    def retire(self):
        self.make_world(orders=2, how=("recent",))
        self.before = {command: self.ask_at(("--world", "world"), *command) for command in self.commands()}
        definitions = self.ask_at(("--world", "world"), "manifest")["definitions"]
        self.write("bundle.json", json.dumps(without_workflows(definitions)))
        self.ask_at(("--world", "world"), "apply", "bundle.json", "--any-file-system")
        names = [each.get("name") for each in self.ask_at(("--world", "world"), "manifest")["definitions"]]
        self.assertNotIn("demo/Order@1", names)

    def check(self, place):
        for command in self.commands():
            before = self.before[command]
            if command[0] == "show":  # the code is not there any more
                before = {name: value for name, value in before.items() if name not in ("workflow_hash", "module", "module_hash")}
            self.assertEqual(self.ask_at(place, *command), before, command)
        self.assertEqual({row["key"] for row in self.ask_at(place, "ls", "--workflow", "demo/Order@1")["instances"]}, {"o-1", "o-2"})
        self.assertIn("there is no", self.refused_at(place, "show", "demo/Order@1/o-9"))

    @staticmethod
    def commands():
        return [("show", "demo/Order@1/o-1"), ("show", "demo/Order@1/o-2"), ("state", "demo/Order@1/o-1"),
                ("state", "demo/Order@1/o-1", "--at", "4"), ("timeline", "demo/Order@1/o-1"), ("why", "demo/Order@1/o-1"),
                ("diagnose", "demo/Order@1/o-2"), ("trace", "demo/Order@1/o-1")]

    def test_in_the_folder(self):
        self.retire()
        self.check(("--world", "world"))

    def test_through_a_server(self):
        self.retire()
        with self.server(applies=False) as url:
            self.check(("--server", url))
            for command in (("cancel", "demo/Order@1/o-1"), ("pause", "demo/Order@1/o-1"), ("stream", "demo/Order@1/o-1"),
                            ("graph", "demo/Order@1/o-1")):
                self.assertIn("the manifest has no workflow", self.refused_at(("--server", url), *command))


if __name__ == "__main__":
    main()
