# SPDX-License-Identifier: Apache-2.0
"""Worlds in which a workflow has put a blob, for the tests of commands that copy worlds."""
import contextlib
import json
import subprocess
import urllib.request

from program import PATIENCE, PROGRAM, wait_until
from serving import ServingTest

GOLDEN = PROGRAM.parent / "tests" / "golden_program"
LETTER = "/v1/instances/golden/Letter@1/one"
TEXT = "a long letter"


class LetterTest(ServingTest):
    def post(self, url, path, body):
        request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def get(self, url, path):
        with urllib.request.urlopen(url + path, timeout=PATIENCE) as answer:
            return json.load(answer)

    def run_golden(self, *arguments):
        return subprocess.run([GOLDEN, *arguments], cwd=self.folder, capture_output=True, timeout=PATIENCE)

    @contextlib.contextmanager
    def letter_world(self, *more):
        """Serves a world with a letter whose text was put as a blob; gives the address."""
        with self.serving("--retention", "0", *more, program=GOLDEN) as (url, _):
            self.post(url, "/v1/events", {"schema": "golden/Keep@1", "value": {"id": "one", "text": TEXT}})
            wait_until(lambda: any(reason.get("effect") == "golden/sign@1" for reason in self.get(url, LETTER + "/why")["reasons"]),
                       "the blob is not put")
            yield url

    def assert_letter_is_there(self, world):
        """The letter gets its blob in this world."""
        with self.serving("--retention", "0", world=world, program=GOLDEN) as (url, _):
            self.post(url, "/v1/events", {"schema": "golden/Fetch@1", "value": {"id": "one"}})
            wait_until(lambda: self.get(url, LETTER)["status"] in ("completed", "failed"), "the letter does not end")
            self.assertEqual(self.get(url, LETTER).get("result"), TEXT)
