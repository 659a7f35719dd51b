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

from server import BUILD, PATIENCE, Client, ServerTest, figure_in, order, wait_until

HANGING_DISK = BUILD / "tests" / "libhanging_disk.so"


@unittest.skipUnless(HANGING_DISK.exists(), "sanitizers want to be the first that is loaded")
class Hanging(ServerTest):
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
        return waits

    @staticmethod
    def body_of(name):
        return json.dumps(order(name)).encode()

    @classmethod
    def post_of(cls, name):
        body = cls.body_of(name)
        return (b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def test_it_says_how_it_is_while_the_disk_hangs(self):
        with self.begin() as waits:
            for path in ("/healthz", "/readyz", "/v1/limits", "/openapi.json"):
                self.assertEqual(self.client().get(path).status, 200)

            # The first answer without what the world says: before, the order may not have come to the disk.
            def left_out():
                text = self.metrics()
                return text if figure_in(text, "holdfast_open_effects") is None else None
            text = wait_until(left_out, "the world answers")
            self.assertGreater(figure_in(text, "holdfast_syncs_total"), 0)
            self.assertGreater(figure_in(text, "holdfast_http_connections"), 0)
            self.assertEqual(figure_in(text, 'holdfast_figures_left_out_total{part="world"}'), 1)
            self.assertTrue(self.mark.exists(), "the disk has hung all the time")
            self.mark.unlink()
            self.assertEqual(waits.receive().status, 200, "nothing is lost")
        self.assertGreaterEqual(self.figure("holdfast_open_effects"), 0)
        self.assertGreater(self.figure("holdfast_disk_free_bytes"), 0)

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
        self.wait_until_quiet()  # as nobody is connected
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
            client.socket.settimeout(PATIENCE)
        self.mark.unlink()
        self.assertEqual([client.receive().status for client in waiting], [401, 200, 200])

    def test_clients_that_leave_leave_no_connection_behind(self):
        with self.begin():
            names = [f"left-{number}" for number in range(50)]
            clients = [Client(self.port) for _ in names]
            for name, client in zip(names, clients):
                client.send(self.post_of(name))
            for client in clients[::2]:
                client.send(b"GET /healthz HTTP/1.1\r\n")  # that is never read
            for client in clients[::3]:
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # and reset
            # All of them are read: of one that is reset before, nothing would be left to read.
            size = sum(len(self.body_of(name)) for name in [*names, "first"])
            wait_until(lambda: self.figure("holdfast_http_body_bytes") == size)
            self.assertGreaterEqual(self.figure("holdfast_http_connections"), 51)
            for client in clients:
                client.close()
            wait_until(lambda: self.figure("holdfast_http_connections") <= 2)
            self.assertEqual(self.figure("holdfast_http_gone_total"), 50)
            self.mark.unlink()
        client = self.client()
        wait_until(lambda: client.get("/v1/instances/demo/Order@1/left-49").status == 200)
        self.assertEqual(self.stop(), 0)
        self.assertEqual(self.run_program("verify", self.world).returncode, 0)

    def test_who_only_ended_their_own_side_still_gets_an_answer(self):
        took = []
        for _ in range(5):
            with self.begin(), Client(self.port) as client:
                client.send(self.post_of("half"))
                client.socket.shutdown(socket.SHUT_WR)
                begun = time.monotonic()
                time.sleep(2)  # it is noticed within one, and waited for another five
                self.mark.unlink()
                reply = client.receive()
                took.append(time.monotonic() - begun)
                if reply:
                    self.assertEqual(reply.status, 200)
                    return
                self.assertGreater(took[-1], 5, "it was not waited for")
            self.assertEqual(self.stop(), 0)  # that was a machine with too much to do
        self.fail(f"nobody was answered within {took} seconds")

    def test_it_ends_though_the_disk_hung(self):
        with self.begin():
            self.process.send_signal(signal.SIGTERM)
            time.sleep(1)
            self.mark.unlink()
            self.assertEqual(self.process.wait(timeout=PATIENCE), 0)


class LeftOut(ServerTest):
    def without_journal(self):
        """What is said where the files of the journal are not to be found; nothing: that of the world took too long."""
        with Client(self.port) as client:
            (self.world / "journal").rename(self.folder / "elsewhere")
            reply = client.get("/metrics")
            (self.folder / "elsewhere").rename(self.world / "journal")
        self.assertEqual(reply.status, 200)
        text = reply.body.decode()
        return text if figure_in(text, "holdfast_open_effects") is not None else None

    def test_figures_of_files_that_cannot_be_read_are_left_out_and_counted(self):
        self.start()
        self.assertGreater(self.figure("holdfast_disk_journal_bytes"), 0)
        counted = ['holdfast_figures_left_out_total{part="%s"}' % part for part in ("disk", "world")]

        def look():
            text = self.metrics()
            before = [figure_in(text, name) for name in counted]
            text = self.without_journal()
            return text and (text, before)
        text, before = wait_until(look, "the world does not answer in time")
        self.assertIsNone(figure_in(text, "holdfast_disk_journal_bytes"))
        self.assertEqual([figure_in(text, name) for name in counted], [before[0] + 1, before[1]])
        self.assertGreater(self.figure("holdfast_disk_journal_bytes"), 0)


if __name__ == "__main__":
    unittest.main()
