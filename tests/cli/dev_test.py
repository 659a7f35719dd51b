#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast dev: a server to try things with, in a new folder and in one that is there; and what `make run` does."""
import contextlib
import json
import re
import shutil
import signal
import socket
import subprocess
import urllib.request

from program import PATIENCE, PROGRAM, ROOT, ProgramTest, main


class Dev(ProgramTest):
    @contextlib.contextmanager
    def dev(self, *arguments, ends_with=signal.SIGINT):
        """Gives the address and what was printed; then interrupts it."""
        process = subprocess.Popen([PROGRAM, "dev", *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        with process:
            try:
                lines = []
                for line in process.stdout:
                    lines.append(line)
                    if line.startswith("Interrupt it"):
                        break
                text = "".join(lines)
                found = re.search(r"^listening on (http://127\.0\.0\.1:\d+)$", text, re.MULTILINE)
                self.assertTrue(found, text or process.stderr.read())
                yield found[1], text
                process.send_signal(ends_with)
                out, errors = process.communicate(timeout=PATIENCE)
                self.assertEqual((out, process.returncode), ("", 0), errors)
            finally:
                process.kill()

    @staticmethod
    def get(url):
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.status, answer.read()

    def test_a_new_folder_is_served_and_goes_on_next_time(self):
        with self.dev("there", "--listen", "127.0.0.1:0") as (url, text):
            tries = re.findall(r"curl '([^']+)'", text)
            self.assertGreater(len(tries), 2)
            for each in tries:
                self.assertTrue(each.startswith(url), each)
                self.assertEqual(self.get(each)[0], 200, each)
            self.assertIn("holdfast ls --server " + url + "\n", text)
            self.assertIn("Interrupt it (Ctrl-C) to end it", text)
            self.assertEqual(self.run_program("ls", "--server", url).returncode, 0)
            last = json.loads(self.get(url + "/v1/journal?limit=1")[1])["last"]
        self.assertFalse((self.folder / "there/SERVER").exists())
        self.assertEqual(self.run_program("verify", "there", "--all").returncode, 0)
        with self.dev("there", "--listen", "127.0.0.1:0", ends_with=signal.SIGTERM) as (url, _):
            self.assertGreaterEqual(json.loads(self.get(url + "/v1/journal?limit=1")[1])["last"], last)

    def test_the_address_of_the_page_is_the_first_line_also_among_what_is_logged(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        with subprocess.Popen([PROGRAM, "dev", "there", "--supervise", "--open", "--listen", address], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env={"PATH": ""}) as process:
            try:
                self.assertEqual(process.stdout.readline(), f"http://{address} is the page; it opens in a moment\n")
                self.assertTrue(any(line.startswith("listening on") for line in process.stdout))
            finally:
                process.terminate()

    def test_without_the_demo_nothing_is_there(self):
        with self.dev("--no-demo", "--listen", "127.0.0.1:0") as (url, text):
            self.assertTrue((self.folder / "holdfast-dev.world").is_dir(), "where no folder is said")
            self.assertEqual(json.loads(self.get(url + "/v1/manifest")[1])["definitions"], [])
            self.assertEqual(re.findall(r"curl '([^']+)'", text), [url + "/openapi.json"])

    @contextlib.contextmanager
    def production(self, program):
        """The world of holdfast.yaml, served by its own program."""
        with subprocess.Popen([program, "serve", "--apply", "--any-file-system"], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            try:
                found = re.match(r"listening on (\S+)\n", process.stdout.readline())
                self.assertTrue(found)
                yield found[1]
            finally:
                process.terminate()

    def assert_left_alone(self):
        before = self.run_program("journal", "production").stdout
        done = self.run_program("dev")
        self.assertEqual((done.stdout, done.stderr.decode(), done.returncode),
                         (b"", "holdfast: production: HOLDFAST_WORLD or holdfast.yaml names this world, and it has other definitions, "
                          "which those of this program would replace: say dev production if that is meant\n", 1))
        self.assertEqual(self.run_program("journal", "production").stdout, before)

    def test_a_world_of_the_settings_with_other_definitions_is_left_alone(self):
        self.write("holdfast.yaml", "world: production\nlisten: 127.0.0.1:0\n")
        with self.dev():
            self.assertTrue((self.folder / "production").is_dir(), "a new one is made")
        with self.dev() as (url, _):
            definitions = json.loads(self.get(url + "/v1/manifest")[1])["definitions"]
            self.assertGreater(len(definitions), 0, "and goes on")
        shutil.rmtree(self.folder / "production")
        with self.production(PROGRAM.parent / "tests" / "waits") as url:
            self.assertEqual(self.run_program("start", "waits/ForEvent@1", '{"id":"a"}', "--server", url).returncode, 0)
        self.assert_left_alone()
        shutil.rmtree(self.folder / "production")
        with self.production(PROGRAM) as url:
            self.change_definitions(url)
        self.assert_left_alone()
        with self.dev("production") as (url, _):
            self.assertEqual(json.loads(self.get(url + "/v1/manifest")[1])["definitions"], definitions, "it is said on purpose")

    def change_definitions(self, url):
        definitions = json.loads(self.get(url + "/v1/manifest")[1])["definitions"]
        next(each for each in definitions if each.get("name") == "demo/charge@1")["timeout_ns"] = 77 * 10**9
        for entries in next(each for each in definitions if each["$kind"] == "manifest").values():
            for entry in entries if isinstance(entries, list) else []:
                entry.pop("hash", None)
        self.write("bundle.json", json.dumps(definitions))
        done = self.run_program("apply", "bundle.json", "--server", url)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))

    def test_a_port_that_is_taken_is_said(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            done = self.run_program("dev", "there", "--listen", address)
            self.assertEqual((done.stdout, done.returncode), (b"", 1))
            self.assertEqual(done.stderr.decode().splitlines()[-1],
                             f"holdfast: {address}: Address already in use; say --listen with another port, or 0 for any")
        for address in ("nonsense", "127.0.0.1", "127.0.0.1:70000", "256.0.0.1:1"):
            done = self.run_program("dev", "other", "--listen", address)
            self.assertEqual((done.stdout, done.returncode), (b"", 1), address)
            self.assertIn(address.split(":")[0], done.stderr.decode())

    def test_a_world_that_is_served_already_names_its_server(self):
        with self.dev("there", "--listen", "127.0.0.1:0") as (url, _):
            done = self.run_program("dev", "there", "--listen", "127.0.0.1:0")
            self.assertEqual((done.stdout, done.returncode), (b"", 1))
            self.assertIn("there/LOCK: is held by process ", done.stderr.decode())
            for command in (("ls", "--world", "there"), ("verify", "there"), ("gc", "there"), ("journal", "there"),
                            ("fork", "--world", "there", "new", "--any-file-system"), ("gov", "ls", "--world", "there")):
                done = self.run_program(*command)
                self.assertEqual((done.stdout, done.returncode), (b"", 1), command)
                self.assertRegex(done.stderr.decode(), r"\Aholdfast: there/LOCK: is held by process \d+ on host [^\n]+, which serves it: "
                                 rf"say --server {re.escape(url)}\n\Z", command)

    def test_make_run_serves_a_world_of_the_build_folder(self):
        recipe = subprocess.run(["make", "--no-print-directory", "-n", "run"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
        self.assertEqual(recipe, "scripts/run --live 5 --supervise --open")  # tests/postgres/dev_test.py runs it


if __name__ == "__main__":
    main()
