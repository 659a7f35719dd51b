#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/api.md says what the server says of itself."""
import re
import unittest

from server import ROOT, ServerTest

PAGE = (ROOT / "docs" / "api.md").read_text()
LIMITS = " ".join(PAGE.split("\n## Limits\n")[1].split("\n## ")[0].split())  # the section, on one line
CODE = ROOT / "src" / "gateway"

# Each constant of gateway/limits.h, and how the page says it.
SAID = {
    "connections": "Connections {};",
    "connections_of_token": "{} of them with one token before",
    "header_bytes": "header {KiB} KiB and",
    "body_bytes": None,  # of other constants: below
    "all_body_bytes": "all bodies that are being received {MiB} MiB;",
    "body_bytes_of_token": "bodies with one token {MiB} MiB;",
    "all_answer_bytes": "all answers that wait to be sent {MiB} MiB;",
    "answer_bytes_of_token": "answers with one token {MiB} MiB;",
    "answer_part_bytes": "a part of an answer, of {KiB} KiB;",
    "header_time": "a header within {s} s;",
    "body_time": "a body within {s} s and as long as",
    "body_bytes_per_second": "at {KiB} KiB/s;",
    "idle_time": "{s} s between requests;",
    "write_time": "{s} s to take a part of an answer,",
    "keep_alive_time": "a comment in each after {s} s without an event.",
    "wait_time": "`wait` {s} s;",
    "stop_time": "{s} s for what is under way when the server stops;",
    "gone_time": "or {s} s after it has ended only its own side;",
    "figures_time": "figures within {s} s;",
    "sifts": "{} lists that read values;",
    "graphs_entering": "{} graphs that are being entered;",
    "waiting_jobs": "{} requests that wait for files,",
    "streams": "{} event streams,",
    "streams_of_token": "{} with one token,",
    "waits": "{} requests that wait for an end,",
    "waiting_looks_back": "{} for the past,",
}


def number(text):
    """Of a constant in C++: 4096, 10'000, std::size_t{16} << 10."""
    text = text.replace("'", "").strip()
    shifted = re.fullmatch(r"std::\w+\{(\d+)\} << (\d+)", text)
    return int(shifted[1]) << int(shifted[2]) if shifted else int(text)


def constant(file, name):
    """`file`: below src/gateway, or from the top."""
    path = CODE / file if (CODE / file).exists() else ROOT / file
    return number(re.search(rf"\b{name} = ([^;]+);", path.read_text())[1])


