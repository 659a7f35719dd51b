#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers, bridges and databases that are killed: nothing is lost, nothing happens twice."""
import collections
import contextlib
import itertools
import os
import re
import signal
import socket
import subprocess
import threading
import time
import unittest

from pq import SqlError
from serving import BUILD, PROGRAM, ServingTest
from waiting import PATIENCE, wait_until

STEPPED_CLOCK = BUILD / "tests" / "libregistry_stepped_clock.so"


class Crashes(ServingTest):
    def journal(self):
        """How often an event of each key is in the journal of the (stopped) world."""
        self.server.stop()
        done = subprocess.run([PROGRAM, "journal", "--world", self.server.world, "--json", "--kind", "event", "--limit", "1000000"],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return collections.Counter(re.findall(r'"pg/[^"]*"', done.stdout))

    def assert_all_once(self, ids):
        """Every request ended well, and is in the journal exactly once."""
        for each in ids:
            self.wait_for_status(each, "completed")
        counts = self.journal()
        self.assertEqual(set(counts.values()), {1}, counts.most_common(3))
        self.assertEqual({name.rsplit("/", 1)[1].rstrip('"') for name in counts}, set(ids))

    def test_a_server_that_is_killed_at_any_system_call_of_an_admission(self):
        # The bridge has a thread of its own, whose calls strace counts by themselves: from its first
        # connection over the lease, the read and the mark to the end of the instance. The calls of the
        # journal are those that make the request durable.
        self.serve()
        self.server.stop()
        ids = []
        for call, least in (("sendto", 8), ("recvfrom", 8), ("poll", 8), ("pwrite64", 4), ("fdatasync", 4)):
            for n in itertools.count(1):
                ids.append(self.start(self.alice, f"{call}-{n}"))
                if not self.run_until_killed(call, n, ids[-1]):
                    break
            self.assertGreater(n, least, call)  # so many places to die at were found
        self.server.start()
        self.assert_all_once(ids)

    def run_until_killed(self, call, n, started):
        """Runs the server until it makes the n-th call of a thread. False: what it had to do was done before."""
        strace = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={n}",
             PROGRAM, "serve", "--world", self.server.world, "--apply", "--any-file-system", "--listen", "127.0.0.1:0",
             "--postgres", self.server.conninfo], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: strace.poll() is not None or self.status(started) == "completed")
        if strace.poll() is not None:
            return True
        for child in self.children(strace.pid):
            with contextlib.suppress(ProcessLookupError):  # it may have come to its n-th call in the meantime
                os.kill(child, signal.SIGKILL)
        strace.wait(PATIENCE)
        return False

    @staticmethod
    def children(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]

    def test_a_database_that_crashes_under_load(self):
        self.serve("--postgres-sweep", 500)
        ids, stop = [], threading.Event()

        def submit():
            n = 0
            while not stop.is_set():
                n += 1
                try:
                    with self.cluster.connect("alice", self.database) as alice:
                        alice("BEGIN")
                        started = self.start(alice, f"d-{n}")
                        alice("COMMIT")
                        ids.append(started)
                except SqlError:
                    time.sleep(0.02)

        thread = threading.Thread(target=submit)
        thread.start()
        try:
            for _ in range(4):
                enough = len(ids) + 15
                wait_until(lambda: len(ids) >= enough)
                self.cluster.stop(signal.SIGQUIT)
                self.cluster.start()
        finally:
            stop.set()
            thread.join()
        self.reconnect()
        # Commits whose answer was lost happened too.
        ids = [each for each, in self.owner("SELECT id FROM holdfast.inbox WHERE verb = 'start'")]
        self.assertGreater(len(ids), 60)
        self.assert_all_once(ids)

    def reconnect(self):
        self.owner, self.alice, self.bob = (self.connect(role) for role in ("owner", "alice", "bob"))

    def test_a_lost_answer_to_the_mark_is_harmless(self):
        # A proxy cuts the connection after the server has sent a statement and before its answer.
        self.serve()
        self.server.stop()
        proxy = CuttingProxy(str(self.cluster.folder / ".s.PGSQL.5432"))
        self.addCleanup(proxy.close)
        through = self.server.conninfo.replace(f"host={self.cluster.folder}", f"host=127.0.0.1 port={proxy.port}")
        self.server.start("--postgres-sweep", 300, conninfo=through)
        ids = []
        for n in range(12):
            proxy.cut_at("holdfast.decide" if n % 2 else "holdfast.write_ends")
            ids.append(self.start(self.alice, f"c-{n}"))
            self.wait_for_status(ids[-1], "completed")
        self.assertGreaterEqual(proxy.cuts, 6)
        self.assert_all_once(ids)

    def test_a_database_set_back_to_an_earlier_moment_repeats_nothing(self):
        self.serve()
        early = [self.start(self.alice, f"e-{n}") for n in range(5)]
        for each in early:
            self.wait_for_status(each, "completed")
        # All marks and results of these are lost, as on a standby that did not get them.
        self.owner("UPDATE holdfast.inbox SET outcome = NULL, decided = NULL; DELETE FROM holdfast.instances")
        late = self.start(self.alice, "late")
        self.assert_all_once([*early, late])

    @unittest.skipUnless(STEPPED_CLOCK.exists(), "sanitizers want to be the first that is loaded")
    def test_what_was_never_marked_is_known_for_longer_than_a_day(self):
        # A signal has no key that would tell that it came before: only its id does. The clock of the server is set forward.
        self.serve()
        started = self.start(self.alice, "r", 9900)
        self.wait_for_status(started, "running")
        signals = [self.decide(self.alice, started, "r", approved=False), self.decide(self.alice, started, "r")]
        for each in signals:
            self.wait_for_status(each, "accepted", "ignored")
        self.server.stop()
        self.owner("UPDATE holdfast.inbox SET outcome = NULL, decided = NULL; DELETE FROM holdfast.instances")
        self.server.start(environment={"LD_PRELOAD": STEPPED_CLOCK, "HOLDFAST_WALL_STEP": 2 * 86400})
        self.wait_for_status(started, "completed")
        wait_until(lambda: not self.owner("SELECT FROM holdfast.inbox WHERE outcome IS NULL"), lambda: self.server.log.read_text())
        counts = self.journal()
        self.assertEqual(set(counts.values()), {1}, counts)
        self.assertEqual(len(counts), 3)

    def test_a_killed_server_under_load_with_signals_and_cancels(self):
        self.serve("--postgres-sweep", 500)
        starts, signals, cancels = [], [], []
        for round_ in range(6):
            for n in range(20):
                self.alice("BEGIN")
                key = f"s-{round_}-{n}"
                started = self.start(self.alice, key, 9900)
                starts.append(started)
                if n % 2:
                    signals.append(self.decide(self.alice, started, key))
                self.alice("COMMIT")
                if not n % 2:
                    cancels.append(started)
                    self.alice("SELECT holdfast.cancel($1)", started)
            self.server.kill()
            self.server.start("--postgres-sweep", 500)
        for started in starts:
            self.wait_for_status(started, "cancelled" if started in cancels else "completed")
        for each in signals:
            self.assertEqual(self.status(each), "accepted")
        counts = self.journal()
        self.assertEqual(set(counts.values()), {1})
        ran = {name.rsplit("/", 1)[1].rstrip('"') for name in counts}
        self.assertLessEqual(set(signals), ran)
        self.assertLessEqual(ran, set(signals) | set(starts))


class CuttingProxy:
    """Forwards a TCP port to the socket of PostgreSQL. Cuts a connection, once, when a statement that it is told is on its way."""

    def __init__(self, target):
        self.target, self.text, self.cuts = target, None, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def cut_at(self, text):
        self.text = text.encode()

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.target)
            threading.Thread(target=self.forward, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self.forward, args=(server, client, False), daemon=True).start()

    def forward(self, source, sink, is_request):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
                if is_request and self.text and self.text in data:
                    self.text = None
                    self.cuts += 1
                    source.shutdown(socket.SHUT_RDWR)  # the server executes what it has; nobody hears its answer
                    break
        except OSError:
            pass
        try:
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        if not is_request:  # the last of the two
            sink.close()
            source.close()


if __name__ == "__main__":
    unittest.main()
