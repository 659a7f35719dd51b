#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tables show to people: identities, reasons, who decided; columns that stand under each other; colours on a terminal only."""
import http.server
import json
import os
import pty
import re
import subprocess
import threading

from program import PATIENCE, PROGRAM, main
from serving import ServingTest

WAITS = PROGRAM.parent / "tests" / "waits"


def digits(intent):
    return intent.removeprefix("sha256:")[:12]


class TableTest(ServingTest):
    def text(self, *arguments, program=PROGRAM):
        done = subprocess.run([program, *arguments], cwd=self.folder, capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0), arguments)
        return done.stdout.decode()

    def on_a_terminal(self, *arguments, seen=lambda text: None, **environment):
        """What is shown; `seen` hears of it as it comes."""
        parent, child = pty.openpty()
        try:
            process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdin=child, stdout=child, stderr=child,
                                       env={"PATH": os.environ["PATH"], "TERM": "xterm", **environment})
            os.close(child)
            text = b""
            while True:
                try:
                    chunk = os.read(parent, 65536)
                except OSError:  # the other end is closed
                    break
                if not chunk:
                    break
                text += chunk
                seen(text)
            self.assertEqual(process.wait(timeout=PATIENCE), 0, text)
        finally:
            os.close(parent)
        return text.decode().replace("\r\n", "\n")


class Tables(TableTest):
    def test_effects_have_their_identity_and_a_receipt_names_its_effect(self):
        self.make_world(orders=3)
        records = self.ask_at(("--world", "world"), "timeline", "demo/Order@1/o-1")["records"]
        opened = {each["intent"]: each["effect"] for record in records for each in record["instances"][0]["opened"]}
        for command in ("timeline", "trace"):
            lines = self.text(command, "demo/Order@1/o-1", "--world", "world").splitlines()[1:]
            for record, line in zip(reversed(records), lines):
                for each in record["instances"][0]["opened"]:
                    self.assertIn(f"opened {each['effect']} ({digits(each['intent'])})", line)
                if record["tick"]["kind"] == "receipt":
                    intent = record["tick"]["intent"]
                    self.assertIn(f"receipt {record['tick']['status']} {opened[intent]} ({digits(intent)})", line)
        self.assertGreater(len(opened), 3)
        # The record that opened it is in another part: its identity is all that there is.
        part = self.text("timeline", "demo/Order@1/o-1", "--world", "world", "--limit", "1")
        self.assertRegex(part, r"receipt ok \([0-9a-f]{12}\) ")

    def test_what_is_left_of_a_trace_is_shown(self):
        self.make_world(orders=4)
        self.assertEqual(self.run_program("fork", "--world", "world", "fork", "--any-file-system").returncode, 0)
        for key in ("o-1", "o-3"):
            traced = self.ask_at(("--world", "fork"), "trace", f"demo/Order@1/{key}")
            told = self.ask_at(("--world", "fork"), "timeline", f"demo/Order@1/{key}")
            self.assertEqual((traced["records"], traced["trimmed"]), (list(reversed(told["records"])), True))
            self.assertIn("The journal does not have what was before any more.\n", self.text("trace", f"demo/Order@1/{key}", "--world", "fork"))
        self.assertFalse(self.ask_at(("--world", "world"), "trace", "demo/Order@1/o-1")["trimmed"])

    def test_why_somebody_was_cancelled_is_shown(self):
        with self.server(program=WAITS) as url:
            self.ask(url, "start", "waits/ForEvent@1", '{"id":"a"}')
            self.ask(url, "cancel", "waits/ForEvent@1/a", "--reason", "by mistake")
            self.reason_is_shown(("--server", url))
        self.reason_is_shown(("--world", "world"))

    def test_who_cancelled_it_is_shown_without_a_reason_too(self):
        with self.server(program=WAITS) as url:
            self.ask(url, "start", "waits/ForEvent@1", '{"id":"a"}')
            self.ask(url, "cancel", "waits/ForEvent@1/a")
            place = ("--server", url)
            self.assertRegex(self.text("show", "waits/ForEvent@1/a", *place, program=WAITS), r"(?m)^reason +cancelled by local$")
            self.assertEqual(self.text("diagnose", "waits/ForEvent@1/a", *place, program=WAITS), "cancelled by local\n")

    def test_a_long_text_makes_no_row_of_a_timeline_long(self):
        reason = "because " * 100
        with self.server(program=WAITS) as url:
            self.ask(url, "start", "waits/ForEvent@1", '{"id":"a"}')
            self.ask(url, "cancel", "waits/ForEvent@1/a", "--reason", reason)
            text = self.text("timeline", "waits/ForEvent@1/a", "--server", url, program=WAITS)
            whole = self.ask(url, "timeline", "waits/ForEvent@1/a")["records"]
        self.assertIn("because beca...", text)
        self.assertLess(max(map(len, text.splitlines())), 300, text)
        self.assertIn(reason, [record["tick"].get("reason") for record in whole])

    def reason_is_shown(self, place):
        name = "waits/ForEvent@1/a"
        self.assertRegex(self.text("show", name, *place, program=WAITS), r"(?m)^reason +cancelled by local: by mistake$")
        self.assertEqual(self.text("diagnose", name, *place, program=WAITS), "cancelled by local: by mistake\n")
        self.assertRegex(self.text("timeline", name, *place, program=WAITS), r"control cancel by local: by mistake +waits/ForEvent@1/a +cancelled")

    def test_journal_lines_are_the_same_of_a_folder_and_through_a_server(self):
        self.make_world(orders=3)
        bundle = json.dumps(self.ask_at(("--world", "world"), "manifest")["definitions"])
        self.write("bundle.json", bundle)
        proposal = self.ask_at(("--world", "world"), "gov", "propose", "bundle.json", "--description", "the same", "--any-file-system")["proposal"]
        self.ask_at(("--world", "world"), "gov", "reject", str(proposal), "--by", "ada", "--reason", "why?", "--any-file-system")
        offline = self.text("journal", "world", "--kind", "decide")
        self.assertRegex(offline, rf"\A\d+  \S+Z  decide of proposal {proposal} rejected by ada: why\?\n\Z")
        self.assertRegex(self.text("journal", "world", "--kind", "propose"), r"propose by local: the same\n\Z")
        with self.server(applies=False) as url:
            self.ask(url, "send", "demo/OrderPlaced@1", '{"id":"z","sku":"mug","count":1,"cents":1}', "--id", "web-1", "--wait", "60000")
            online = self.text("journal", "--server", url)
            last = online.splitlines()[-1].split()[0]
        self.assertEqual(self.text("journal", "world", "--to", last), online)
        self.assertIn("event demo/OrderPlaced@1 (id web-1)  demo/Order@1/z waiting\n", online)

    def test_columns_stand_under_each_other(self):
        with self.server() as url:
            for key in ("plain", "größer", "日本語", "e\u0301"):
                self.run_program("start", "demo/Order@1", json.dumps({"id": key, "sku": "mug", "count": 1, "cents": 1}), "--wait", "60000", "--server", url)
        lines = self.text("ls", "--world", "world").splitlines()
        self.assertEqual(len(lines), 5)
        begin = lines[0].index("STATUS")

        def column(line):
            before = line[:line.index("completed")]
            return len(before) + sum(each in "日本語" for each in before) - before.count("\u0301")
        self.assertEqual({column(line) for line in lines[1:]}, {begin})

    def test_how_it_ended_has_a_colour_on_a_terminal_only(self):
        self.make_world(orders=3)
        plain = self.text("ls", "--world", "world")
        self.assertNotIn("\x1b", plain)
        coloured = self.on_a_terminal("ls", "--world", "world")
        self.assertIn("\x1b[32mcompleted\x1b[0m ", coloured)
        self.assertIn("\x1b[31mfailed\x1b[0m ", coloured)
        self.assertEqual(coloured.replace("\x1b[32m", "").replace("\x1b[31m", "").replace("\x1b[0m", ""), plain)
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertEqual(self.on_a_terminal("ls", "--world", "world", **environment), plain)
        self.assertIn("status    \x1b[32mcompleted\x1b[0m\n", self.on_a_terminal("show", "demo/Order@1/o-1", "--world", "world"))
        self.assertNotIn("\x1b", self.on_a_terminal("show", "demo/Order@1/o-1", "--world", "world", "--json"))