class ApiPage(ServerTest):
    def setUp(self):
        super().setUp()
        self.start()
        self.document = self.client().get("/openapi.json").json()

    def test_the_routes_are_those_of_the_server(self):
        written = set(re.findall(r"^\| ([A-Z]+) \| `([^`]+)` \| (\w+) \|", PAGE, re.M))
        real = {(method.upper(), path, operation["x-role"])
                for path, methods in self.document["paths"].items() for method, operation in methods.items()}
        self.assertEqual(written, real)

    def test_the_problems_are_those_of_the_server(self):
        written = [(code, int(status)) for code, status in re.findall(r"^\| `(\w+)` \| (\d+) \|", PAGE, re.M)]
        schema = self.document["components"]["schemas"]["Problem"]
        self.assertEqual([code for code, _ in written], schema["properties"]["code"]["enum"])
        table = re.findall(r'ProblemKind\{Code::\w+, "(\w+)", (\d+),', (CODE / "problem.cc").read_text())
        self.assertEqual(written, [(code, int(status)) for code, status in table])
        refused = self.client().get("/v1/nothing")
        self.assertIn((refused.code(), refused.status), written)

    def test_the_limits_are_those_of_the_server(self):
        limits = self.client().get("/v1/limits").json()
        self.assertIn(f"Connections {limits['connections']};", LIMITS)
        self.assertIn(f"header {limits['header_bytes'] // 1024} KiB and", LIMITS)
        self.assertIn(f"body {limits['value_bytes'] >> 20} MiB and its envelope "
                      f"({(limits['body_bytes'] - limits['value_bytes']) >> 10} KiB, {constant('envelope.h', 'kMaxMembers')} members);", LIMITS)
        self.assertIn(f"`wait` {limits['wait_ms'] // 1000} s;", LIMITS)

    def test_every_limit_of_the_code_is_on_the_page(self):
        text = re.search(r"struct Limits \{(.*?)\n\};", (CODE / "limits.h").read_text(), re.S)[1]
        found = dict(re.findall(r"^  std::size_t (\w+) = ([^;]+);", text, re.M))
        times = dict(re.findall(r"^  std::chrono::milliseconds (\w+)\{([\d']+)\};", text, re.M))
        self.assertEqual(sorted([*found, *times]), sorted(SAID), "one that is not on the page, or not in the code any more")
        for name, said in SAID.items():
            if said is None:
                continue
            value = number(found[name]) if name in found else number(times[name])
            self.assertIn(said.format(value, KiB=value >> 10, MiB=value >> 20, s=value // 1000), LIMITS, name)

    def test_the_limits_on_a_request_are_on_the_page(self):
        self.assertIn(f"and {constant('request_parser.cc', 'kMaxFields')} fields;", LIMITS)
        target = constant("request_parser.cc", "kMaxTargetBytes")
        self.assertIn(f"path and query {target} bytes, {constant('target.h', 'kMaxSegments')} parts, "
                      f"{constant('target.h', 'kMaxParameters')} parameters;", LIMITS)
        self.assertIn(f"have more than {target} bytes", PAGE)

    def test_figures_that_stand_elsewhere_on_the_page_are_those_of_the_code(self):
        page = " ".join(PAGE.split())
        limits = "src/kernel/limits.h"
        text = (ROOT / limits).read_text()
        hours = re.search(r"kEventIdWindowNs = std::uint64_t\{(\d+)\} \* 3600 \* 1'000'000'000;", text)[1]
        most, shift = re.search(r"kMostEventIds = std::uint64_t\{(\d+)\} << (\d+);", text).groups()
        self.assertIn(f"Ids are remembered for {hours} hours. If more than {int(most) << int(shift)} ids", page)
        self.assertIn(f"A mailbox holds {constant(limits, 'kMaxMailPerInstance')} messages, and "
                      f"{constant(limits, 'kMaxMailBytesPerInstance') >> 20} MiB.", page)
        self.assertIn(f"the newest {constant('src/store/history_rows.h', 'kMaxStreamEntries'):,} entries".replace(",", " "), page)
        past = re.search(r"struct PastLimits \{(.*?)\n\};", (ROOT / "include/holdfast/engine.h").read_text(), re.S)[1]
        records, size = (number(re.search(rf"{name} = ([^;]+);", past)[1]) for name in ("records", "bytes"))
        seconds = re.search(r"time = std::chrono::seconds\((\d+)\)", past)[1]
        self.assertEqual(records, 1_000_000)
        self.assertIn(f"a million records, {size >> 20} MiB of records and blobs, and {seconds} seconds at most", page)
        trial = re.search(r"struct TrialOptions \{(.*?)\n\};", (ROOT / "include/holdfast/governance.h").read_text(), re.S)[1]
        records, size = (number(re.search(rf"{name} = ([^;]+);", trial)[1]) for name in ("records", "bytes"))
        seconds = re.search(r"time = std::chrono::seconds\((\d+)\)", trial)[1]
        self.assertEqual(records, 1_000_000)
        self.assertIn(f"It takes {seconds} seconds and {size >> 20} MiB of records and states at most", page)
        cli = " ".join((ROOT / "docs/cli.md").read_text().split())
        self.assertIn(f"in memory beside its world, one at a time, within {seconds} seconds", cli)


if __name__ == "__main__":
    unittest.main()
