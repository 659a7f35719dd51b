#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example that publishes while it runs: followed by curl, read again, killed in the middle. Its result counts once."""
import json
import pathlib
import subprocess
import sys
import threading
import time
import unittest
from urllib.parse import quote

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gateway"))
from server import BUILD, PATIENCE, ServerTest
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

    def read_again_and_again(self, path, most):
        """As a browser with a bad connection: it comes again with the last id that it has."""
        found, last, ended = [], None, False
        while not ended:
            entries, last, ended = self.read(path, last, most=most)
            found += entries
        return found, last

    def test_curl_follows_a_thousand_pieces_at_fifty_a_second(self):
        """Live: pieces come while the step runs, to one that stays and to one that comes again and again."""
        self.start()
        self.begin("a", 1000, 20)
        again = {}
        reader = threading.Thread(target=lambda: again.update(read=self.read_again_and_again(WRITING + "a/stream" + ONLY, 70)))
        reader.start()
        url = f"http://127.0.0.1:{self.port}{WRITING}a/stream{ONLY}"
        with subprocess.Popen(["curl", "-sN", url], stdout=subprocess.PIPE, text=True) as curl:
            entries = []
            for line in curl.stdout:
                if not line.startswith("data: "):
                    continue
                value = json.loads(line.removeprefix("data: "))
                entries.append(value)
                if value.get("schema") == "tokens/Piece@1" and value["value"]["number"] in (1, 500):
                    self.assertIn(self.client().get(WRITING + "a").json()["status"], ("running", "waiting"),
                                  "the piece came before the end")
            self.assertEqual(curl.wait(timeout=PATIENCE), 0)
        reader.join(timeout=PATIENCE)
        for found in (entries, again["read"][0]):
            self.assertEqual(numbers_of(found), [*range(1, 1001)], "in order, each once")
            self.assertEqual([entry["kind"] for entry in found if "kind" in entry], ["event"] * 1000 + ["stopped"])
        self.assertEqual(self.client().get(WRITING + "a").json()["result"], {"pieces": 1000})

    def test_a_body_that_does_not_pause_loses_nothing(self):
        self.start()
        self.begin("f", 5000, 0)
        found, _ = self.read_again_and_again(WRITING + "f/stream" + ONLY, 333)
        self.assertEqual(numbers_of(found), [*range(1, 5001)])

    def test_a_reader_that_comes_again_goes_on_where_it_was(self):
        self.start()
        self.begin("b", 300, 1)
        found, last = self.read_again_and_again(WRITING + "b/stream" + ONLY, 70)
        self.assertEqual(numbers_of(found), [*range(1, 301)])
        # Words are looked for in the values.
        for words, keys in (("piece 299", ["b"]), ("299", ["b"]), ("piece 301", [])):
            listed = self.client().get("/v1/instances?words=" + quote(words)).json()["instances"]
            self.assertEqual([row["key"] for row in listed], keys, words)
        # A browser that comes again after the end is told to stay away.
        for path in ("b/stream", "b/stream" + ONLY, "b/stream?after=now"):
            with Stream(self.port, WRITING + path, last) as stream:
                self.assertEqual(stream.read_head(), 204)
        with Stream(self.port, WRITING + f"b/stream?after={last}") as stream:
            self.assertEqual(stream.read_head(), 204)
        # Who wants only what is new hears the end and nothing before it.
        for _ in range(2):
            entries, _, ended = self.read(WRITING + "b/stream?after=now")
            self.assertEqual((entries, ended), ([], True))
            self.begin(f"other-{time.monotonic_ns()}", 1, 0)  # the world goes on

    def test_from_now_on_means_what_comes_later(self):
        self.start()
        self.begin("d", 2000, 5)
        first, _, _ = self.read(WRITING + "d/stream" + ONLY, most=50)
        later, _, ended = self.read(WRITING + "d/stream" + ONLY + "&after=now")
        self.assertTrue(ended)
        numbers = numbers_of(later)
        self.assertGreater(numbers[0], numbers_of(first)[-1])
        self.assertEqual(numbers, [*range(numbers[0], 2001)])

    def test_kinds_that_there_are_not_are_refused_by_name(self):
        self.start()
        self.begin("e", 1, 0)
        reply = self.client().get(WRITING + "e/stream?kinds=event,begun_again")
        self.assertEqual((reply.status, reply.code()), (400, "bad_target"))
        self.assertIn("'begun_again'; kinds are steps, event", reply.json()["detail"])

    def test_the_command_line_follows_too(self):
        self.start()
        self.begin("g", 40, 1)
        def stream(*arguments):
            place = ("--server", f"http://127.0.0.1:{self.port}") if self.process.poll() is None else ("--world", self.world)
            done = subprocess.run([self.program, "stream", "tokens/Writing@1/g", "--json", *arguments, *place], cwd=self.folder,
                                  timeout=PATIENCE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr
        code, lines, errors = stream("--kinds", "event")
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(numbers_of(line["data"] for line in lines), [*range(1, 41)])
        self.assertEqual(lines[-1]["event"], "end")
        questions = [("--kinds", "event"), ("--kinds", "stopped,began_again"), ("--after", str(lines[9]["id"]), "--kinds", "event"),
                     ("--after", str(lines[-1]["id"]))]
        answers = [stream(*question) for question in questions]
        self.assertEqual([len(answer[1]) for answer in answers], [41, 2, 31, 1])
        self.assertEqual([line["event"] for line in stream("--after", "now")[1]], ["end"])
        refused = stream("--kinds", "evnt")
        self.assertEqual((refused[0], refused[1]), (1, []))
        self.assertIn("evnt", refused[2])
        self.assertEqual(self.stop(), 0)
        self.assertEqual([stream(*question) for question in questions], answers, "the folder has the same")
        self.assertEqual([line["event"] for line in stream("--after", "now")[1]], ["end"])
        refused = stream("--kinds", "evnt")
        self.assertEqual((refused[0], refused[1]), (1, []))

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
        # The body ran twice, and what it returned counts once.
        records = self.client().get(WRITING + "c/timeline?limit=1000").json()["records"]
        self.assertEqual([record["tick"]["status"] for record in records if record["tick"]["kind"] == "receipt"], ["ok"])
        # One that comes later reads the same.
        self.assertEqual(self.read(WRITING + "c/stream" + ONLY)[0], before + after)
        self.assertEqual(self.stop(), 0)


if __name__ == "__main__":
    unittest.main()