class Lagging(http.server.BaseHTTPRequestHandler):
    """A server whose index is behind, and that takes its time: until somebody has seen that, or too long."""
    def do_GET(self):
        if "slow" in self.path:
            self.server.is_seen.wait(PATIENCE if "patient" in self.path else 2.5)
        body = json.dumps({"instances": [{"workflow": "demo/Order@1", "key": "a", "status": "failed", "paused": False, "last_record": 7,
                                          "last_ns": 1}], "next": None, "seen": 7, "lag": 3}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Lag(TableTest):
    def setUp(self):
        super().setUp()
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Lagging)
        self.http.is_seen = threading.Event()
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.addCleanup(self.http.server_close)
        self.addCleanup(self.http.shutdown)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def test_an_index_that_is_behind_is_said_to_be(self):
        said = "The index of the server is 3 records behind: what came last may be missing."
        self.assertEqual(self.text("ls", "--server", self.url).splitlines()[-1], said)
        self.assertEqual(self.text("ls", "--server", self.url, "--since", "5").splitlines()[-1], said)
        self.assertEqual(json.loads(self.text("ls", "--server", self.url, "--json"))["lag"], 3)

    def test_a_server_that_takes_its_time_is_seen_to_be_waited_for(self):
        self.assertNotIn("waiting for the server", self.text("ls", "--server", self.url, "--workflow", "slow"))

        def seen(text):
            if re.search(rb"waiting for the server, seconds \d", text):
                self.http.is_seen.set()
        shown = self.on_a_terminal("ls", "--server", self.url, "--workflow", "slow-and-patient", seen=seen)
        self.assertRegex(shown, r"waiting for the server, seconds [1-9]")


if __name__ == "__main__":
    main()
