# SPDX-License-Identifier: Apache-2.0
"""What the tests of the bridge share: the real program, serving a world to a real database."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from cluster import ROOT, ClusterTest
from waiting import PATIENCE, wait_until

BUILD = pathlib.Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build"))
PROGRAM = BUILD / "holdfast"

for variable in [*os.environ]:
    if variable.startswith("HOLDFAST_") and variable not in ("HOLDFAST_BUILD", "HOLDFAST_SANITIZE"):
        del os.environ[variable]


def refund(key, cents=100, order="o-1"):
    return json.dumps({"id": key, "order": order, "cents": cents})


class Server:
    """`holdfast serve --postgres`, with a world in its own folder."""

    def __init__(self, test, name="world", database=None, user="owner"):
        self.test, self.name = test, name
        self.conninfo = test.cluster.conninfo(user, database or test.database)
        self.world = test.folder / name
        self.process = None
        self.log = test.folder / f"{name}.log"
        test.addCleanup(self.kill)

    def start(self, *arguments, prefix=(), conninfo=None, environment=None):
        errors = open(self.log, "ab")
        self.process = subprocess.Popen(
            [*prefix, PROGRAM, "serve", "--world", self.world, "--apply", "--any-file-system", "--listen", "127.0.0.1:0",
             "--postgres", conninfo or self.conninfo, *map(str, arguments)],
            cwd=self.test.folder, stdout=subprocess.PIPE, stderr=errors, text=True,
            env={**os.environ, **{name: str(value) for name, value in (environment or {}).items()}})
        errors.close()
        line = self.process.stdout.readline()
        found = re.match(r"listening on http://127.0.0.1:(\d+)", line)
        self.test.assertTrue(found, line + self.log.read_text())
        self.port = int(found[1])
        return self

    def kill(self, how=signal.SIGKILL):
        if self.process:
            self.process.send_signal(how)
            code = self.process.wait(PATIENCE)
            self.process.stdout.close()
            self.process = None
            return code

    def stop(self):
        return self.kill(signal.SIGTERM)


class ServingTest(ClusterTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.pg("install")
        self.owner = self.connect("owner")
        for role in ("alice", "bob"):
            self.owner("SELECT holdfast.grant_usage($1)", role)
        self.alice, self.bob = self.connect("alice"), self.connect("bob")
        self.server = Server(self)

    def pg(self, command, *arguments, user="owner", code=0):
        done = subprocess.run([PROGRAM, "pg", command, self.cluster.conninfo(user, self.database), *arguments],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def serve(self, *arguments):
        self.server.start(*arguments)
        self.wait_for_catalogue()

    def wait_for_catalogue(self):
        wait_until(lambda: self.owner("SELECT FROM holdfast.workflows"), lambda: self.server.log.read_text())

    def start(self, connection, key="r-1", cents=100, order="o-1"):
        return connection.value("SELECT holdfast.start('demo/RefundCase@1', $1)", refund(key, cents, order))

    def decide(self, connection, instance, key="r-1", approved=True):
        return connection.value("SELECT holdfast.signal($1, 'demo/RefundDecided@1', $2)", instance,
                                json.dumps({"id": key, "by": "manager", "approved": approved}))

    def status(self, instance):
        return self.owner.value("SELECT holdfast.status($1)", instance)

    def wait_for_status(self, instance, *wanted):
        def is_there():
            return self.status(instance) in wanted
        wait_until(is_there, lambda: f"{self.status(instance)}: {self.server.log.read_text()}")

    def await_result(self, connection, instance):
        return json.loads(connection.value("SELECT holdfast.await($1, $2)", instance, f"{PATIENCE} s"))

    def in_engine(self, server=None):
        """The keys of the instances that the engine has, with their status."""
        server = server or self.server
        found, after = {}, None
        while True:
            done = subprocess.run([PROGRAM, "ls", "--server", f"http://127.0.0.1:{server.port}", "--json", "--limit", "1000",
                                   *(["--after", after] if after else [])], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stderr)
            page = json.loads(done.stdout)
            for instance in page["instances"]:
                found[instance["key"]] = instance["status"]
            after = page.get("next")
            if not after:
                return found
