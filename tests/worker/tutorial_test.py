#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tutorial of docs/tasks.md does what it says: its files are written, its commands are run by a shell, and what they print is compared."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import unittest

from live import PATIENCE, PROGRAM, ROOT, wait_until

PAGE = (ROOT / "docs" / "tasks.md").read_text()
SECTION = PAGE.split("\n## Tutorial\n")[1].split("\n## ")[0]
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.M | re.S)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def trimmed(text):
    """Tables end their lines with spaces."""
    return [line.rstrip() for line in text.splitlines()]


class Tutorial(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.port = free_port()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
        environment |= {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "HOLDFAST_LISTEN": f"127.0.0.1:{self.port}"}
        self.shell = subprocess.Popen(["bash", "--norc"], cwd=self.folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, start_new_session=True)
        def end():
            os.killpg(self.shell.pid, signal.SIGKILL)
            self.shell.communicate()
        self.addCleanup(end)

    def ask_shell(self, line):
        self.shell.stdin.write(line.replace("7411", str(self.port)) + "\necho --end--\n")
        self.shell.stdin.flush()
        printed = []
        for answer in iter(self.shell.stdout.readline, ""):
            if answer == "--end--\n":
                return "".join(printed)
            printed.append(answer)
        self.fail(f"the shell has ended after: {line}")

    def listens(self):
        with socket.socket() as probe:
            probe.settimeout(PATIENCE)
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def test_the_tutorial(self):
        blocks = BLOCK.findall(SECTION)
        self.assertGreaterEqual(len(blocks), 7)
        commands = 0
        for kind, file, text in blocks:
            if file:
                (self.folder / file).write_text(text)
                continue
            self.assertEqual(kind, "console")
            for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
                command, _, expected = part.partition("\n")
                printed = self.ask_shell(command)
                commands += 1
                if command.startswith("holdfast dev"):
                    wait_until(self.listens, "the server does not listen")
                self.assertEqual(trimmed(printed), trimmed(expected), command)
        self.assertGreaterEqual(commands, 9)


if __name__ == "__main__":
    unittest.main()
