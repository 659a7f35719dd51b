#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What clients that say nothing, read nothing or send what nobody asked for can take of a server, and that the others
are answered meanwhile. bench/http/crowd.py measures the same with many more of them."""
import json
import os
import pathlib
import resource
import signal
import ssl
import subprocess
import unittest

from server import PATIENCE, SANITIZED, TELLER, Client, ServerTest, order, wait_until

KIB, MIB = 1 << 10, 1 << 20


def rss_bytes(process):
    """What it has allocated and touched, without the program itself."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) * KIB


class Bounded(ServerTest):
    def start_with_files(self, soft, hard, *arguments):
        """The server may open so many; this process keeps what it may."""
        mine = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, mine[1]))
        try:
            program, self.program = self.program, self.folder / "limited"
            self.program.write_text(f"#!/bin/sh\nulimit -Hn {hard}\nexec {program} \"$@\"\n")
            self.program.chmod(0o755)
            self.start(*arguments)
        finally:
            self.program = program
            resource.setrlimit(resource.RLIMIT_NOFILE, mine)

    def silent(self, count):
        clients = [Client(self.port) for _ in range(count)]
        for client in clients:
            self.addCleanup(client.close)
        return clients

    def log(self):
        return (self.folder / "errors").read_text()

    def token(self, role, name=None):
        done = self.run_program("token", "add", "--new", "--world", self.world, "--role", role, "--name", name or role)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {"Authorization": "Bearer " + done.stdout.split()[0]}


class Connections(Bounded):
    def test_silent_connections_stop_no_answers_and_known_clients_keep_theirs(self):
        self.start_with_files(256, 256)
        known = self.client()
        self.assertEqual(known.post("/v1/events", order("first")).status, 200)
        silent = self.silent(400)
        self.assertEqual(known.get("/v1/limits").json()["connections"], 128, "the engine has the other half")
        for i in range(20):
            self.assertEqual(known.post("/v1/events", order(f"o-{i}")).status, 200)
            with Client(self.port) as newcomer:
                self.assertEqual(newcomer.get("/healthz").status, 200)
        self.assertGreater(self.figure("holdfast_http_shed_connections_total"), 250)
        self.assertLessEqual(self.figure("holdfast_http_connections"), 129)
        self.assertIsNone(silent[0].receive(), "the oldest went first")
        self.assertIn("at most 128 connections", self.log())
        self.assertNotIn("disk", self.log())
        self.assertEqual(self.stop(), 0)

    def test_half_a_request_does_not_keep_a_place(self):
        self.start_with_files(256, 256)
        for client in self.silent(300):
            client.send(b"GET /healthz HTTP/1.1\r\nHost: loc")
        with Client(self.port) as newcomer:
            self.assertEqual(newcomer.get("/v1/limits").status, 200)

    def test_a_token_has_its_share_of_the_connections_and_no_more(self):
        greedy, other = self.token("operator", "greedy"), self.token("operator", "other")
        self.start_with_files(256, 256)  # 128 connections

        def begin(client, token, body):
            client.send(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        b"Authorization: " + token["Authorization"].encode() +
                        b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:1])

        body = json.dumps(order("slow")).encode()
        slow, watching = self.client(), self.client()
        held = lambda: b"\nholdfast_http_connections 128\n" in watching.get("/metrics", **other).body
        for client in self.silent(126):
            begin(client, greedy, body)
        begin(slow, other, body)
        wait_until(held, "they are not all there")
        for i in range(5):
            with Client(self.port) as newcomer:
                self.assertEqual(newcomer.get("/v1/limits", **other).status, 200, f"newcomer {i}")
        slow.send(body[1:])
        self.assertEqual(slow.receive().status, 200, "it had less than its share")

    def test_the_soft_limit_is_raised_to_the_hard_one(self):
        self.start_with_files(100, 700)
        limits = pathlib.Path(f"/proc/{self.process.pid}/limits").read_text()
        self.assertEqual(limits.split("Max open files")[1].split()[:2], ["700", "700"])
        self.assertEqual(self.client().get("/v1/limits").json()["connections"], 700 - 320)

    @unittest.skipIf(SANITIZED, "sanitizers have memory of their own")
    def test_an_idle_connection_costs_a_few_KiB(self):
        self.start()
        count = 400
        with Client(self.port) as warm:
            self.assertEqual(warm.get("/openapi.json").status, 200)
        before = rss_bytes(self.process.pid)
        clients = self.silent(count)
        for client in clients:
            self.assertEqual(client.get("/openapi.json").status, 200)
        wait_until(lambda: rss_bytes(self.process.pid) - before < count * 16 * KIB,
                   "400 connections that said something once keep more than 6.25 MiB")
        self.assertEqual(clients[-1].get("/healthz").status, 200, "and they are still served")


