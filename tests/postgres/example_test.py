#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The application in examples/postgres does what it says."""
import subprocess
import sys
import unittest

from cluster import ROOT
from flows import FlowTest
from waiting import PATIENCE


def interpreter():
    """One that has psycopg2: Debian installs it for its own Python."""
    for candidate in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([candidate, "-c", "import psycopg2"], capture_output=True).returncode == 0:
            return candidate
    raise AssertionError("psycopg2 is missing: scripts/setup installs it")


class Example(FlowTest):
    def test_refunds_are_paid_once(self):
        self.serve()
        done = subprocess.run([interpreter(), ROOT / "examples" / "postgres" / "refunds.py", self.cluster.conninfo("alice", self.database)],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "r-1 again: refused, nothing was started\nr-1: 19.90 paid, 1 in the ledger\nr-2: 99.00 paid, 1 in the ledger\n")


if __name__ == "__main__":
    unittest.main()
