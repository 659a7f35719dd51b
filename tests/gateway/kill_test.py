#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients that post events with ids and try again, while the server is killed again and again: each event is in
the journal once, and none that was answered is lost.

HOLDFAST_KILLS and HOLDFAST_CLIENTS make it longer.
"""
import asyncio
import json
import os
import random
import re
import time
import unittest

from server import PATIENCE, ServerTest

KILLS = int(os.environ.get("HOLDFAST_KILLS", "4"))
CLIENTS = int(os.environ.get("HOLDFAST_CLIENTS", "60"))


async def post(reader, writer, event):
    body = json.dumps(event).encode()
    writer.write(b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                 b"Content-Length: %d\r\n\r\n" % len(body) + body)
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(int(re.search(rb"Content-Length: (\d+)", head)[1]))
    return int(head.split(b" ", 2)[1]), json.loads(body)


class Kill(ServerTest):
    def setUp(self):
        super().setUp()
        self.answered = {}  # id -> record
        self.tries = 0
        self.done = False

    async def connect(self):
        """To the server that lives; the port of one that was killed may be another program's by now."""
        while self.port is None:
            await asyncio.sleep(0.01)
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def post_events(self, number):
        """One event after the other, each until it is answered."""
        sequence = 0
        while not self.done:
            event = {"schema": "demo/OrderCancelled@1", "value": {"id": f"n-{number}"}, "id": f"{number}-{sequence}"}
            while True:
                writer = None
                try:
                    reader, writer = await self.connect()
                    while not self.done:
                        self.tries += 1
                        status, answer = await asyncio.wait_for(post(reader, writer, event), PATIENCE)
                        if status == 404 and answer["code"] == "unhandled":  # recorded, as nothing was begun
                            status, answer = 200, {"record": int(re.match(r"record (\d+):", answer["detail"])[1])}
                        if status == 200:
                            self.answered[event["id"]] = answer["record"]
                            sequence += 1
                            event = {**event, "id": f"{number}-{sequence}"}
                        else:
                            self.assertIn(status, (429, 503), answer)
                            await asyncio.sleep(0.01)
                    return
                except (OSError, asyncio.IncompleteReadError):
                    await asyncio.sleep(random.uniform(0.01, 0.1))
                finally:
                    if writer:
                        writer.close()

    async def kill_again_and_again(self):
        for _ in range(KILLS):
            before = len(self.answered)
            await asyncio.sleep(random.uniform(0.3, 1.0))
            await self.answers(before + 1)  # a kill of an idle server shows nothing
            self.port = None
            self.process.kill()
            self.process.wait()
            await asyncio.to_thread(self.start)
        await asyncio.sleep(0.5)
        await self.answers(10 * CLIENTS + 1)  # fewer show nothing either
        self.done = True

    async def answers(self, count):
        """Waits for so many, of all."""
        deadline = time.monotonic() + PATIENCE
        while len(self.answered) < count:
            self.assertLess(time.monotonic(), deadline, f"only {len(self.answered)} events were answered")
            await asyncio.sleep(0.05)

    async def run_all(self):
        await asyncio.gather(self.kill_again_and_again(), *(self.post_events(i) for i in range(CLIENTS)))

    def records(self):
        client = self.client()
        at = 1
        while True:
            part = client.get(f"/v1/journal?from={at}&limit=1000").json()
            yield from part["records"]
            if part["next"] > part["last"]:
                return
            at = part["next"]

    def test_every_event_happens_once_and_none_is_lost(self):
        self.start()
        asyncio.run(self.run_all())
        found = {}
        for record in self.records():
            tick = record["tick"]
            if tick["kind"] == "event":
                self.assertNotIn(tick["id"], found, "it happened twice")
                found[tick["id"]] = record["record"]
        for event, record in self.answered.items():
            self.assertEqual(found.get(event), record, f"{event} was answered")
        # Beside those, one for each client at most that was not answered when the test ended.
        self.assertLessEqual(len(found) - len(self.answered), CLIENTS)
        self.assertGreater(len(self.answered), 10 * CLIENTS)
        print(f"{KILLS} kills, {CLIENTS} clients, {len(self.answered)} events answered in {self.tries} tries")
        self.assertEqual(self.stop(), 0)
        self.assertEqual(self.run_program("verify", self.world).returncode, 0)


if __name__ == "__main__":
    unittest.main()
