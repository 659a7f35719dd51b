#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example that publishes while it runs: followed by curl, read again, killed in the middle. Its result counts once."""
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gateway"))
from server import BUILD, PATIENCE, ServerTest, wait_until
from streams_test import Stream

WRITING = "/v1/instances/tokens/Writing@1/"
ONLY = "?kinds=event,began_again,stopped,failed"


def prompt(name, pieces, pause_ms):
    return {"input": {"id": name, "pieces": pieces, "pause_ms": pause_ms}}


def numbers_of(entries):
    return [entry["value"]["number"] for entry in entries if entry.get("schema") == "tokens/Piece@1"]


class Tokens(ServerTest):
    program = BUILD / "examples" / "tokens"

    def begin(self, name, pieces, pause_ms):
        reply = self.client().post("/v1/workflows/tokens/Writing@1/start", prompt(name, pieces, pause_ms))
        self.assertEqual(reply.status, 201, reply.body)

    def read(self, path, last=None, most=None):
        """Entries, the last id, and whether the stream has ended."""
        stream = Stream(self.port, path, last)
        self.addCleanup(stream.close)
        entries = []
        for kind, number, value in stream.events():
            last = number
            if kind == "end":
                return entries, last, True
            entries.append(value)
            if most and len(entries) == most:
                break
        return entries, last, False

    def test_curl_follows_a_thousand_pieces_at_fifty_a_second(self):
        """The pauses are shorter here; pieces come while the step runs."""
        self.start()
        self.begin("a", 1000, 2)
        url = f"http://127.0.0.1:{self.port}{WRITING}a/stream{ONLY}"
        with subprocess.Popen(["curl", "-sN", url], stdout=subprocess.PIPE, text=True) as curl:
            entries = []
            seen_running = None
            for line in curl.stdout:
                if not line.startswith("data: "):
                    continue
                value = json.loads(line.removeprefix("data: "))
                entries.append(value)
                if seen_running is None and value.get("schema") == "tokens/Piece@1":
                    seen_running = self.client().get(WRITING + "a").json()["status"]
            self.assertEqual(curl.wait(timeout=PATIENCE), 0)
        self.assertEqual(numbers_of(entries), [*range(1, 1001)])
        self.assertIn(seen_running, ("running", "waiting"), "the first piece came before the end")
        self.assertEqual([entry["kind"] for entry in entries if entry.get("kind") == "stopped"], ["stopped"])
        self.assertNotIn("began_again", [entry.get("kind") for entry in entries])
        self.assertEqual(self.client().get(WRITING + "a").json()["result"], {"pieces": 1000})

    def test_a_reader_that_comes_again_goes_on_where_it_was(self):
        self.start()
        self.begin("b", 300, 1)
        all_entries, last, ended = [], None, False
        while not ended:
            entries, last, ended = self.read(WRITING + "b/stream" + ONLY, last, most=70)
            all_entries += entries
        self.assertEqual(numbers_of(all_entries), [*range(1, 301)])
        # A browser that comes again after the end is told to stay away.
        with Stream(self.port, WRITING + "b/stream", last) as stream:
            self.assertEqual(stream.read_head(), 204)
        # Who wants only what is new hears the end and nothing before it.
        entries, _, ended = self.read(WRITING + "b/stream?after=now")
        self.assertEqual((entries, ended), ([], True))

    def test_killed_in_the_middle_it_begins_again_and_says_so(self):
        self.start()
        self.begin("c", 400, 10)
        before, last, ended = self.read(WRITING + "c/stream" + ONLY, most=20)
        self.assertFalse(ended)
        self.kill()
        self.start()
        after, _, ended = self.read(WRITING + "c/stream" + ONLY, last)
        self.assertTrue(ended)
        kinds = [entry["kind"] for entry in before + after]
        self.assertEqual(kinds.count("began_again"), 1)
        self.assertEqual(kinds.count("stopped"), 1)
        again = kinds.index("began_again")
        first, second = (before + after)[:again], (before + after)[again:]
        self.assertEqual(numbers_of(first), [*range(1, len(numbers_of(first)) + 1)], "each once, in order")
        self.assertEqual(numbers_of(second), [*range(1, 401)])
        self.assertEqual(second[0]["step"], "write")
        self.assertEqual(self.client().get(WRITING + "c").json()["result"], {"pieces": 400})
        self.assertEqual(self.stop(), 0)


if __name__ == "__main__":
    unittest.main()
