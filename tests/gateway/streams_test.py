#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Event streams: they go on where they were, whoever is killed meanwhile; they end once; slow readers hold up nobody."""
import asyncio
import json
import random
import re
import socket
import threading
import time
import unittest

from server import PATIENCE, SANITIZED, TELLER, Client, ServerTest, wait_until

TALE = "/v1/instances/test/Tale@1/"


def tell(name, count, letters=0, leave=False, **more):
    return {"schema": "test/Tell@1", "value": {"name": name, "count": count, "letters": letters, "leave": leave}, **more}


class Stream(Client):
    """A reader of events: it remembers the last id, as browsers do."""

    def __init__(self, port, path, last=None, accept="text/event-stream", token=None):
        super().__init__(port)
        field = f"Last-Event-ID: {last}\r\n" if last is not None else ""
        field += f"Authorization: Bearer {token}\r\n" if token else ""
        self.path = path
        self.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n{field}\r\n".encode())
        self.head = b""

    def read_head(self):
        while b"\r\n\r\n" not in self.held:
            if not self.fill():
                return None
        self.head, self.held = self.held.split(b"\r\n\r\n", 1)
        status = int(self.head.split(b" ", 2)[1])
        self.called("GET", self.path, status)
        return status

    def blocks(self):
        """Each block of fields; those that are only comments come as {"": text}."""
        if not self.head:
            assert self.read_head() == 200, self.head + self.held
        while True:
            while b"\n\n" not in self.held:
                if not self.fill():
                    return
            block, self.held = self.held.split(b"\n\n", 1)
            fields = {}
            for line in block.decode().split("\n"):
                name, _, value = line.partition(":")
                fields[name] = value.removeprefix(" ")
            yield fields

    def events(self):
        for block in self.blocks():
            if "data" in block:
                yield block.get("event", "message"), block.get("id"), json.loads(block["data"])


class StreamTest(ServerTest):
    program = TELLER

    def tell(self, *arguments, **more):
        with Client(self.port) as client:  # of which a test may need very many
            reply = client.post("/v1/events", tell(*arguments, **more))
        self.assertEqual(reply.status, 200, reply.body)

    def stream(self, path, last=None, **more):
        stream = Stream(self.port, path, last, **more)
        self.addCleanup(stream.close)
        return stream


