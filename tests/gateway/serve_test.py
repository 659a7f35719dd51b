#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The server as an operator has it: starting, stopping, being killed, tokens, certificates."""
import json
import signal
import ssl
import subprocess
import time
import unittest

from server import PATIENCE, ServerTest, order, wait_until

ORDER = "/v1/instances/demo/Order@1/"
REFUND = "/v1/instances/demo/RefundCase@1/"


class Serve(ServerTest):
    def test_what_was_answered_is_there_after_a_kill(self):
        self.start()
        client = self.client()
        for i in range(20):
            self.assertEqual(client.post("/v1/events", order(f"k-{i}", id=f"e-{i}")).status, 200)
        self.kill()
        self.start()
        client = self.client()
        for i in range(20):
            self.assertTrue(client.post("/v1/events", order(f"k-{i}", id=f"e-{i}")).json()["repeated"])
            reply = client.post("/v1/workflows/demo/Order@1/start",
                                {"input": order(f"k-{i}")["value"], "id": f"s-{i}"})
            self.assertEqual(reply.status, 409, reply.body)

    def test_it_ends_in_order_when_it_is_told_to(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.start()
            self.assertEqual(self.client().get("/readyz").status, 200)
            self.assertEqual(self.stop(number), 0, (self.folder / "errors").read_text())
        done = self.run_program("verify", self.world)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_world_that_is_open_is_refused(self):
        self.start()
        done = self.run_program("serve", "--world", self.world, "--any-file-system", "--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is held by process", done.stderr)

    def test_a_snapshot_is_taken_when_it_is_asked_for(self):
        self.start()
        client = self.client()
        self.assertEqual(client.post("/v1/events", order("a", wait=True)).status, 200)
        taken = client.post("/v1/snapshots", b"").json()
        self.assertEqual(taken["next_record"], client.get("/v1/journal").json()["last"] + 1)
        self.assertEqual(self.stop(), 0)
        listed = json.loads(self.run_program("snapshot", "ls", self.world, "--json").stdout)["snapshots"]
        self.assertIn(taken["next_record"], [entry["next_record"] for entry in listed])

    def test_a_port_that_is_taken_and_an_address_that_is_none_are_refused(self):
        self.start()
        other = self.folder / "other"
        for listen in (f"127.0.0.1:{self.port}", "nowhere:1", "127.0.0.1", "127.0.0.1:x", ":1"):
            done = self.run_program("serve", "--world", other, "--any-file-system", "--listen", listen)
            self.assertEqual(done.returncode, 1, listen)

    def test_definitions_are_applied_only_where_that_is_asked_for(self):
        done = subprocess.Popen([str(self.program), "serve", "--world", str(self.world), "--any-file-system",
                                 "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.DEVNULL)
        self.addCleanup(done.stdout.close)
        self.process = done
        self.port = int(done.stdout.readline().rsplit(":", 1)[1])
        self.assertEqual(self.client().get("/v1/manifest").json(), {"definitions": []})
        self.assertEqual(self.client().post("/v1/events", order("a")).status, 404)


class Dev(ServerTest):
    def test_it_has_something_to_show(self):
        self.start("dev.world", command="dev")
        client = self.client()

        def are_over():
            """All of it; one refund waits for a person, and goes on doing so."""
            refunds = [client.get(f"{REFUND}r-{number}").json()["state"].get("status") for number in (1, 2, 3)]
            orders = [client.get(f"{ORDER}o-{number}").json()["status"] for number in range(1, 6)]
            return (refunds, set(orders)) == (["completed", "idle", "completed"], {"completed", "failed"})
        wait_until(are_over)
        self.assertEqual(client.get(ORDER + "o-3").json()["error"]["code"], "not_reserved")
        said = ""
        while "Ctrl-C" not in said:
            line = self.process.stdout.readline()
            self.assertTrue(line, said)
            said += line
        for path in [line.split("'")[1] for line in said.splitlines() if "curl" in line]:
            self.assertEqual(client.get(path.split(f":{self.port}", 1)[1]).status, 200, path)
        last = client.get("/v1/journal").json()["last"]
        self.assertEqual(self.stop(signal.SIGINT), 0)
        self.start("dev.world", command="dev")  # the orders are there already
        self.assertEqual(self.client().get("/v1/journal").json()["last"], last)

    def test_it_can_be_empty(self):
        self.start("dev.world", "--no-demo", command="dev")
        self.assertEqual(self.client().get("/v1/manifest").json(), {"definitions": []})


class Tokens(ServerTest):
    def token(self, role):
        done = self.run_program("token", "add", "--new", "--world", self.world, "--role", role, "--name", role)
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        return done.stdout.strip()

    def test_tokens_are_made_listed_and_taken_back(self):
        tokens = {role: self.token(role) for role in ("viewer", "operator", "admin", "worker")}
        self.start()
        client = self.client()
        self.assertEqual(client.get("/v1/limits").status, 401)
        self.assertEqual(client.get("/healthz").status, 200)
        viewer = {"Authorization": f"Bearer {tokens['viewer']}"}
        operator = {"Authorization": f"Bearer {tokens['operator']}"}
        self.assertEqual(client.get("/v1/limits", **viewer).status, 200)
        self.assertEqual(client.post("/v1/events", order("a"), **viewer).status, 403)
        self.assertEqual(client.post("/v1/events", order("a"), **operator).status, 200)
        listed = json.loads(self.run_program("token", "ls", "--world", self.world, "--json").stdout)["tokens"]
        self.assertEqual([token["role"] for token in listed], list(tokens))
        self.assertNotIn(tokens["viewer"][3:], json.dumps(listed))
        done = self.run_program("token", "revoke", "--world", self.world, listed[0]["id"])
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        wait_until(lambda: client.get("/v1/limits", **viewer).status == 401)
        self.assertEqual(client.post("/v1/events", order("b"), **operator).status, 200)
        self.assertIn("revoked", self.run_program("token", "ls", "--world", self.world).stdout)
        self.assertEqual(self.run_program("token", "revoke", "--world", self.world, "no").returncode, 1)
        self.assertEqual(self.run_program("token", "add", "--world", self.world, "--role", "king").returncode, 2)

    def test_tokens_are_made_for_a_world_and_not_for_a_folder_that_is_spelt_wrongly(self):
        typo = self.folder / "wrold"
        for command in (("add", "--world", typo, "--role", "admin"), ("ls", "--world", typo), ("revoke", "--world", typo, "3f9a12c0")):
            done = self.run_program("token", *command)
            self.assertEqual((done.stdout, done.returncode), ("", 1), command)
            self.assertIn(f"{typo}: there is no world; token add --new is for one that is yet to be made", done.stderr)
            self.assertFalse(typo.exists())
        self.start()  # makes the world
        self.stop()
        self.assertEqual(self.run_program("token", "add", "--world", self.world, "--role", "admin").returncode, 0)

    def test_beyond_loopback_tokens_are_needed(self):
        arguments = ("serve", "--world", self.world, "--any-file-system", "--listen", "0.0.0.0:0")
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 1)
        self.assertIn("needs tokens", done.stderr)
        token = self.token("viewer")
        self.start("--listen", "0.0.0.0:0")
        client = self.client()
        self.assertEqual(client.get("/v1/limits").status, 401)
        self.assertEqual(client.get("/v1/limits", Authorization=f"Bearer {token}").status, 200)

    def test_a_file_of_tokens_that_is_damaged_lets_nobody_in(self):
        token = self.token("admin")
        self.start()
        client = self.client()
        admin = {"Authorization": f"Bearer {token}"}
        self.assertEqual(client.get("/v1/limits", **admin).status, 200)
        (self.world / "tokens.json").write_text("{}")
        wait_until(lambda: client.get("/v1/limits", **admin).status == 401)
        self.stop()
        done = self.run_program("serve", "--world", self.world, "--any-file-system", "--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 1)


class Tls(ServerTest):
    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True, timeout=PATIENCE)

    def make_certificates(self):
        for name in ("authority", "other"):
            self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                         "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2", "-subj", f"/CN={name}")
        for name, authority in (("localhost", "authority"), ("client", "authority"), ("stranger", "other")):
            self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                         "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}",
                         "-addext", f"subjectAltName=DNS:{name}")
            self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey",
                         f"{authority}.key", "-CAcreateserial", "-out", f"{name}.pem", "-days", "2",
                         "-copy_extensions", "copy")

    def wrap(self, certificate=None, version=None):
        context = ssl.create_default_context(cafile=self.folder / "authority.pem")
        if version:
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = version
        if certificate:
            context.load_cert_chain(self.folder / f"{certificate}.pem", self.folder / f"{certificate}.key")
        return lambda plain: context.wrap_socket(plain, server_hostname="localhost")

    def test_a_server_with_a_certificate_speaks_tls_and_nothing_else(self):
        self.make_certificates()
        self.start("--tls-certificate", "localhost.pem", "--tls-key", "localhost.key")
        client = self.client(self.wrap())
        self.assertEqual(client.get("/healthz").status, 200)
        big = order("big", id="x")
        big["value"]["sku"] = "m" * 200_000
        self.assertEqual(client.post("/v1/events", big).status, 200)
        self.assertIn(b"m" * 200_000, client.get(ORDER + "big").body)
        plain = self.client()
        plain.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        reply = plain.receive()
        self.assertIsNone(reply)

    def test_a_stream_over_tls_goes_on_and_is_left_with_its_reader(self):
        self.make_certificates()
        self.start("--tls-certificate", "localhost.pem", "--tls-key", "localhost.key")
        client = self.client(self.wrap())
        took = []
        while not took or took[-1] > 10:  # long before anything is written to it, which is after 15 seconds
            self.assertLess(len(took), 5, f"it was left after {took} seconds")
            reader = self.client(self.wrap())
            reader.send(b"GET /v1/journal HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
            for i in range(3):
                name = f"t-{len(took)}-{i}"
                self.assertEqual(client.post("/v1/events", order(name)).status, 200)
                while name.encode() not in reader.held:
                    self.assertTrue(reader.fill())
            self.assertIn(b"\nholdfast_http_streams 1\n", client.get("/metrics").body)
            reader.close()
            begun = time.monotonic()
            wait_until(lambda: b"\nholdfast_http_streams 0\n" in client.get("/metrics").body)
            took.append(time.monotonic() - begun)

    def test_only_clients_with_a_certificate_are_served_where_that_is_asked_for(self):
        self.make_certificates()
        self.start("--tls-certificate", "localhost.pem", "--tls-key", "localhost.key",
                   "--client-authorities", "authority.pem")
        self.assertEqual(self.client(self.wrap("client")).get("/healthz").status, 200)
        for certificate in (None, "stranger"):
            with self.assertRaises((ssl.SSLError, OSError, AssertionError)):
                reply = self.client(self.wrap(certificate)).get("/healthz")
                self.assertIsNotNone(reply)

    def test_files_that_are_not_there_are_refused(self):
        for arguments in (("--tls-certificate", "no.pem", "--tls-key", "no.key"), ("--tls-key", "no.key")):
            done = self.run_program("serve", "--world", self.world, "--any-file-system", "--listen",
                                    "127.0.0.1:0", *arguments)
            self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
