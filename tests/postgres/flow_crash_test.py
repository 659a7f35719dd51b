#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SQL steps happen once, whatever is killed. HOLDFAST_FLOWS and HOLDFAST_FLOW_KILLS make the run larger (1000 and 20)."""
import os
import random
import signal
import time
import unittest

COUNT = int(os.environ.pop("HOLDFAST_FLOWS", 60))
KILLS = int(os.environ.pop("HOLDFAST_FLOW_KILLS", 3))

from crash_test import CuttingProxy
from flows import FlowTest
from pq import SqlError
from waiting import wait_until

THREE_STEPS = """($$INSERT INTO log (note) VALUES ('{n} first') RETURNING n$$ |=> 'first')
    ~> $$INSERT INTO log (note) SELECT '{n} second' WHERE $first.n > 0$$ ~> $$INSERT INTO log (note) VALUES ('{n} third')$$"""


class Kills(FlowTest):
    def reconnect(self):
        self.owner, self.alice, self.bob = (self.connect(role) for role in ("owner", "alice", "bob"))
        self.alice("SET search_path = \"$user\", public, holdfast")

    def kill_database(self):
        self.cluster.stop(signal.SIGQUIT)
        self.cluster.start()
        self.reconnect()

    def kill_server(self):
        self.server.kill()
        self.server.start("--postgres-exec", self.exec_conninfo(), "--postgres-sweep", 500)

    def kill_connections(self):
        with self.cluster.connect() as admin:
            admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND usename IN ('owner', 'hf_exec')", self.database)
        self.reconnect()

    def test_every_step_happens_once_while_everything_is_killed(self):
        self.serve("--postgres-sweep", 500)
        chance = random.Random(1)
        kills = [self.kill_database, self.kill_server, self.kill_connections] * KILLS
        chance.shuffle(kills)
        at = sorted(chance.randrange(COUNT) for _ in kills)
        flows = {}
        for n in range(COUNT):
            while n not in flows:
                try:
                    self.alice("BEGIN")
                    flow = self.start_flow(THREE_STEPS.format(n=n))
                    self.alice("COMMIT")
                    flows[n] = flow
                except SqlError:
                    self.reconnect()
            while at and at[0] == n:
                at.pop(0)
                time.sleep(chance.random() * 0.1)
                kills.pop()()
        self.reconnect()
        wait_until(lambda: not self.owner("SELECT FROM holdfast.inbox WHERE outcome IS NULL")
                   and not self.owner("SELECT FROM holdfast.instances WHERE ended IS NULL"),
                   lambda: str(self.owner("SELECT status, count(*) FROM holdfast.instances GROUP BY 1")) + self.server.log.read_text()[-2000:])
        self.assertEqual(self.owner("SELECT status, count(*) FROM holdfast.instances GROUP BY 1"), [("completed", str(COUNT))],
                         self.owner("SELECT error FROM holdfast.instances WHERE status <> 'completed' LIMIT 3"))
        wanted = sorted(f"{n} {step}" for n in range(COUNT) for step in ("first", "second", "third"))
        self.assertEqual(sorted(self.notes()), wanted)

    def test_a_lost_answer_to_a_step_is_asked_for_again_and_nothing_happens_twice(self):
        # The proxy cuts the connection of the executor when the statement is on its way: the database runs it, and nobody hears.
        proxy = CuttingProxy(str(self.cluster.folder / ".s.PGSQL.5432"))
        self.addCleanup(proxy.close)
        through = self.exec_conninfo().replace(f"host={self.cluster.folder}", f"host=127.0.0.1 port={proxy.port}")
        self.server.start("--postgres-exec", through)
        self.wait_for_catalogue()
        for n in range(10):
            proxy.cut_at(f"lost {n}")
            self.run_flow(f"$$INSERT INTO log (note) VALUES ('lost {n}')$$")
        self.assertEqual(proxy.cuts, 10)
        self.assertEqual(self.notes(), [f"lost {n}" for n in range(10)])

    def test_a_step_that_another_connection_still_runs_is_waited_for(self):
        # A server that is killed leaves its statement running. The next one asks again, waits, and gets the result of the first.
        self.serve()
        flow = self.start_flow("$$INSERT INTO log (note) SELECT 'slow' FROM pg_sleep(3) RETURNING note$$")
        wait_until(self.is_busy)
        self.kill_server()
        self.assertEqual(self.await_result(self.alice, flow)["rows"], [{"note": "slow"}])
        self.assertEqual(self.notes(), ["slow"])

    def test_a_flow_waits_while_no_server_runs_its_steps(self):
        self.serve()
        flow = self.start_flow("holdfast.wait_for_signal('go') ~> $$INSERT INTO log (note) VALUES ('later')$$")
        self.wait_for_status(flow, "running")
        self.server.stop()
        self.server.start()  # without --postgres-exec
        self.alice("SELECT holdfast.signal($1, 'go', '1')", flow)
        wait_until(lambda: not self.owner("SELECT FROM holdfast.inbox WHERE outcome IS NULL"))
        self.assertEqual(self.status(flow), "running")
        self.refuses("HF001", self.alice, "SELECT holdfast.start_flow('SELECT 1')")
        self.server.stop()
        self.server.start("--postgres-exec", self.exec_conninfo())
        self.await_result(self.alice, flow)
        self.assertEqual(self.notes(), ["later"])


if __name__ == "__main__":
    unittest.main()
