#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a served world may do is said with flags, variables or holdfast.yaml: where its requests go, what it runs, where its
secrets are, how long it keeps what has ended."""
import contextlib
import http.server
import json
import os
import re
import signal
import subprocess
import threading
import time

from program import PATIENCE, PROGRAM, main, wait_until
from serving import ServingTest

REACHES = PROGRAM.parent / "tests" / "reaches"
SECRET = "correct-horse-battery-staple"


class ServedOptions(ServingTest):
    @contextlib.contextmanager
    def website(self):
        """A server on loopback; gives its port and what it was asked with."""
        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.headers.get("Authorization"))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1], asked
        finally:
            server.shutdown()
            server.server_close()

    @contextlib.contextmanager
    def reaches(self, *flags, applies=True, **variables):
        process = subprocess.Popen([REACHES, "serve", "--world", "world", "--listen", "127.0.0.1:0", "--any-file-system",
                                    *(["--apply"] if applies else []), *flags], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, **variables})
        try:
            line = process.stdout.readline().decode()
            found = re.match(r"listening on (http://\S+)\n", line)
            self.assertTrue(found, line or process.stderr.read().decode())
            yield found[1]
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.communicate(timeout=PATIENCE)
            finally:
                process.kill()

    def begin(self, at, name, **how):
        event = {"id": name, "url": "", "argv": [], "env": {}, "with_secret": False, **how}
        self.assertEqual(self.ask(at, "start", "test/Reach@1", json.dumps(event))["deliveries"], 1)

    def go(self, at, name, **how):
        """How an instance ended: its result, or the code of its error."""
        event = {"id": name, "url": "", "argv": [], "env": {}, "with_secret": False, **how}
        done = self.run_program("start", "test/Reach@1", json.dumps(event), "--wait", "60000", "--server", at, "--json")
        instance = json.loads(done.stdout)["instance"]
        return instance["result"] if instance["status"] == "completed" else instance["error"]["code"]

    def test_requests_go_only_where_it_is_said(self):
        with self.website() as (port, asked):
            page = f"http://127.0.0.1:{port}/"
            with self.reaches() as url:
                self.assertEqual(self.go(url, "nowhere", url=page), "http.host_refused")
            with self.reaches("--http-hosts", f"localhost,127.0.0.1:{port}/private") as url:
                self.assertEqual(self.go(url, "flag", url=page), 200)
                self.assertEqual(self.go(url, "port", url="http://127.0.0.1:1/"), "http.host_refused")
                self.assertEqual(self.go(url, "name", url=f"http://localhost:{port}/"), "http.address_refused")
                self.assertEqual(self.go(url, "other", url=f"http://127.0.0.2:{port}/"), "http.host_refused")
            with self.reaches(HOLDFAST_HTTP_HOSTS=f"127.0.0.1:{port}/private") as url:
                self.assertEqual(self.go(url, "variable", url=page), 200)
            self.write("holdfast.yaml", f"http-hosts: ['127.0.0.1:{port}/private', example.com]\n")
            with self.reaches() as url:
                self.assertEqual(self.go(url, "file", url=page), 200)
            self.assertEqual(asked, [None] * 3)

    def test_programs_are_those_of_the_program_itself_unless_it_is_said(self):
        with self.reaches() as url:
            self.assertEqual(self.go(url, "own", argv=["/bin/echo", "a"]), 0)
            self.assertEqual(self.go(url, "none", argv=["/bin/false"]), "process.program_refused")
        with self.reaches("--programs", "/bin/false") as url:
            self.assertEqual(self.go(url, "said", argv=["/bin/false"]), 1)
            self.assertEqual(self.go(url, "not-said", argv=["/bin/echo", "a"]), "process.program_refused")

    def test_params_set_only_variables_that_are_said(self):
        def env(name, value="1"):
            return {"argv": ["/usr/bin/env"], "env": {name: value}}
        with self.reaches("--programs", "/usr/bin/env") as url:
            self.assertEqual(self.go(url, "none", **env("LANG")), "process.variable_refused")
        with self.reaches("--programs", "/usr/bin/env", "--program-variables", "LANG,TZ") as url:
            self.assertEqual(self.go(url, "flag", **env("TZ")), 0)
            self.assertEqual(self.go(url, "other", **env("PATH")), "process.variable_refused")
            self.assertEqual(self.go(url, "loader", **env("LD_PRELOAD", "/proc/self/fd/0")), "process.variable_refused")
        with self.reaches("--programs", "/usr/bin/env", HOLDFAST_PROGRAM_VARIABLES="LANG") as url:
            self.assertEqual(self.go(url, "variable", **env("LANG")), 0)
        self.write("holdfast.yaml", "programs: [/usr/bin/env]\nprogram-variables: [LANG]\n")
        with self.reaches() as url:
            self.assertEqual(self.go(url, "file", **env("LANG")), 0)

    def test_a_program_that_was_changed_is_not_run_until_the_next_start(self):
        tool = self.folder / "tool"
        self.write("tool", "#!/bin/sh\nexit 3\n")
        tool.chmod(0o755)
        with self.reaches("--programs", str(tool)) as url:
            self.assertEqual(self.go(url, "as-it-was", argv=[str(tool)]), 3)
            self.write("other", "#!/bin/sh\nexit 4\n")
            (self.folder / "other").chmod(0o755)
            (self.folder / "other").rename(tool)
            self.assertEqual(self.go(url, "changed", argv=[str(tool)]), "process.program_changed")
        with self.reaches("--programs", str(tool)) as url:
            self.assertEqual(self.go(url, "allowed-again", argv=[str(tool)]), 4)

    def declare_secret(self, url, binding):
        definitions = self.ask(url, "manifest")["definitions"]
        kept = [each for each in definitions if each["$kind"] != "defsecret"]
        manifest = next(each for each in kept if each["$kind"] == "manifest")
        manifest["secrets"] = [{"name": "test/token@1"}]
        kept.append({"$kind": "defsecret", "name": "test/token@1", "binding_id": binding})
        self.write("bundle.json", json.dumps(kept))
        done = self.run_program("apply", "bundle.json", "--server", url)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))

    def test_a_secret_is_used_and_stands_nowhere(self):
        self.write("secrets/token", SECRET + "\n")
        with self.website() as (port, asked):
            page = f"http://127.0.0.1:{port}/"
            hosts = ("--http-hosts", f"127.0.0.1:{port}/private")
            with self.reaches(*hosts) as url:
                self.declare_secret(url, "file:token")
                self.assertNotEqual(self.go(url, "no-folder", url=page, with_secret=True), 200)
            with self.reaches(*hosts, "--secret-folder", "secrets", applies=False) as url:
                self.assertEqual(self.go(url, "folder", url=page, with_secret=True), 200)
                self.declare_secret(url, "env:HOLDFAST_TOKEN_OF_SHOP")
            with self.reaches(*hosts, "--secret-variables", "PATH", applies=False) as url:
                self.assertNotEqual(self.go(url, "not-named", url=page, with_secret=True), 200)
            with self.reaches(*hosts, "--secret-variables", "OTHER,HOLDFAST_TOKEN_OF_SHOP", applies=False,
                              HOLDFAST_TOKEN_OF_SHOP=SECRET + "-2") as url:
                self.assertEqual(self.go(url, "variable", url=page, with_secret=True), 200)
            self.assertEqual(asked, [SECRET, SECRET + "-2"])
        for path, data in self.contents().items():
            self.assertNotIn(SECRET.encode(), data, path)
        shown = self.run_program("config", env={"HOLDFAST_SECRET_FOLDER": "secrets"})
        self.assertRegex(shown.stdout.decode(), r"secret-folder +secrets +HOLDFAST_SECRET_FOLDER\n")
        self.assertNotIn(SECRET, shown.stdout.decode())

    def test_a_secret_of_the_program_itself_may_be_called_as_settings_are(self):
        with self.website() as (port, asked):
            hosts = ("--http-hosts", f"127.0.0.1:{port}/private")
            with self.reaches(*hosts, HOLDFAST_TOKEN_OF_PROGRAM=SECRET) as url:
                self.declare_secret(url, "env:HOLDFAST_TOKEN_OF_PROGRAM")
                self.assertEqual(self.go(url, "own", url=f"http://127.0.0.1:{port}/", with_secret=True), 200)
            self.assertEqual(asked, [SECRET])
        refused = subprocess.run([REACHES, "serve", "--world", "world"], cwd=self.folder, capture_output=True, timeout=PATIENCE,
                                 env={**os.environ, "HOLDFAST_TOKEN_OF_NOBODY": "x"})
        self.assertEqual((refused.stdout, refused.returncode), (b"", 2))
        self.assertIn("HOLDFAST_TOKEN_OF_NOBODY: there is no such setting", refused.stderr.decode())

    def test_what_has_ended_is_kept_as_long_as_it_is_said(self):
        self.write("holdfast.yaml", "retention: 1s\nsnapshot-every: 3\n")
        with self.reaches() as url:
            # Nobody waits for their ends: on a busy machine an answer may come when they are gone.
            self.begin(url, "a", argv=["/bin/echo", "a"])
            wait_until(lambda: self.run_program("show", "test/Reach@1/a", "--server", url).returncode == 1)
            for i in range(4):
                self.begin(url, f"s-{i}", argv=["/bin/echo", "a"])
        snapshots = json.loads(self.run_program("snapshot", "ls", "world", "--json").stdout)["snapshots"]
        self.assertGreater(len(snapshots), 0)
        with self.reaches("--retention", "0", "--snapshot-every", "0") as url:
            self.assertEqual(self.go(url, "b", argv=["/bin/echo", "a"]), 0)
            time.sleep(3)
            self.assertEqual(self.ask(url, "show", "test/Reach@1/b")["status"], "completed")

    def test_a_setting_that_is_none_is_refused_with_its_place(self):
        for said, told in (
                (("--http-hosts", "a:b"), "--http-hosts: 'a:b' is no host: expected HOST[:PORT][/private]"),
                (("--http-hosts", "http://a/"), "--http-hosts: 'http://a/' is no host: expected HOST[:PORT][/private]"),
                (("--programs", "echo"), "--programs: 'echo' is not the whole path of a program"),
                (("--programs", "/no/such/program"),
                 "--programs: '/no/such/program' is not there: No such file or directory"),
                (("--programs", "/etc/passwd"), "--programs: '/etc/passwd' is not a file that can be run"),
                (("--program-variables", "LANG,LD_PRELOAD"),
                 "--program-variables: 'LD_PRELOAD' makes any program load other code, so params may never set it"),
                (("--program-variables", "A=B"), "--program-variables: 'A=B' is not the name of a variable"),
                (("--retention", "1w"), "--retention: expected a time up to 100 years, as 7d, 12h, 30m or 90s"),
                (("--retention", "40000d"), "--retention: expected a time up to 100 years, as 7d, 12h, 30m or 90s"),
                (("--snapshot-every", "-1"), "--snapshot-every: expected a number of records"),
                (("--handler-threads", "0"), "--handler-threads: expected a number from 1 to 1024"),
                (("--hot-cells", "0"), "--hot-cells: expected a number from 1 to 10000000"),
                (("--replay-bound", "0"), "--replay-bound: expected a time from 1s to 1h"),
                (("--history", "yes"), "--history: expected true or false")):
            for command in (("serve", "--world", "fresh"), ("dev", "fresh")):
                done = self.run_program(*command, f"{said[0]}={said[1]}")
                self.assertEqual((done.stderr.decode(), done.returncode), (f"holdfast: {told}\n", 2))
                self.assertFalse((self.folder / "fresh").exists())
        done = subprocess.run([PROGRAM, "serve", "--world", "fresh"], cwd=self.folder, capture_output=True, timeout=PATIENCE,
                              env={**os.environ, "HOLDFAST_HOT_CELLS": "none"})
        self.assertEqual((done.stderr.decode(), done.returncode),
                         ("holdfast: HOLDFAST_HOT_CELLS: expected a number from 1 to 10000000\n", 2))
        self.write("holdfast.yaml", "hot-cells: 0\n")
        self.assert_misused("holdfast.yaml: hot-cells: expected a number from 1 to 10000000", "serve", "--world", "fresh")
        self.write("holdfast.yaml", "retention: soon\n")
        self.assert_misused("holdfast.yaml: retention: expected a time up to 100 years, as 7d, 12h, 30m or 90s",
                            "serve", "--world", "fresh")
        for text, told in (("programs: 1", "programs: expected a list of texts"), ("history: 1", "history: expected true or false"),
                           ("programs: ['/a,b']", "programs: expected a list of texts without commas"),
                           ("snapshot-every: [1]", "snapshot-every: expected a number, or a text")):
            self.write("holdfast.yaml", text + "\n")
            self.assert_misused("holdfast.yaml: " + told, "serve", "--world", "fresh")

    def test_dev_goes_by_the_same_settings(self):
        def dev(*arguments, **variables):
            process = subprocess.Popen([PROGRAM, "dev", "--no-demo", *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, env={**os.environ, **variables})
            try:
                return process.stdout.readline().decode()
            finally:
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=PATIENCE)

        self.write("holdfast.yaml", "world: from-file\nlisten: '127.0.0.2:0'\n")
        self.assertRegex(dev(), r"\Alistening on http://127\.0\.0\.2:\d+\n")
        self.assertTrue((self.folder / "from-file/journal").is_dir())
        self.assertRegex(dev(HOLDFAST_LISTEN="127.0.0.3:0", HOLDFAST_WORLD="from-variable"), r"http://127\.0\.0\.3:\d+\n")
        self.assertTrue((self.folder / "from-variable/journal").is_dir())
        self.assertRegex(dev("from-flag", "--listen", "127.0.0.1:0", HOLDFAST_LISTEN="127.0.0.3:0"), r"http://127\.0\.0\.1:\d+\n")
        self.assertTrue((self.folder / "from-flag/journal").is_dir())
        self.assertFalse((self.folder / "holdfast-dev.world").exists())


if __name__ == "__main__":
    main()
