# SPDX-License-Identifier: Apache-2.0
"""A real server, for the tests of commands that go through one."""
import contextlib
import json
import re
import signal
import subprocess
import urllib.request

from order_worlds import OrderWorldTest
from program import PATIENCE, PROGRAM

ORDER = '{"id": "%s", "sku": "%s", "count": 1, "cents": 995}'


class ServingTest(OrderWorldTest):
    @contextlib.contextmanager
    def serving(self, *more, world="world", program=PROGRAM, applies=True):
        """Serves the world; gives the address and the process."""
        process = subprocess.Popen([program, "serve", "--world", world, "--listen", "127.0.0.1:0", "--any-file-system",
                                    *(["--apply"] if applies else []), *more],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            line = process.stdout.readline().decode()
            found = re.match(r"listening on (https?://\S+)\n", line)
            self.assertTrue(found, line or process.stderr.read().decode())
            yield found[1], process
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.communicate(timeout=PATIENCE)
            finally:
                process.kill()  # one that has not ended by then never does

    @contextlib.contextmanager
    def server(self, *more, **how):
        """The same, of one that is not killed; gives the address."""
        with self.serving(*more, **how) as (url, process):
            yield url
        self.assertEqual(process.returncode, 0)

    def ask(self, url, *arguments, given=b"", code=0):
        done = self.run_program(*arguments, "--server", url, "--json", given=given)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", code), arguments)
        return json.loads(done.stdout)

    @staticmethod
    def figure(url, name):
        """What the server says of itself, in /metrics."""
        with urllib.request.urlopen(url + "/metrics", timeout=PATIENCE) as answer:
            found = re.search(rf"^{name} (\d+)$", answer.read().decode(), re.MULTILINE)
        return int(found[1]) if found else None

    def refused(self, url, *arguments, code=1):
        done = self.run_program(*arguments, "--server", url)
        self.assertEqual((done.stdout, done.returncode), (b"", code), arguments)
        return done.stderr.decode()

    def ask_at(self, place, *arguments, code=0, program=PROGRAM):
        """`place`: ("--server", URL) or ("--world", DIR)."""
        done = subprocess.run([program, *arguments, *place, "--json"], cwd=self.folder, capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", code), arguments)
        return json.loads(done.stdout)

    def refused_at(self, place, *arguments, code=1, program=PROGRAM):
        done = subprocess.run([program, *arguments, *place], cwd=self.folder, capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.stdout, done.returncode), (b"", code), arguments)
        return done.stderr.decode()
