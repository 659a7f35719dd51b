# SPDX-License-Identifier: Apache-2.0
"""A real server and real workers, as a user has them."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "gateway"), str(ROOT / "tests" / "support")]
from server import PATIENCE, PROGRAM, ServerTest, wait_until  # noqa: F401


class LiveTest(ServerTest):
    settings = ()

    def setUp(self):
        super().setUp()
        self.start(*self.settings)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def worker(self, *flags, name="w", slots=4):
        log = open(self.folder / f"{name}.log", "ab")
        self.addCleanup(log.close)
        process = subprocess.Popen([PROGRAM, "worker", "--server", self.url, "--dir", self.folder / name, "--name", name, "--slots",
                                    str(slots), *map(str, flags)], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        def end():
            process.kill()
            process.wait()
        self.addCleanup(end)
        return process

    def command(self, *arguments):
        """What it prints; it must end well."""
        done = self.run_program(*arguments, "--server", self.url)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def ask(self, *arguments):
        return json.loads(self.command(*arguments, "--json"))

    def states(self, graph):
        return {task["name"]: task["status"] for task in self.ask("tasks", graph)["tasks"]}

    def last_record(self):
        return self.client().get("/v1/journal?limit=1").json()["last"]
