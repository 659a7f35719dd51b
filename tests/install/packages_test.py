#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages of this build: what is in them, what they need, and that the program in them serves the page and tells
its service manager that it is ready."""
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build"))
PATIENCE = 120


def run(*words):
    done = subprocess.run([*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stderr}")
    return done.stdout


@unittest.skipIf(os.environ.get("HOLDFAST_SANITIZE") or BUILD != ROOT / "build", "packages are made of build/")
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = [ROOT / line for line in run(ROOT / "scripts" / "deb").splitlines()]

    def unpack(self, package):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        run("dpkg-deb", "-x", package, folder.name)
        return pathlib.Path(folder.name)

    def test_the_program_serves_the_page_and_says_when_it_is_ready(self):
        package = self.unpack(self.files[0])
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(f"{folder}/notify")
            manager.settimeout(PATIENCE)
            process = subprocess.Popen([package / "usr/bin/holdfast", "serve", "--world", f"{folder}/world", "--listen", "127.0.0.1:0",
                                        "--any-file-system"], stdout=subprocess.PIPE, text=True, cwd=folder,
                                       env={**os.environ, "NOTIFY_SOCKET": f"{folder}/notify"})
            try:
                url = re.match(r"listening on (\S+)", process.stdout.readline())[1]
                self.assertEqual(manager.recv(100), b"READY=1")
                with urllib.request.urlopen(url, timeout=PATIENCE) as page:
                    self.assertIn(b"<!doctype html>", page.read().lower())
                process.terminate()
                self.assertEqual(manager.recv(100), b"STOPPING=1")
                self.assertEqual(process.wait(PATIENCE), 0)
            finally:
                process.kill()
                process.wait()
                process.stdout.close()

    def test_the_packages_hold_what_they_should(self):
        program = self.unpack(self.files[0])
        for name in ("usr/bin/holdfast", "lib/systemd/system/holdfast.service", "etc/holdfast/holdfast.yaml",
                     "usr/share/man/man1/holdfast.1.gz", "usr/share/bash-completion/completions/holdfast",
                     "usr/share/doc/holdfast/changelog.gz", "usr/share/doc/holdfast/copyright"):
            self.assertTrue((program / name).is_file(), name)
        development = self.unpack(self.files[1])
        self.assertTrue((development / "usr/include/holdfast/engine.h").is_file())
        self.assertTrue(list(development.rglob("libholdfast_engine.a")))
        self.assertTrue(list(development.rglob("holdfast-config.cmake")))
        needs = run("dpkg-deb", "-f", self.files[0], "Depends")
        for package in ("libc6", "libssl", "libcurl", "tzdata", "adduser"):
            self.assertIn(package, needs)
        version = run(program / "usr/bin/holdfast", "version").split()[1]
        self.assertEqual(run("dpkg-deb", "-f", self.files[0], "Version").strip(), version)
        self.assertIn(f"## {version}", (ROOT / "CHANGELOG.md").read_text())

    def test_the_man_page_has_every_command(self):
        page = run(ROOT / "scripts" / "man", BUILD / "holdfast")
        for command in ("serve", "schedule add", "gov propose", "ls", "token add", "worker"):
            self.assertIn(f".SS holdfast {command}\n", page)


if __name__ == "__main__":
    unittest.main()
