#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents that docs/task-documents.md shows are sound, and its bounds are those of the code."""
import os
import pathlib
import re
import subprocess
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build")) / "holdfast"
PAGE = (ROOT / "docs/task-documents.md").read_text()
AROUND_NODES = """apiVersion: holdfast/v1
kind: Workflow
metadata: {name: w}
spec:
  taskType: echo
  graph:
    nodes:
"""


class TaskDocuments(unittest.TestCase):
    def test_every_block_validates(self):
        blocks = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 5)
        for block in blocks:
            whole = block if block.startswith("apiVersion") else AROUND_NODES + textwrap.indent(block, " " * 6)
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "document.yaml"
                file.write_text(whole)
                done = subprocess.run([PROGRAM, "validate", file], capture_output=True, text=True, timeout=200)
                self.assertEqual((done.stderr, done.returncode), ("", 0), whole)

    def test_the_bounds_are_those_of_the_code(self):
        limits = (ROOT / "src/tasks/limits.h").read_text()
        table = PAGE[PAGE.index("## Bounds"):]
        for name, shown in (("kDefaultMaxTasks = 100'000", "100 000"), ("kMaxDependencies = 2'000'000", "2 000 000"),
                            ("kMaxSpecBytes = 256 * kKiB", "256 KiB"), ("kMaxSpecDepth = 48", "nested 48 deep"),
                            ("kMaxSpecsBytes = 256 * kMiB", "256 MiB"), ("kMaxElementBytes = 64 * kKiB", "64 KiB"),
                            ("kMaxReferenceBytes = 512", "512 bytes"), ("kMaxPathSteps = 32", "32 steps"),
                            ("kMaxInputs = 1024", "1024"), ("kMaxLabels = 64", "64 each"),
                            ("kMaxSelectedWorkers = 64", "64 each"), ("kMaxAnnotationsBytes = 4 * kKiB", "4 KiB")):
            self.assertIn(f"{name};", limits)
            self.assertIn(shown, table)


if __name__ == "__main__":
    unittest.main()
