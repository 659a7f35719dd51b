#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The comparisons that are run by hand (CONTRIBUTING.md) still run: one short round of what needs nobody else. Those with a peer say
what they need where it is not there."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from tool import ROOT

BUILD = pathlib.Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build")).resolve()


class Bench(unittest.TestCase):
    def test_step_workflows_without_their_peer(self):
        folder = tempfile.TemporaryDirectory(dir=BUILD)
        self.addCleanup(folder.cleanup)
        figures = pathlib.Path(folder.name) / "figures.json"
        done = subprocess.run(
            [sys.executable, ROOT / "bench/steps_peer/run", "--ours-only", "--build", BUILD, "--rounds", "1", "--seconds", "0.2",
             "--in-flight", "8", "--dir", folder.name, "--json", figures], capture_output=True, text=True, timeout=1000, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"^(line|fan) +8 +(memory|stream|durable) +(\d+)", done.stdout, re.MULTILINE)
        self.assertEqual([(graph, who) for graph, who, _ in rows],
                         [(graph, who) for graph in ("line", "fan") for who in ("memory", "stream", "durable")])
        self.assertTrue(all(int(rate) > 0 for _, _, rate in rows), rows)
        self.assertEqual(len(json.loads(figures.read_text())), 6)

    def test_what_is_missing_is_said(self):
        done = subprocess.run([sys.executable, ROOT / "bench/http/run"], env={"PATH": ""}, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "http: 'wrk' is missing; the Debian packages are wrk and nginx-light\n"))

    def test_both_are_on_the_page(self):
        page = (ROOT / "CONTRIBUTING.md").read_text()
        for script in ("bench/steps_peer/run", "bench/http/run"):
            self.assertIn(f"`{script}`", page)
            self.assertTrue(os.access(ROOT / script, os.X_OK), script)


if __name__ == "__main__":
    unittest.main()
