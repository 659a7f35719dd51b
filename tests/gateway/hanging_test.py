#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""While the disk hangs the server is there: it says how it is, and clients that leave take nothing with them.
And figures that cannot be had are left out, not all of them."""
import json
import os
import re
import signal
import socket
import struct
import time
import unittest

from server import BUILD, Client, ServerTest, order

HANGING_DISK = BUILD / "tests" / "libhanging_disk.so"


class FiguresTest(ServerTest):
    def figure(self, name, text=None):
        if text is None:
            with Client(self.port) as client:
                text = client.get("/metrics").body.decode()
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)
        return float(found[1]) if found else None

    def wait_until(self, what, seconds=20):
        deadline = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)


@unittest.skipUnless(HANGING_DISK.exists(), "sanitizers want to be the first that is loaded")
class Hanging(FiguresTest):
    def setUp(self):
        super().setUp()
        self.mark = self.folder / "hangs"
        self.environment = {"LD_PRELOAD": str(HANGING_DISK), "HOLDFAST_HANGS": str(self.mark)}
        self.addCleanup(self.mark.unlink, missing_ok=True)

    def start_with_disk(self):
        before = dict(os.environ)
        os.environ.update(self.environment)
        try:
            self.start()
        finally:
            os.environ.clear()
            os.environ.update(before)

    def begin(self):
        """A server whose disk hangs, and an order that waits for it."""
        self.start_with_disk()
        with Client(self.port) as client:
            self.assertEqual(client.post("/v1/events", order("before")).status, 200)
        self.mark.touch()
        waits = Client(self.port)
        waits.send(self.post_of("first"))
        time.sleep(0.3)
        return waits

    @staticmethod
    def post_of(name):
        body = json.dumps(order(name)).encode()
        return (b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def test_it_says_how_it_is_while_the_disk_hangs(self):
        with self.begin() as waits:
            for path in ("/healthz", "/readyz", "/v1/limits", "/openapi.json"):
                begun = time.monotonic()
                self.assertEqual(self.client().get(path).status, 200)
                self.assertLess(time.monotonic() - begun, 5, path)
            begun = time.monotonic()
            reply = self.client().get("/metrics")
            self.assertLess(time.monotonic() - begun, 10)
            self.assertEqual(reply.status, 200)
            text = reply.body.decode()
            self.assertGreater(self.figure("holdfast_syncs_total", text), 0)
            self.assertGreater(self.figure("holdfast_http_connections", text), 0)
            self.assertIsNone(self.figure("holdfast_open_effects", text), "the world does not answer")
            self.assertEqual(self.figure('holdfast_figures_left_out_total{part="world"}', text), 1)
            self.mark.unlink()
            self.assertEqual(waits.receive().status, 200, "nothing is lost")
        text = self.client().get("/metrics").body.decode()
        self.assertIsNotNone(self.figure("holdfast_open_effects", text))
        self.assertGreater(self.figure("holdfast_disk_free_bytes", text), 0)

    def token(self, role):
        done = self.run_program("token", "add", "--new", "--world", self.world, "--role", role)
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        return {"Authorization": f"Bearer {done.stdout.strip()}"}

    def test_what_a_quiet_server_knew_of_tokens_lets_nobody_in(self):
        revoked, kept = self.token("viewer"), self.token("viewer")
        self.start_with_disk()
        with Client(self.port) as client:
            self.assertEqual(client.get("/v1/limits", **revoked).status, 200)
        listed = json.loads(self.run_program("token", "ls", "--world", self.world, "--json").stdout)["tokens"]
        time.sleep(1.5)  # nobody is connected
        self.assertEqual(self.run_program("token", "revoke", "--world", self.world, listed[0]["id"]).returncode, 0)
        new = self.token("viewer")
        self.mark.touch()
        waiting = [self.client() for _ in range(4)]
        for client, token in zip(waiting, (revoked, kept, new, revoked)):
            client.send(f"GET /v1/limits HTTP/1.1\r\nHost: localhost\r\n"
                        f"Authorization: {token['Authorization']}\r\n\r\n".encode())
        waiting.pop().close()  # who leaves is not waited for
        self.assertEqual(self.client().get("/healthz").status, 200, "that needs no token")
        for client in waiting:
            client.socket.settimeout(0.3)
            self.assertRaises(TimeoutError, client.receive)
            client.socket.settimeout(30)
        self.mark.unlink()
        self.assertEqual([client.receive().status for client in waiting], [401, 200, 200])

    def test_clients_that_leave_leave_no_connection_behind(self):
        with self.begin():
            clients = [Client(self.port) for _ in range(50)]
            for number, client in enumerate(clients):
                client.send(self.post_of(f"left-{number}"))
            for client in clients[::2]:
                client.send(b"GET /healthz HTTP/1.1\r\n")  # that is never read
            for client in clients[::3]:
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # and reset
            self.wait_until(lambda: self.figure("holdfast_http_connections") >= 51)
            for client in clients:
                client.close()
            self.wait_until(lambda: self.figure("holdfast_http_connections") <= 2)
            self.assertEqual(self.figure("holdfast_http_gone_total"), 50)
            self.mark.unlink()
        self.wait_until(lambda: self.client().get("/v1/instances/demo/Order@1/left-49").status == 200)
        self.assertEqual(self.stop(), 0)
        self.assertEqual(self.run_program("verify", self.world).returncode, 0)

    def test_who_only_ended_their_own_side_still_gets_an_answer(self):
        with self.begin(), Client(self.port) as client:
            client.send(self.post_of("half"))
            client.socket.shutdown(socket.SHUT_WR)
            time.sleep(2)  # it is noticed within one, and waited for another five
            self.mark.unlink()
            self.assertEqual(client.receive().status, 200)

    def test_it_ends_though_the_disk_hung(self):
        with self.begin():
            self.process.send_signal(signal.SIGTERM)
            time.sleep(1)
            self.mark.unlink()
            self.assertEqual(self.process.wait(timeout=30), 0)


class LeftOut(FiguresTest):
    def test_figures_of_files_that_cannot_be_read_are_left_out_and_counted(self):
        self.start()
        self.assertGreater(self.figure("holdfast_disk_journal_bytes"), 0)
        (self.world / "journal").rename(self.folder / "elsewhere")
        reply = self.client().get("/metrics")
        (self.folder / "elsewhere").rename(self.world / "journal")
        self.assertEqual(reply.status, 200)
        text = reply.body.decode()
        self.assertIsNone(self.figure("holdfast_disk_journal_bytes", text))
        self.assertEqual(self.figure('holdfast_figures_left_out_total{part="disk"}', text), 1)
        self.assertEqual(self.figure('holdfast_figures_left_out_total{part="world"}', text), 0)
        self.assertIsNotNone(self.figure("holdfast_open_effects", text))
        self.assertGreater(self.figure("holdfast_disk_journal_bytes"), 0)


if __name__ == "__main__":
    unittest.main()
