#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server that may not start has touched nothing: what was under way in its world goes on only when it serves."""
import contextlib
import json
import random
import signal
import socket
import subprocess

from program import PROGRAM, main, wait_until
from serving import ServingTest


class RefusedStart(ServingTest):
    def make_certificates(self):
        for name in ("good", "other"):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                            "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2", "-subj", "/CN=localhost"],
                           cwd=self.folder, check=True, capture_output=True)
        self.write("rubbish.pem", "no certificate\n")

    def refusals(self, port):
        """What is said to the program, and what it must say."""
        tls = ("--tls-certificate", "good.pem", "--tls-key", "good.key")
        return (
            (("--listen", "0.0.0.0:0"), "an address that others can reach needs tokens: holdfast token add makes them; "
                                        "without any, listen on 127.0.0.1\n"),
            (("--listen", f"127.0.0.1:{port}"), f"127.0.0.1:{port}: Address already in use; "
                                                "say --listen with another port, or 0 for any\n"),
            (("--listen", "nowhere:1"), "nowhere: it is not an address\n"),
            (("--listen", "192.0.2.1:0", ), "needs tokens"),
            (("--tls-certificate", "good.pem"), "tls-key: it is missing; tls-certificate is nothing without it\n"),
            (("--tls-key", "good.key"), "tls-certificate: it is missing, though there is a tls-key\n"),
            (("--client-authorities", "good.pem"), "tls-certificate: it is missing; client-authorities are for TLS\n"),
            (("--tls-certificate", "no.pem", "--tls-key", "good.key"), "tls-certificate no.pem: No such file or directory"),
            (("--tls-certificate", "rubbish.pem", "--tls-key", "good.key"), "tls-certificate rubbish.pem: "),
            (("--tls-certificate", "good.pem", "--tls-key", "no.key"), "tls-key no.key: No such file or directory"),
            (("--tls-certificate", "good.pem", "--tls-key", "other.key"), "tls-key other.key: "),
            ((*tls, "--client-authorities", "no.pem"), "client-authorities no.pem: No such file or directory"),
        )

    def test_a_start_that_is_refused_leaves_every_byte_as_it_was(self):
        self.make_certificates()
        self.make_world(how=("recent",))  # a third of its orders has an effect open
        before = self.contents()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            for said, told in self.refusals(taken.getsockname()[1]):
                listen = () if "--listen" in said else ("--listen", "127.0.0.1:0")
                done = self.run_program("serve", "--world", "world", "--any-file-system", "--apply", *said, *listen)
                self.assertEqual((done.stdout, done.returncode), (b"", 1), said)
                self.assertTrue(done.stderr.decode().startswith("holdfast: "), done.stderr)
                self.assertIn(told, done.stderr.decode())
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertEqual(self.contents(), before, said)
            # The same of `dev`, which would begin a world.
            for said, told in (item for item in self.refusals(taken.getsockname()[1]) if "--listen" in item[0]):
                done = self.run_program("dev", "fresh", *said)
                self.assertEqual((done.stdout, done.returncode), (b"", 1), said)
                self.assertIn(told, done.stderr.decode())
                self.assertFalse((self.folder / "fresh").exists(), said)

    def free_port(self):
        """None of those that others get who ask for any, so that it is free still when it is taken."""
        while True:
            with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", random.randrange(20000, 32000))) as free:
                return free.getsockname()[1]

    def test_of_two_that_start_on_one_port_the_second_opens_nothing(self):
        # The first is stopped when it has begun to open its world.
        port = self.free_port()
        listen = ("--listen", f"127.0.0.1:{port}", "--any-file-system")
        first = subprocess.Popen([PROGRAM, "serve", "--world", "first", *listen], cwd=self.folder,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: first.poll() is not None or (self.folder / "first" / "journal").exists())  # it opens
            self.assertIsNone(first.poll())
            first.send_signal(signal.SIGSTOP)
            self.make_world(how=("recent",))
            before = self.contents()
            done = self.run_program("serve", "--world", "world", *listen)
            self.assertEqual((done.stdout, done.returncode), (b"", 1))
            self.assertIn(f"127.0.0.1:{port}: Address already in use; ", done.stderr.decode())
            self.assertEqual(self.contents(), before)
            self.assertIsNone(first.poll())
        finally:
            first.kill()
            first.wait()

    def records(self):
        done = self.run_program("journal", "--world", "world", "--json", "--limit", "1000")
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        return json.loads(done.stdout)["records"]

    def test_a_world_without_code_is_refused_before_anything_goes_on(self):
        self.make_world(how=("strange",))
        before = self.records()
        for applies in ((), ("--apply",)):
            done = self.run_program("serve", "--world", "world", "--any-file-system", *applies, "--listen", "127.0.0.1:0")
            self.assertEqual((done.stdout, done.returncode), (b"", 1))
            self.assertIn("holdfast: record 1: ", done.stderr.decode())
        self.assertEqual(self.records(), before)

    def test_instances_under_way_go_on_with_definitions_that_are_added_beside_them(self):
        self.make_world(how=("recent",))
        before = self.records()
        self.assertEqual(len([record for record in before if record["tick"]["kind"] == "apply"]), 1)
        with self.server(applies=True) as url:
            wait_until(lambda: not self.ask(url, "ls", "--status", "waiting")["instances"])
        after = self.records()
        self.assertEqual(after[:len(before)], before)
        self.assertEqual(len([record for record in after if record["tick"]["kind"] == "apply"]), 2)


if __name__ == "__main__":
    main()