class InstanceStream(StreamTest):
    def test_what_was_put_out_comes_and_what_follows_and_one_end(self):
        self.start()
        self.tell("a", 3)
        stream = self.stream(TALE + "a/stream")
        events = stream.events()
        self.assertEqual([next(events)[2]["number"] for _ in range(3)], [1, 2, 3])
        self.assertIn(b"Content-Type: text/event-stream", stream.head)
        self.assertIn(b"Connection: close", stream.head)
        self.assertNotIn(b"Content-Length", stream.head)
        self.tell("a", 2)
        self.assertEqual([next(events)[2]["number"] for _ in range(2)], [4, 5])
        self.tell("a", 0)
        name, last, value = next(events)
        self.assertEqual((name, value), ("end", {"status": "completed"}))
        self.assertEqual(list(events), [], "nothing comes behind the end")
        # A reader that has read everything, and comes again, is told to stay away.
        self.assertEqual(self.stream(TALE + "a/stream", last).read_head(), 204)

    def test_a_reader_goes_on_behind_what_it_has(self):
        self.start()
        self.tell("a", 5)
        self.tell("a", 0)
        events = list(self.stream(TALE + "a/stream").events())
        self.assertEqual(len(events), 6)
        for path, last in ((f"a/stream?after={events[2][1]}", None), ("a/stream", events[2][1]),
                           ("a/stream?after=0", events[2][1])):
            self.assertEqual(list(self.stream(TALE + path, last).events()), events[3:], path)

    def test_an_instance_that_is_taken_away_ends_its_stream(self):
        self.start()
        self.tell("a", 1)
        events = self.stream(TALE + "a/stream").events()
        next(events)
        self.tell("a", 0, leave=True)
        self.assertEqual([(name, value) for name, _, value in events], [("end", {"status": "deleted"})])

    def test_one_that_puts_out_and_leaves_at_once_is_listed_and_read(self):
        self.start()
        self.tell("gone", 1, leave=True)
        rows = self.client().get("/v1/instances").json()["instances"]
        self.assertEqual([(row["key"], row["status"]) for row in rows], [("gone", "deleted")])
        events = list(self.stream(TALE + "gone/stream").events())
        self.assertEqual([name for name, _, _ in events], ["message", "end"])

    def test_a_reader_from_now_on_is_told_where_it_is_and_misses_nothing_when_it_comes_again(self):
        self.start()
        self.tell("a", 2)
        with self.stream(TALE + "a/stream?after=now") as stream:
            first = next(block for block in stream.blocks() if "retry" not in block)
        self.assertEqual(list(first), ["id"], "only where to go on")
        self.tell("a", 1)  # nobody reads
        self.tell("a", 0)
        events = list(self.stream(TALE + "a/stream?after=now", first["id"]).events())
        self.assertEqual([(name, value) for name, _, value in events],
                         [("message", {"letters": "", "number": 3}), ("end", {"status": "completed"})])

    def test_a_list_of_kinds_with_an_empty_name_is_refused(self):
        self.start()
        self.tell("a", 1)
        for kinds in ("", ",", "event,", "a,,b"):
            reply = self.client().get(TALE + f"a/stream?kinds={kinds}")
            self.assertEqual((reply.status, reply.code()), (400, "bad_target"), kinds)
            self.assertIn("kinds: a kind of entries has no name", reply.body.decode())
            done = self.run_program("stream", "test/Tale@1/a", "--kinds", kinds, "--server", f"http://127.0.0.1:{self.port}")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("has no name", done.stderr)
        done = self.run_program("stream", "test/Tale@1/a", "--after", "x", "--server", f"http://127.0.0.1:{self.port}")
        self.assertIn("'x' is neither the id of an event nor `now`", done.stderr)
        self.assertNotIn(" OR ", done.stderr)

    def test_what_is_gone_is_said(self):
        self.start()
        for _ in range(340):  # of each stream the newest 10 000 entries are kept
            self.tell("a", 32)
        self.tell("a", 0)
        wait_until(lambda: self.figure("holdfast_history_lag") == 0)
        events = list(self.stream(TALE + "a/stream").events())
        self.assertEqual(events[0][0], "truncated")
        self.assertEqual(events[0][1], str(events[0][2]["up_to"]))
        numbers = [value["number"] for name, _, value in events if name == "message"]
        self.assertGreaterEqual(len(numbers), 9_000)
        self.assertEqual(numbers, list(range(numbers[0], 340 * 32 + 1)))
        self.assertEqual(events[-1][0], "end")

    def test_what_cannot_be_streamed_is_refused_before_it_begins(self):
        self.start()
        client = self.client()
        self.assertEqual(client.get(TALE + "nobody/stream").code(), "not_found")
        self.tell("a", 1)
        self.assertEqual(client.get(TALE + "a/stream?after=x").code(), "bad_target")
        self.assertEqual(client.get(TALE + "a/stream", Last_Event_ID="x").code(), "bad_target")
        reply = client.ask("HEAD", TALE + "a/stream", b"")
        self.assertEqual((reply.status, reply.body), (200, b""))

    def test_a_reader_that_leaves_is_noticed_while_nothing_happens(self):
        self.start()
        self.tell("a", 1)
        streams = [self.stream(TALE + "a/stream") for _ in range(20)]
        for stream in streams:
            next(stream.events())
        self.assertEqual(self.figure("holdfast_http_streams"), 20)
        for stream in streams:
            stream.close()
        wait_until(lambda: self.figure("holdfast_http_streams") == 0)

    def test_the_server_ends_with_readers(self):
        took = []
        while not took or took[-1] > 4:  # it waits five seconds for what comes to an end; streams do not
            self.assertLess(len(took), 5, f"it took {took} seconds")
            self.start()
            name = f"a-{len(took)}"
            self.tell(name, 1)
            events = self.stream(f"{TALE}{name}/stream").events()
            next(events)
            begun = time.monotonic()
            self.assertEqual(self.stop(), 0)
            took.append(time.monotonic() - begun)
            self.assertEqual(list(events), [], "it was cut, and has no end")

    def test_a_reader_that_takes_nothing_holds_up_nobody_and_is_left(self):
        self.start()
        slow = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        self.addCleanup(slow.close)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.tell("a", 1)
        slow.sendall(f"GET {TALE}a/stream HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        wait_until(lambda: self.figure("holdfast_http_streams") == 1)
        before = self.memory()
        for _ in range(100):  # 12.8 MB that it does not take, of which 4 MiB are kept
            self.tell("a", 32, 4000)
        quick = self.stream(TALE + "a/stream")
        self.tell("a", 0)
        self.assertEqual([name for name, _, _ in quick.events()][-1], "end")
        if not SANITIZED:  # sanitizers keep what was given back
            self.assertLess(self.memory() - before, 64 << 20, "what a slow reader has not taken is kept")
        self.wait_until_left(1)

    def wait_until_left(self, count):
        # It has 30 seconds for what is under way.
        wait_until(lambda: self.figure("holdfast_http_streams") < count, "a reader that takes nothing stays for ever")

    def memory(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    def test_500_readers_each_hear_all_of_it(self):
        self.start()
        self.tell("a", 1)
        heard = asyncio.run(self.many_readers(500))
        self.assertEqual(len(heard), 500)
        self.assertEqual(set(heard), {tuple(range(1, 1 + 1 + 20 * 5)) + ("end",)})

    async def many_readers(self, count):
        async def read():
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(f"GET {TALE}a/stream HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            await reader.readuntil(b"\r\n\r\n")
            ready.release()
            text = (await reader.read()).decode()
            writer.close()
            numbers = [int(number) for number in re.findall(r'"number":(\d+)', text)]
            return tuple(numbers) + ("end",) * text.count("event: end")

        ready = asyncio.Semaphore(0)
        readers = [asyncio.create_task(read()) for _ in range(count)]
        for _ in range(count):
            await ready.acquire()
        for _ in range(20):
            await asyncio.to_thread(self.tell, "a", 5)
        await asyncio.to_thread(self.tell, "a", 0)
        return await asyncio.gather(*readers)


class Resume(StreamTest):
    def test_no_gap_and_no_repetition_across_kills_of_the_server(self):
        self.door = threading.Lock()  # the port of a server that was killed may be another program's at once
        self.start()
        self.tell("a", 1, id="first")
        heard = {"instance": [], "journal": []}
        threads = [threading.Thread(target=self.follow, args=(path, heard[name]), daemon=True)
                   for name, path in (("instance", TALE + "a/stream"), ("journal", "/v1/journal?from=1"))]
        for thread in threads:
            thread.start()
        number = 1
        for _ in range(5):
            until = time.monotonic() + random.uniform(0.2, 0.5)
            while time.monotonic() < until:
                self.tell("a", 1, id=f"t-{number}")
                number += 1
            with self.door:
                self.kill()
                self.start()
        self.tell("a", 0, id="last")
        last = self.client().get("/v1/journal").json()["last"]
        for thread in threads:
            thread.join(PATIENCE)
            self.assertFalse(thread.is_alive(), "a reader did not come to the end")
        self.assertEqual([value["number"] for _, _, value in heard["instance"][:-1]], list(range(1, number + 1)))
        self.assertEqual(heard["instance"][-1][0], "end")
        self.assertEqual([value["record"] for _, _, value in heard["journal"]], list(range(1, last + 1)))

    def follow(self, path, heard):
        """As a browser does: again and again, with the last id."""
        last = None
        while True:
            try:
                with self.door:
                    stream = Stream(self.port, path, last)
                with stream:
                    for event in stream.events():
                        heard.append(event)
                        last = event[1]
                        if event[0] == "end" or event[2].get("tick", {}).get("id") == "last":
                            return
            except (OSError, AssertionError):
                time.sleep(0.02)


class JournalStream(StreamTest):
    def test_records_come_as_they_become_durable(self):
        self.start()
        self.tell("a", 1)
        events = self.stream("/v1/journal").events()
        known = self.client().get("/v1/journal").json()
        self.assertEqual([next(events)[2] for _ in known["records"]], known["records"])
        for i in range(10):
            self.tell("a", 1)
            name, identity, record = next(events)
            self.assertEqual((name, identity), ("message", str(record["record"])))
            self.assertEqual(record["record"], known["last"] + 1 + i)

    def test_an_empty_last_id_is_none(self):
        self.start()
        self.tell("a", 3)
        first = next(self.stream("/v1/journal?from=2").events())
        self.assertEqual(next(self.stream("/v1/journal?from=2", last="").events()), first)
        self.assertEqual(first[1], "2")

    def test_a_token_that_is_revoked_ends_the_stream(self):
        ids = {}
        for name in ("stays", "goes"):
            done = self.run_program("token", "add", "--new", "--world", self.world, "--role", "viewer", "--name", name)
            ids[name] = done.stdout.strip()
        self.start()
        streams = {name: self.stream("/v1/journal", token=token) for name, token in ids.items()}
        events = {name: stream.events() for name, stream in streams.items()}
        for reader in events.values():
            next(reader)
        listed = json.loads(self.run_program("token", "ls", "--world", self.world, "--json").stdout)["tokens"]
        gone, = [token["id"] for token in listed if token["name"] == "goes"]
        self.assertEqual(self.run_program("token", "revoke", "--world", self.world, gone).returncode, 0)
        self.assertEqual(list(events["goes"]), [])
        streams["stays"].socket.settimeout(1)
        with self.assertRaises(TimeoutError):
            list(events["stays"])

    def test_it_goes_on_behind_the_last_id(self):
        self.start()
        for _ in range(5):
            self.tell("a", 1)
        self.assertEqual(next(self.stream("/v1/journal", 3).events())[1], "4")
        self.assertEqual(next(self.stream("/v1/journal?from=3").events())[1], "3")
        self.assertEqual(self.client().get("/v1/journal?from=99", Accept="text/event-stream").code(), "not_found")

    def test_who_does_not_ask_for_a_stream_gets_a_document(self):
        self.start()
        self.assertEqual(self.client().get("/v1/journal").json()["first"], 1)

    def test_many_readers_of_a_busy_journal_all_come_along(self):
        self.start()
        streams = []
        for _ in range(100):  # one after the other: only so many may begin to read files at once
            streams.append(self.stream("/v1/journal?from=1"))
            self.assertEqual(streams[-1].read_head(), 200)
        for _ in range(50):
            self.tell("a", 1)
        asked = self.client()

        def document():
            """The readers may have taken all that can be read at once."""
            reply = asked.get("/v1/journal")
            return reply if reply.status != 429 else None
        last = wait_until(document).json()["last"]
        for stream in streams:
            events = stream.events()
            self.assertEqual([next(events)[2]["record"] for _ in range(last)], list(range(1, last + 1)))


if __name__ == "__main__":
    unittest.main()
