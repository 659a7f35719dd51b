# SPDX-License-Identifier: Apache-2.0
"""What the tests of the server share: the real program, serving a world of its own."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from waiting import PATIENCE, threads_of, wait_until

BUILD = pathlib.Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build"))
PROGRAM = BUILD / "holdfast"
TELLER = BUILD / "tests" / "teller"  # the same with other workflows
FLOWS = BUILD / "tests" / "flows"  # and with others of steps
SANITIZED = bool(os.environ.get("HOLDFAST_SANITIZE"))

# Settings of whoever runs the tests are none of what is tested.
OWN = {"BUILD", "SANITIZE", "CALLS", "KILLS", "CLIENTS", "SLOW_CLIENTS"}
for variable in [*os.environ]:
    if variable.startswith("HOLDFAST_") and variable.removeprefix("HOLDFAST_") not in OWN:
        del os.environ[variable]


class Reply:
    def __init__(self, status, head, body):
        self.status, self.head, self.body = status, head, body

    def json(self):
        return json.loads(self.body)

    def code(self):
        """The stable code of a problem; nothing if it is none."""
        if b"application/problem+json" not in self.head:
            return ""
        return self.json()["code"]


class Client:
    """A connection that sends what it is told to, well-formed or not."""

    def __init__(self, port, wrap=None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        if wrap:
            self.socket = wrap(self.socket)
        self.held = b""

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @staticmethod
    def called(method, path, status, body=b""):
        """Notes what was asked for and answered: tests/gateway/routes_test.py wants to see every route."""
        log = os.environ.get("HOLDFAST_CALLS")
        if log:
            with open(log, "a", encoding="utf-8") as file:
                file.write(json.dumps([method, path, status, body.decode(errors="replace")]) + "\n")

    def send(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has been answered already

    def fill(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            return False
        self.held += data
        return bool(data)

    def receive(self):
        """The next answer; None if the connection ends without one."""
        while b"\r\n\r\n" not in self.held:
            if not self.fill():
                return None
        head, self.held = self.held.split(b"\r\n\r\n", 1)
        length = re.search(rb"(?i)content-length: (\d+)", head)
        size = int(length[1]) if length else 0
        while len(self.held) < size:
            if not self.fill():
                return None
        body, self.held = self.held[:size], self.held[size:]
        return Reply(int(head.split(b" ", 2)[1]), head, body)

    def get(self, path, **fields):
        return self.ask("GET", path, b"", **fields)

    def post(self, path, body, **fields):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        fields = {"Content-Type": "application/json", "Content-Length": len(body), **fields}
        return self.ask("POST", path, body, **fields)

    def ask(self, method, path, body, **fields):
        fields = {"Host": "localhost", **fields}
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        self.send(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        reply = self.receive()
        if reply:
            self.called(method, path, reply.status, reply.body)
        return reply


def figure_in(text, name):
    """Of what /metrics says; nothing: it is left out."""
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)
    return float(found[1]) if found else None


class ServerTest(unittest.TestCase):
    program = PROGRAM

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.world = self.folder / "world"
        self.process = None
        self.addCleanup(self.kill)

    def start(self, *arguments, command="serve"):
        """Starts the program, and waits until it listens."""
        if command == "serve":
            arguments = ("--world", self.world, "--apply", "--any-file-system", *arguments)
        if "--listen" not in arguments:
            arguments = (*arguments, "--listen", "127.0.0.1:0")
        self.errors = open(self.folder / "errors", "ab")
        self.addCleanup(self.errors.close)
        self.process = subprocess.Popen([self.program, command, *map(str, arguments)], cwd=self.folder,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.addCleanup(self.process.stdout.close)
        line = self.process.stdout.readline()
        found = re.match(r"listening on https?://[^ ]+:(\d+)", line)
        self.assertTrue(found, line + (self.folder / "errors").read_text())
        self.port = int(found[1])

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self, signal_number=signal.SIGTERM):
        """Its exit code."""
        self.process.send_signal(signal_number)
        return self.process.wait(timeout=PATIENCE)

    def client(self, wrap=None):
        client = Client(self.port, wrap)
        self.addCleanup(client.close)
        return client

    def metrics(self):
        with Client(self.port) as client:
            reply = client.get("/metrics")
        self.assertEqual(reply.status, 200)
        return reply.body.decode()

    def figure(self, name):
        """Those of the world and the disk are left out where they take more than a second, as they may on a busy
        machine: then they are asked for again."""
        def look():
            value = figure_in(self.metrics(), name)
            return None if value is None else (value,)
        return wait_until(look, f"there is no {name}")[0]

    def wait_until_quiet(self):
        """Until no thread of it has done anything for longer than whatever comes after a second: then nothing does
        before somebody connects. Nobody is connected."""
        def is_quiet():
            before = threads_of(self.process.pid)
            time.sleep(1.5)
            return {state for state, _ in before.values()} == {"S"} and threads_of(self.process.pid) == before
        wait_until(is_quiet, "it does not come to rest")

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, timeout=PATIENCE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def order(name, **more):
    return {"schema": "demo/OrderPlaced@1", "value": {"id": name, "sku": "mug", "count": 1, "cents": 5}, **more}
