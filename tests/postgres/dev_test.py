#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A database to try things with: `holdfast dev --postgres`, and what `make run` starts."""
import os
import re
import shutil
import signal
import subprocess
import unittest

from cluster import ROOT
from pq import Connection
from serving import PROGRAM, ServingTest
from waiting import PATIENCE, wait_until


class Dev(ServingTest):
    def begin(self, command, **more):
        """Starts it and gives what it prints until it is ready."""
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(lambda: (process.poll() is None and (process.send_signal(signal.SIGINT), process.wait(PATIENCE))))
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("Interrupt it"):
                return process, "".join(lines)
        self.fail("".join(lines))

    def try_out(self, connection, text):
        """Runs the statements that were suggested."""
        start, show = re.search(r"^  (BEGIN; .*COMMIT;)\n  (SELECT .*;)$", text, re.M).groups()
        wait_until(lambda: connection("SELECT FROM holdfast.workflows WHERE workflow = 'demo/RefundCase@1'"))
        connection(start)
        wait_until(lambda: connection(show) and connection(show)[0][3] == "completed", lambda: str(connection(show)))

    def test_dev_installs_the_schema_and_suggests_statements_that_work(self):
        self.pg("uninstall")
        process, text = self.begin([PROGRAM, "dev", self.folder / "dev.world", "--listen", "127.0.0.1:0",
                                    "--postgres", self.server.conninfo])
        self.try_out(self.connect("owner"), text)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_make_run_brings_a_database_of_its_own(self):
        self.assertIn("\n\tscripts/run ", (ROOT / "Makefile").read_text())
        build = self.cluster.folder / "build"  # where the role of PostgreSQL may go
        build.mkdir()
        self.addCleanup(shutil.rmtree, build, True)
        (build / "holdfast").symlink_to(PROGRAM)
        for life in range(2):  # the second one finds the data of the first
            process, text = self.begin([ROOT / "scripts" / "run", "--listen", "127.0.0.1:0"],
                                       env={**os.environ, "HOLDFAST_BUILD": str(build)})
            conninfo = re.search(r"^PostgreSQL: psql '(.*)'$", text, re.M)[1]
            with Connection(conninfo) as owner:
                if life == 0:
                    self.try_out(owner, text)
                self.assertEqual(owner.value("SELECT count(*) FROM holdfast.list('completed')"), "1")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), 0, text)
            self.assertFalse(os.path.exists(re.search(r"host=(\S+)", conninfo)[1]))


if __name__ == "__main__":
    unittest.main()
