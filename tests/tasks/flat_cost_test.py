#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A task costs the same in a small graph and in a large one: instructions, counted by callgrind, from the first part
to the end. FLAT_TASKS sets the size of the large one."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("HOLDFAST_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build"))
PROGRAM = BUILD / "tests" / "graph_cost"
SMALL = 100
LARGE = int(os.environ.get("FLAT_TASKS", "4000"))
MOST = 1.3


def instructions_per_task(shape, count):
    with tempfile.NamedTemporaryFile("r") as log:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=*once*", "--callgrind-out-file=/dev/null",
                               f"--log-file={log.name}", PROGRAM, shape, str(count)],
                              check=True, stdout=subprocess.PIPE, text=True)
        collected = int(re.search(r"Collected *: *(\d+)", log.read())[1])
    return done.stdout.split(), collected / count


@unittest.skipIf(os.environ.get("HOLDFAST_SANITIZE"), "valgrind and sanitizers do not go together")
class FlatCost(unittest.TestCase):
    def check(self, shape, ended):
        _, small = instructions_per_task(shape, SMALL)
        counts, large = instructions_per_task(shape, LARGE)
        self.assertEqual(counts, [str(each) for each in ended])
        print(f"{shape}: {small:.0f} instructions per task of {SMALL}, {large:.0f} of {LARGE}", flush=True)
        self.assertLess(large, MOST * small, shape)

    def test_wide(self):
        self.check("wide", (LARGE, 0, 0))

    def test_chain(self):
        self.check("chain", (LARGE, 0, 0))

    def test_one_to_many_to_one(self):
        self.check("fan", (LARGE, 0, 0))

    def test_epochs(self):
        self.check("epochs", (LARGE, 0, 0))

    def test_a_failure_that_takes_all_others_with_it(self):
        self.check("wide_failing", (0, LARGE, 0))

    def test_a_graph_that_is_cancelled(self):
        self.check("wide_cancelled", (0, 0, LARGE))


if __name__ == "__main__":
    unittest.main()
