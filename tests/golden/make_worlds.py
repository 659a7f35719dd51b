#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the golden worlds of today's program: see README.md.

usage: make_worlds.py BUILD_FOLDER VERSION
"""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
LEFT_OUT = ("LOCK", "SERVER", "spare-")  # they say nothing of the world


class Server:
    def __init__(self, program, world, *more):
        self.process = subprocess.Popen(
            [program, "serve", "--world", world, "--apply", "--listen", "127.0.0.1:0", "--any-file-system",
             "--retention", "0", *more], stdout=subprocess.PIPE, text=True)
        self.url = re.match(r"listening on (\S+)", self.process.stdout.readline())[1]

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def send(self, schema, **value):
        return self.ask("/v1/events", {"schema": schema, "value": value})

    def instance(self, name):
        return self.ask("/v1/instances/" + name)

    def wait(self, what, condition):
        for _ in range(600):
            try:
                if condition():
                    return
            except urllib.error.HTTPError:
                pass  # it is not there yet
            time.sleep(0.1)
        raise SystemExit("make_worlds: waited in vain until " + what)

    def end(self, how):
        self.process.send_signal(how)
        self.process.wait(timeout=60)


def live(server):
    """What a golden world has lived through."""
    for number in range(12):
        server.send("golden/Count@1", id=f"c-{number % 4}", by=number)
    for name in ("one", "two"):
        server.send("golden/Keep@1", id=name, text=f"the text of letter {name}")
        server.wait("the letter waits for its signature",
                    lambda: any(reason.get("effect") == "golden/sign@1" for reason in
                                server.ask(f"/v1/instances/golden/Letter@1/{name}/why")["reasons"]))
    # A trip that has ended, and, below, one that waits for its review.
    server.send("golden/Plan@1", id="short", legs=1, is_reviewed=False)
    server.wait("the trip has ended", lambda: server.instance("golden/Trip@1/short")["status"] == "completed")
    server.ask("/v1/snapshots", {})
    server.send("golden/Count@1", id="c-9", by=3)
    server.ask("/v1/snapshots", {})
    server.send("golden/Plan@1", id="far", legs=2, is_reviewed=True)
    server.wait("the review waits for an answer",
                lambda: any(reason["kind"] == "wait" for reason in
                            server.ask("/v1/instances/golden/Review@1/far%2Freview/why")["reasons"]))
    definitions = server.ask("/v1/manifest")["definitions"]
    server.ask("/v1/proposals", {"definitions": definitions, "description": "the same again"})
    last = server.ask("/v1/journal")["last"]
    # The index and the seals follow by themselves.
    server.wait("the index has seen everything", lambda: server.ask("/v1/instances")["seen"] >= last)


def pack(world, archive):
    with tarfile.open(archive, "w:gz", compresslevel=9) as tar:
        for path in sorted(world.rglob("*")):
            if path.is_file() and not path.name.startswith(LEFT_OUT):
                tar.add(path, str(path.relative_to(world)))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve() / "tests" / "golden_program"
    for name, how in (("closed", signal.SIGTERM), ("killed", signal.SIGKILL)):
        archive = HERE / "worlds" / f"{name}-{sys.argv[2]}.tar.gz"
        if archive.exists():
            sys.exit(f"{archive} is there, and is never written again")
        archive.parent.mkdir(exist_ok=True)
        folder = pathlib.Path(tempfile.mkdtemp())
        server = Server(program, folder / "world")
        try:
            live(server)
            if how == signal.SIGKILL:
                time.sleep(2)  # its seals come within a second or so
            server.end(how)
        finally:
            server.process.kill()
        pack(folder / "world", archive)
        shutil.rmtree(folder)
        print(f"{archive}: {archive.stat().st_size} bytes")


if __name__ == "__main__":
    main()
