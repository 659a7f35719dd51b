#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every route that the server says it has is called by a test that runs the real program, and answers as it says."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from server import ServerTest

HERE = pathlib.Path(__file__).resolve().parent

# The tests whose calls count; those that take long call nothing that these do not.
TESTS = ["serve_test", "instances_test", "outside_test", "governance_test", "metrics_test", "look_test", "backups_test",
         "graphs_test", "schedules_test.Schedules", "workers_test", "cursors_test", "dispatch_test.Dispatching.test_lines_of_a_task_are_kept",
         "dispatch_test.Dispatching.test_a_result_is_read_alone", "steps_test.Workflows", "steps_test.Runs",
         "page_test.Page.test_the_page_names_its_files_and_all_of_them_are_there", "page_test.Overview", "board_test", "restarts_test",
         "streams_test.JournalStream", "streams_test.InstanceStream.test_a_reader_goes_on_behind_what_it_has"]


def pattern_of(path):
    """A workflow has a slash in its name, escaped or not."""
    parts = ["[^/?]+(/|%2F)[^/?]+" if part == "{workflow}" else "[^/?]+" if part.startswith("{") else re.escape(part)
             for part in path.split("/")]
    return re.compile("/".join(parts) + r"(\?.*)?$")


class Routes(ServerTest):
    def setUp(self):
        super().setUp()
        self.start()
        document = self.client().get("/openapi.json").json()
        self.schemas = document["components"]["schemas"]
        self.routes = {(method.upper(), path): operation
                       for path, methods in document["paths"].items() for method, operation in methods.items()}
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "calls"
            done = subprocess.run([sys.executable, "-m", "unittest", *TESTS], cwd=HERE, timeout=1100, check=False,
                                  env={**os.environ, "HOLDFAST_CALLS": str(log)}, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.calls = [json.loads(line) for line in log.read_text().splitlines()]

    def route_of(self, method, path):
        found = [key for key in self.routes if key[0] == method and pattern_of(key[1]).match(path)]
        # "/a/{b}" is not what is asked for where there is "/a/c".
        return min(found, key=lambda key: key[1].count("{"), default=None)

    def test_every_route_is_called_and_answers_with_what_it_says(self):
        answered = set()
        for method, path, status, body in self.calls:
            route = self.route_of(method, path)
            if route is None or status >= 300:
                continue
            answered.add(route)
            answers = self.routes[route]["responses"]
            self.assertIn(str(status), answers, route)
            schema = answers[str(status)]["content"].get("application/json", {}).get("schema", {})
            schema = self.schemas[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
            if body.startswith("{"):
                for name in schema.get("required", []):
                    self.assertIn(name, json.loads(body), (route, body))
                for name in json.loads(body) if "properties" in schema else []:
                    self.assertIn(name, schema["properties"], (route, body))
        self.assertEqual(set(self.routes) - answered, set(), "no test calls these")


if __name__ == "__main__":
    unittest.main()