class Answers(Bounded):
    def fill(self, count, size):
        client = self.client()
        for i in range(count):
            big = order(f"big-{i}")
            big["value"]["sku"] = "m" * size
            self.assertEqual(client.post("/v1/events", big).status, 200)
        return client

    def test_a_large_answer_is_whole_in_json_and_cbor(self):
        self.start()
        client = self.fill(2, 3 * MIB)
        parts = [client.get(f"/v1/journal?from={i}&limit=1") for i in range(1, client.get("/v1/journal?limit=1").json()["last"] + 1)]
        sizes = [len(part.body) for part in parts]
        self.assertGreater(max(sizes), 3 * MIB)
        for part in parts:
            self.assertEqual(len(part.json()["records"]), 1)
        largest = sizes.index(max(sizes)) + 1
        cbor = client.get(f"/v1/journal?from={largest}&limit=1", Accept="application/cbor")
        self.assertIn(b"application/cbor", cbor.head)
        self.assertIn(b"m" * 3 * MIB, cbor.body)
        client.send(b"HEAD /v1/journal?from=%d&limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n" % largest)
        while b"\r\n\r\n" not in client.held:
            self.assertTrue(client.fill())
        self.assertIn(b"Content-Length: %d\r\n" % max(sizes), client.held)
        client.held = b""
        self.assertEqual(client.get("/healthz").status, 200, "there was no body")

    @unittest.skipIf(SANITIZED, "sanitizers have memory of their own")
    def test_answers_that_nobody_reads_are_bounded_and_others_are_answered(self):
        self.start()
        client = self.fill(1, 14 * MIB)  # more than sockets hold
        before = rss_bytes(self.process.pid)
        for reader in self.silent(30):
            reader.send(b"GET /v1/journal?from=2&limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_until(lambda: self.figure("holdfast_http_answer_bytes") > 80 * MIB, "they are not counted")
        self.assertLessEqual(self.figure("holdfast_http_answer_bytes"), 96 * MIB)
        self.assertLess(rss_bytes(self.process.pid) - before, 300 * MIB)
        self.assertEqual(client.post("/v1/events", order("after")).status, 200)
        self.assertEqual(client.get("/healthz").status, 200)
        # Those who take nothing make room for one who does.
        big = wait_until(lambda: (reply := client.get("/v1/journal?from=2&limit=1")).status == 200 and reply)
        self.assertGreater(len(big.body), 14 * MIB)
        self.assertGreater(self.figure("holdfast_http_cut_readers_total"), 0)

    def test_a_token_has_its_share_of_the_answers_and_no_more(self):
        greedy, other = self.token("operator", "greedy"), self.token("operator", "other")
        self.start()
        client = self.client()
        big = order("big")
        big["value"]["sku"] = "m" * (14 * MIB)  # more than sockets hold
        self.assertEqual(client.post("/v1/events", big, **other).status, 200)
        for reader in self.silent(12):
            reader.send(b"GET /v1/journal?from=2&limit=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: " +
                        greedy["Authorization"].encode() + b"\r\n\r\n")
        metrics = lambda: client.get("/metrics", **other).body
        wait_until(lambda: b'status="429"' in metrics(), "nobody is refused")
        held = float(metrics().split(b"\nholdfast_http_answer_bytes ")[1].split()[0])
        self.assertLess(held, 48 * MIB)
        self.assertEqual(client.get("/v1/journal?from=2&limit=1", **other).status, 200)

    @unittest.skipIf(SANITIZED, "sanitizers have memory of their own")
    def test_states_that_were_read_do_not_stay_in_memory(self):
        self.start()
        client = self.fill(500, 400_000)
        self.assertEqual(client.post("/v1/snapshots", {}).status, 200)
        self.stop()
        self.start()
        client = self.client()
        before = rss_bytes(self.process.pid)
        for i in range(500):  # 190 MiB
            self.assertGreater(len(client.get(f"/v1/instances/demo/Order@1/big-{i}").body), 400_000)
        self.assertLess(rss_bytes(self.process.pid) - before, 120 * MIB)


class Bodies(Bounded):
    def test_a_body_where_none_belongs_is_refused_at_once(self):
        self.start()
        large = b"Content-Length: %d\r\n\r\n" % (15 * MIB)
        chunked = b"Transfer-Encoding: chunked\r\n\r\n"
        for route, body, wanted in ((b"GET /healthz", large, (400, "bad_body")),
                                    (b"GET /healthz", chunked, (400, "bad_body")),
                                    (b"HEAD /healthz", large, None),
                                    (b"GET /v1/journal", large, (400, "bad_body")),
                                    (b"POST /v1/snapshots", large + b"x" * 2000, (413, "too_large"))):
            with self.subTest(route + b" " + body[:20]), Client(self.port) as client:
                client.send(route + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + body)
                if wanted is None:
                    self.assertTrue(client.fill())
                    self.assertIn(b" 400 ", client.held)
                    continue
                reply = client.receive()
                self.assertEqual((reply.status, reply.code()), wanted, reply.body)
                self.assertIsNone(client.receive(), "and the connection ends")
        self.assertEqual(self.client().post("/v1/snapshots", {}).status, 200, "nothing may be said as {}")

    def test_strangers_send_no_bodies(self):
        self.token("admin")
        self.start()
        with Client(self.port) as client:
            client.send(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n")
            self.assertEqual(client.receive().status, 401, "and not 100")

    def test_a_token_has_its_share_of_the_bodies_and_no_more(self):
        greedy, other = self.token("operator", "greedy"), self.token("operator", "other")
        self.start()
        body = b"x" * (15 * MIB)
        clients = self.silent(6)
        for client in clients:  # 90 MiB, and none of them is whole
            client.send(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        b"Authorization: " + greedy["Authorization"].encode() +
                        b"\r\nContent-Length: %d\r\n\r\n" % (len(body) + 1) + body)
        viewer = self.client()
        wait_until(lambda: b'status="429"' in viewer.get("/metrics", **other).body, "nobody is refused")
        held = float(viewer.get("/metrics", **other).body.split(b"\nholdfast_http_body_bytes ")[1].split()[0])
        self.assertLess(held, 65 * MIB)
        self.assertEqual(viewer.post("/v1/events", order("other"), **other).status, 200)

    def test_lines_between_chunks_that_do_not_end_are_refused_and_not_waited_for(self):
        self.start()
        head = (b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n")
        much = b"0" * 20_000
        for kind, chunks in {"a size": much, "an extension": b"3;a=" + much, "a trailer": b"0\r\nX: " + much}.items():
            with self.subTest(kind), Client(self.port) as client:
                client.send(head + chunks)
                reply = client.receive()
                self.assertEqual((reply.status, reply.code()), (400, "malformed"), "408 would be the end of a spin")


    def test_a_chunked_body_may_be_cut_anywhere(self):
        """Behind its first three bytes it ended the server, for strangers too."""
        self.start()
        for route in (b"GET /healthz", b"POST /v1/snapshots"):
            with self.subTest(route), Client(self.port) as client:
                client.send(route + b" HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
                for piece in (b"\r", b"\n"):
                    with Client(self.port) as other:  # what was sent has been read by then
                        self.assertEqual(other.get("/healthz").status, 200)
                    client.send(piece)
                self.assertIn(client.receive().status, (200, 400))
        self.assertIsNone(self.process.poll())


class Targets(Bounded):
    def test_absolute_targets_are_served_and_their_host_counts(self):
        self.start()
        for target, host, status in (("http://localhost/healthz", "localhost", 200),
                                     (f"HTTP://127.0.0.1:{self.port}/healthz", "x.example", 200),
                                     ("http://evil.example/healthz", "localhost", 403),
                                     ("http://localhost@evil.example/healthz", "localhost", 400),
                                     ("http:///healthz", "localhost", 400),
                                     ("ftp://localhost/healthz", "localhost", 400)):
            with self.subTest(target), Client(self.port) as client:
                self.assertEqual(client.get(target, Host=host).status, status)


class Storage(Bounded):
    def test_files_that_are_missing_are_no_fault_of_the_client_and_not_named(self):
        self.start()
        client = self.client()
        self.assertEqual(client.post("/v1/events", order("o-1")).status, 200)
        # A segment that is full is only read; one that is written is missed at once, and the server ends.
        first, second = (self.world / "journal" / f"{number:012}.log" for number in (1, 2))
        for number in range(64):
            if second.exists():
                break
            event = {**order("o-1"), "value": {**order("o-1")["value"], "id": f"large-{number}", "sku": "x" * 900_000}}
            self.assertEqual(client.post("/v1/events", event).status, 200)
        self.assertTrue(second.exists())
        away = self.world / "away"
        first.rename(away)
        for path in ("/v1/journal", "/v1/instances/demo/Order@1/o-1/timeline"):
            reply = client.get(path)
            self.assertEqual((reply.status, reply.code()), (503, "storage"), reply.body)
            self.assertIn(b"Retry-After: 1", reply.head)
            for part in (b"journal/", str(self.folder).encode(), b".log"):
                self.assertNotIn(part, reply.body)
        self.assertIn("journal/", self.log(), "the log has the place")
        away.rename(first)
        self.assertEqual(client.get("/v1/journal?limit=1").status, 200)


class Revoked(Bounded):
    program = TELLER

    def test_a_wait_ends_when_its_token_is_revoked(self):
        operator, admin = self.token("operator"), self.token("admin")
        self.start()
        waiting = self.client()
        body = json.dumps({"schema": "test/Tell@1", "value": {"name": "a", "count": 1, "letters": 1, "leave": False}, "wait": 60_000}).encode()
        waiting.send(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: "
                     + operator["Authorization"].encode() + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        other = self.client()
        wait_until(lambda: other.get("/v1/instances/test/Tale@1/a", **admin).status == 200)
        listed = json.loads(self.run_program("token", "ls", "--world", self.world, "--json").stdout)["tokens"]
        self.assertEqual(self.run_program("token", "revoke", "--world", self.world, listed[0]["id"]).returncode, 0)
        waiting.socket.settimeout(30)  # the wait itself would take 60
        reply = waiting.receive()
        self.assertEqual((reply.status, reply.code()), (401, "unauthenticated"))

    def test_the_records_say_who_asked(self):
        operator = self.token("operator", "night shift")
        self.start()
        client = self.client()
        tell = {"schema": "test/Tell@1", "value": {"name": "a", "count": 1, "letters": 1, "leave": False}}
        self.assertEqual(client.post("/v1/events", tell, **operator).status, 200)
        for word in ("pause", "resume", "cancel"):
            self.assertEqual(client.post(f"/v1/instances/test/Tale@1/a/{word}", {"reason": "why not"}, **operator).status, 200)
        records = client.get("/v1/instances/test/Tale@1/a/timeline", **operator).json()["records"]
        asked = {record["tick"]["control"]: record["tick"]["by"] for record in records if "control" in record["tick"]}
        self.assertEqual(asked, dict.fromkeys(("pause", "resume", "cancel"), "night shift"))
        self.stop()
        shown = subprocess.run([TELLER, "timeline", "test/Tale@1/a", "--world", self.world], capture_output=True,
                               text=True, timeout=PATIENCE)
        self.assertIn("control cancel by night shift: why not", shown.stdout)


class LocalNames(Bounded):
    def test_without_tokens_it_is_somebody_local(self):
        self.start()
        client = self.client()
        self.assertEqual(client.post("/v1/events", order("o-1")).status, 200)
        manifest = client.get("/v1/manifest").json()
        reply = client.post("/v1/proposals", {"definitions": manifest["definitions"], "description": "the same"})
        self.assertEqual(reply.status, 201, reply.body)
        record = client.get(f"/v1/journal?from={reply.json()['proposal']}&limit=1").json()["records"][0]
        self.assertEqual((record["tick"]["kind"], record["tick"]["by"]), ("propose", "local"))


class Hangup(Bounded):
    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True, timeout=PATIENCE)

    def make(self, name, kind=("rsa:2048",)):
        self.openssl("req", "-x509", "-newkey", *kind, "-nodes", "-keyout", "new.key", "-out", "new.pem", "-days", "2",
                     "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost")
        for part in ("key", "pem"):
            os.replace(self.folder / f"new.{part}", self.folder / f"server.{part}")

    def serial(self):
        """Which certificate the server shows."""
        with Client(self.port, lambda plain: self.context().wrap_socket(plain)) as client:
            certificate = client.socket.getpeercert(binary_form=True)
            self.assertEqual(client.get("/healthz").status, 200)
        return certificate

    @staticmethod
    def context(suites=None, version=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if suites:
            context.set_ciphers(suites)
        if version:
            context.minimum_version = context.maximum_version = version
        return context

    def test_a_server_without_certificates_lives_on(self):
        self.start()
        self.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "no certificates to read again" in self.log())
        self.assertEqual(self.client().get("/healthz").status, 200)
        self.assertEqual(self.stop(), 0)

    def test_certificates_are_read_again_and_bad_ones_are_not_used(self):
        self.make("first")
        self.start("--tls-certificate", "server.pem", "--tls-key", "server.key")
        first = self.serial()
        with Client(self.port, lambda plain: self.context().wrap_socket(plain)) as before:
            self.assertEqual(before.get("/healthz").status, 200)
            self.make("second")
            self.assertEqual(self.serial(), first, "nobody has said anything")
            self.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "the certificates were read again" in self.log())
            second = self.serial()
            self.assertNotEqual(second, first)
            self.assertEqual(before.get("/healthz").status, 200, "who was here goes on")
        (self.folder / "server.key").write_text("nonsense")
        self.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "the certificates of before stay: tls-key" in self.log())
        self.assertEqual(self.serial(), second)
        self.assertEqual(self.stop(), 0)

    def test_old_suites_are_not_spoken(self):
        self.make("suites")  # RSA, which all of them could use
        self.start("--tls-certificate", "server.pem", "--tls-key", "server.key")
        twelve = ssl.TLSVersion.TLSv1_2
        for suites in ("AES128-GCM-SHA256", "AES256-SHA256", "AES128-SHA", "ECDHE-RSA-AES128-SHA256",
                       "ECDHE-RSA-AES256-SHA", "DHE-RSA-AES128-GCM-SHA256"):
            with self.subTest(suites), self.assertRaises((ssl.SSLError, ConnectionResetError)):
                Client(self.port, lambda plain: self.context(suites, twelve).wrap_socket(plain)).close()
        for suites, version in (("ECDHE-RSA-AES128-GCM-SHA256", twelve), ("ECDHE-RSA-CHACHA20-POLY1305", twelve),
                                (None, ssl.TLSVersion.TLSv1_3)):
            with self.subTest(suites or "1.3"), \
                    Client(self.port, lambda plain: self.context(suites, version).wrap_socket(plain)) as client:
                self.assertEqual(client.get("/healthz").status, 200)


if __name__ == "__main__":
    unittest.main()
