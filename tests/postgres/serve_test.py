#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workflows that are started in transactions of the application, by the real program and database."""
import json
import os
import subprocess
import time
import unittest

LONG_SECONDS = float(os.environ.pop("HOLDFAST_LONG_TRANSACTION", 3))  # 90 is what the design asks for

from cluster import schema_files
from pq import SqlError
from serving import Server, ServingTest, refund
from waiting import PATIENCE, wait_until

NEWEST = max(int(file.parent.name[1:]) for file in schema_files())


class Transactions(ServingTest):
    def test_commit_makes_it_run_and_the_result_comes_back(self):
        self.serve()
        self.alice("BEGIN")
        started = self.start(self.alice)
        self.assertEqual(self.in_engine(), {})
        self.alice("COMMIT")
        self.assertEqual(self.await_result(self.alice, started)["paid_cents"], 100)
        self.assertEqual(self.status(started), "completed")
        self.assertEqual(self.in_engine(), {"r-1": "completed"})

    def test_rollback_leaves_nothing_and_a_savepoint_only_what_it_kept(self):
        self.serve()
        self.alice("BEGIN")
        self.start(self.alice, "ghost")
        self.alice("ROLLBACK")
        self.alice("BEGIN")
        self.start(self.alice, "kept")
        self.alice("SAVEPOINT s")
        self.start(self.alice, "dropped")
        self.alice("ROLLBACK TO s")
        last = self.start(self.alice, "last")
        self.alice("COMMIT")
        self.await_result(self.alice, last)
        wait_until(lambda: self.in_engine() == {"kept": "completed", "last": "completed"})

    def test_a_signal_answers_and_a_rolled_back_one_does_not(self):
        self.serve()
        started = self.start(self.alice, cents=9900)
        self.alice("BEGIN")
        self.decide(self.alice, started, approved=False)
        self.alice("ROLLBACK")
        self.decide(self.alice, started)
        self.assertEqual(self.await_result(self.alice, started), {"paid_cents": 9900, "note": "paid"})

    def test_a_signal_in_the_transaction_of_the_start_is_kept_for_the_question(self):
        self.serve()
        self.alice("BEGIN")
        started = self.start(self.alice, cents=9900)
        self.decide(self.alice, started)
        self.alice("COMMIT")
        self.assertEqual(self.await_result(self.alice, started)["note"], "paid")

    def test_a_cancel_ends_what_runs_and_one_that_is_committed_with_the_start_prevents_it(self):
        self.serve()
        running = self.start(self.alice, "running", 9900)
        self.wait_for_status(running, "running")
        self.alice("SELECT holdfast.cancel($1, 'not wanted')", running)
        self.wait_for_status(running, "cancelled")
        self.alice("BEGIN")
        never = self.start(self.alice, "never", 9900)
        self.alice("SELECT holdfast.cancel($1)", never)
        self.alice("COMMIT")
        self.wait_for_status(never, "cancelled")
        self.assertEqual(self.in_engine(), {"running": "cancelled"})

    def test_a_cancel_that_commits_before_the_start_is_seen_wins(self):
        self.serve()
        self.server.stop()
        started = self.start(self.alice, "never", 9900)
        self.alice("SELECT holdfast.cancel($1)", started)
        self.server.start()
        self.wait_for_status(started, "cancelled")
        self.assertEqual(self.in_engine(), {})

    def test_starts_and_cancels_that_race_end_alike_wherever_one_looks(self):
        self.serve()
        other = self.connect("alice")
        ids, cancels = [], []
        for n in range(60):
            ids.append(self.start(self.alice, f"race-{n}", 9900 if n % 2 else 100))
            cancels.append(other.value("SELECT holdfast.cancel($1)", ids[-1]))
        for each in ids:
            self.wait_for_status(each, "cancelled", "completed")
        for each in cancels:
            self.wait_for_status(each, "accepted", "ignored")
        in_engine = self.in_engine()
        for n, each in enumerate(ids):
            status = self.status(each)
            # One that never began is not in the engine.
            self.assertEqual(in_engine.get(f"race-{n}", "cancelled"), status)
            self.assertIn(status, ("cancelled",) if n % 2 else ("cancelled", "completed"))
        listed = dict(self.alice("SELECT id, status FROM holdfast.list()"))
        self.assertEqual(listed, {each: self.status(each) for each in ids})

    def test_a_prepared_transaction_runs_when_it_commits(self):
        self.serve("--postgres-sweep", 200)
        self.alice("BEGIN")
        started = self.start(self.alice, "prepared")
        self.alice("PREPARE TRANSACTION 'two phases'")
        self.await_result(self.bob, self.start(self.bob, "beside"))
        self.assertEqual(self.in_engine(), {"beside": "completed"})
        self.alice("COMMIT PREPARED 'two phases'")
        self.await_result(self.alice, started)

    def test_a_cancel_after_the_end_changes_nothing(self):
        self.serve()
        started = self.start(self.alice)
        self.await_result(self.alice, started)
        cancel = self.alice.value("SELECT holdfast.cancel($1)", started)
        self.wait_for_status(cancel, "ignored")
        self.assertEqual(self.status(started), "completed")

    def test_a_start_in_the_future_waits_and_can_be_cancelled_before(self):
        self.serve()
        sql = "SELECT holdfast.start('demo/RefundCase@1', $1, run_at => now() + $2::interval)"
        soon = self.alice.value(sql, refund("soon"), "300 ms")
        later = self.alice.value(sql, refund("later"), "1 day")
        signalled = self.decide(self.alice, later, "later")
        self.await_result(self.alice, soon)
        self.alice("SELECT holdfast.cancel($1)", later)
        self.wait_for_status(later, "cancelled")
        self.assertEqual(self.status(signalled), "pending")
        self.assertEqual(self.in_engine(), {"soon": "completed"})

    def test_what_the_engine_refuses_is_a_terminal_status_with_its_reason(self):
        self.serve()
        first = self.start(self.alice, "taken", 9900)
        self.wait_for_status(first, "running")
        second = self.start(self.bob, "taken")
        self.wait_for_status(second, "refused")
        self.assertIn("exists already", self.bob.value("SELECT holdfast.error($1)", second))
        # The id of the refused start is no way to the instance of the other role.
        signalled = self.decide(self.bob, second, "taken")
        cancelled = self.bob.value("SELECT holdfast.cancel($1)", second)
        self.wait_for_status(signalled, "ignored")
        self.wait_for_status(cancelled, "ignored")
        self.assertEqual(self.status(first), "running")
        self.assertEqual(self.in_engine(), {"taken": "waiting"})

    def test_odd_keys_and_texts_go_there_and_back(self):
        self.serve()
        keys = ["", "~", "~..", "..", "-", "a\"b\\c", "{x,NULL}", "NULL", "line\nfeed", "\u00fc\u4e2d\U0001f600", "it's", "a/b", " "]
        ids = [self.start(self.alice, key, 9900) for key in keys]
        for each in ids:
            self.wait_for_status(each, "running")
        again = [self.start(self.bob, key, 9900) for key in keys]
        for key, each in zip(keys, again):
            self.wait_for_status(each, "refused")
        for key, each in zip(keys, ids):
            self.decide(self.alice, each, key)
            self.wait_for_status(each, "completed")
        self.assertEqual(sorted(self.in_engine()), sorted(keys))

    def test_an_event_that_is_sent_reaches_the_instance_of_its_key(self):
        self.serve()
        started = self.start(self.alice, cents=9900)
        self.owner("SELECT holdfast.grant_usage('bob', may_send => true)")
        self.wait_for_status(started, "running")
        sent = self.bob.value("SELECT holdfast.send('demo/RefundDecided@1', $1)",
                              json.dumps({"id": "r-1", "by": "manager", "approved": False}))
        self.assertEqual(self.await_result(self.alice, started)["note"], "the manager said no")
        self.assertEqual(self.status(sent), "accepted")

    def test_a_failed_instance_says_why(self):
        self.serve()
        started = self.alice.value("SELECT holdfast.start('demo/RefundCase@1', $1)", refund("lost", order="lost"))
        self.assertEqual(self.await_result(self.alice, started)["paid_cents"], 0)
        with self.assertRaises(SqlError) as caught:
            self.alice("SELECT holdfast.start('demo/RefundCase@1', '{}', key => 'x')")
        self.assertEqual(caught.exception.state, "HF002")


class WakingUp(ServingTest):
    def test_without_a_notification_the_sweep_finds_the_row(self):
        self.serve("--postgres-sweep", 200)
        self.alice("SET holdfast.wake = off")
        started = self.start(self.alice)
        self.await_result(self.alice, started)

    def test_a_lost_listener_is_rebuilt_without_the_sweep(self):
        self.serve("--postgres-sweep", 3_600_000)
        first = self.start(self.alice)
        self.await_result(self.alice, first)
        with self.cluster.connect() as admin:
            admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast'")
        second = self.start(self.alice, "r-2")
        self.await_result(self.alice, second)

    def test_requests_from_before_the_server_was_there_are_found_when_it_starts(self):
        self.serve()
        self.server.stop()
        started = self.start(self.alice)
        self.server.start("--postgres-sweep", 3_600_000)
        self.await_result(self.alice, started)

    def test_a_transaction_that_commits_late_is_not_passed_over(self):
        self.serve("--postgres-sweep", 3_600_000)
        self.alice("BEGIN")
        late = self.start(self.alice, "late")
        for n in range(20):
            self.await_result(self.bob, self.start(self.bob, f"b-{n}"))
        self.alice("COMMIT")
        self.await_result(self.alice, late)

    def test_a_transaction_that_is_open_for_long_runs_once(self):
        self.serve("--postgres-sweep", 300)
        self.alice("BEGIN")
        started = self.start(self.alice, "long")
        time.sleep(LONG_SECONDS)
        self.assertEqual(self.in_engine(), {})
        self.alice("COMMIT")
        self.await_result(self.alice, started)
        self.assertEqual(self.in_engine(), {"long": "completed"})

    def test_many_parked_starts_do_not_hold_up_a_new_one(self):
        self.serve("--postgres-sweep", 3_600_000)
        self.alice("SELECT count(*) FROM generate_series(1, 5000) n, LATERAL holdfast.start('demo/RefundCase@1', "
                   "jsonb_build_object('id', 'p-' || n, 'order', 'o', 'cents', 1), run_at => now() + interval '1 day')")
        self.await_result(self.bob, self.start(self.bob, "now"))
        self.assertEqual(self.in_engine(), {"now": "completed"})

    def test_many_instances_that_run_do_not_hold_up_a_new_one(self):
        self.serve("--postgres-sweep", 200)
        self.alice("SELECT count(*) FROM generate_series(1, 5000) n, LATERAL holdfast.start('demo/RefundCase@1', "
                   "jsonb_build_object('id', 'p-' || n, 'order', 'o', 'cents', 9900))")
        self.await_result(self.bob, self.start(self.bob, "now"))
        wait_until(lambda: self.owner("SELECT count(*) FROM holdfast.instances WHERE status = 'running'") == [("5000",)])
        # Also for a server that begins with all of them.
        self.server.kill()
        self.server.start("--postgres-sweep", 3_600_000)
        self.await_result(self.bob, self.start(self.bob, "then"))

    def test_an_idle_bridge_asks_nothing(self):
        self.serve("--postgres-sweep", 3_600_000)
        self.await_result(self.alice, self.start(self.alice))
        with self.cluster.connect() as admin:
            said = lambda: admin("SELECT state, query_start, query FROM pg_stat_activity WHERE application_name = 'holdfast'")
            wait_until(lambda: said()[0][0] == "idle")
            time.sleep(0.3)  # what is under way after the last start
            before = said()
            time.sleep(2)
            self.assertEqual(said(), before)

    def test_behind_a_pooler_it_polls(self):
        self.serve("--postgres-poll", 20)
        started = self.start(self.alice, cents=9900)
        self.wait_for_status(started, "running")
        self.decide(self.alice, started)
        self.await_result(self.alice, started)
        locks = self.owner("SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
                           "WHERE a.application_name = 'holdfast' AND l.locktype = 'advisory'")
        self.assertEqual(locks, [])


class Worlds(ServingTest):
    def test_two_worlds_on_one_schema_take_their_own_rows(self):
        self.serve()
        other = Server(self, "other")
        other.start()
        wait_until(lambda: len(self.owner("SELECT FROM holdfast.workflows WHERE workflow = 'demo/RefundCase@1'")) == 2)
        worlds = [world for world, in self.owner("SELECT world FROM holdfast.worlds ORDER BY attached")]
        sql = "SELECT holdfast.start('demo/RefundCase@1', $1, world => $2)"
        ids = [self.alice.value(sql, refund(f"r-{n}"), worlds[n % 2]) for n in range(10)]
        for each in ids:
            self.await_result(self.alice, each)
        self.assertEqual(sorted(self.in_engine()), [f"r-{n}" for n in range(0, 10, 2)])
        self.assertEqual(sorted(self.in_engine(other)), [f"r-{n}" for n in range(1, 10, 2)])

    def test_a_cloned_database_is_not_served_by_another_world(self):
        self.serve()
        self.server.stop()
        started = self.start(self.alice)
        for connection in self.opened:
            connection.close()
        self.opened.clear()
        clone = self.database + "c"
        with self.cluster.connect() as admin:
            admin(f"CREATE DATABASE {clone} TEMPLATE {self.database} OWNER owner")
            self.addCleanup(lambda: self.cluster.connect()(f"DROP DATABASE {clone} WITH (FORCE)"))
        other = Server(self, "other", clone).start()
        with self.cluster.connect("owner", clone) as owner:
            wait_until(lambda: owner.value("SELECT count(DISTINCT world) FROM holdfast.workflows") == "2")
            with self.cluster.connect("alice", clone) as alice:
                world = owner.value("SELECT world FROM holdfast.worlds ORDER BY attached DESC LIMIT 1")
                own = alice.value("SELECT holdfast.start('demo/RefundCase@1', $1, world => $2)", refund("own"), world)
                self.await_result(alice, own)
                self.assertEqual(alice.value("SELECT holdfast.status($1)", started), "pending")
        self.assertEqual(self.in_engine(other), {"own": "completed"})
        other.stop()
        self.owner = self.connect("owner")
        self.server.start()
        self.wait_for_status(started, "completed")


class Installing(ServingTest):
    def test_install_status_upgrade_and_uninstall(self):
        self.assertEqual(self.pg("install"), f"version {NEWEST} is installed already\n")
        status = json.loads(self.pg("status", "--json"))
        self.assertEqual((status["version"], status["newest"], status["owner"], status["open_requests"], status["worlds"]),
                         (NEWEST, NEWEST, "owner", 0, []))
        self.serve()
        started = self.start(self.alice, cents=9900)
        self.wait_for_status(started, "running")
        status = json.loads(self.pg("status", "--json"))
        self.assertEqual((status["live_instances"], status["worlds"][0]["served"]), (1, True))
        self.assertIn("world ", self.pg("status"))
        self.assertEqual(self.pg("upgrade"), f"version {NEWEST} is installed already\n")
        self.assertIn("0 open requests and 1 running instances", self.pg("uninstall", code=1))
        self.server.stop()
        self.assertEqual(self.pg("uninstall", "--force"), "uninstalled\n")
        self.assertIn("is not installed", self.pg("status", code=1))
        self.assertIn("is not installed", self.pg("upgrade", code=1))
        self.assertEqual(self.pg("install"), f"installed version {NEWEST}\n")

    def test_uninstall_takes_everything_with_it(self):
        self.owner("SELECT holdfast.grant_usage('alice', may_run_sql => true)")
        self.pg("uninstall")
        self.assertEqual(self.owner("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'holdfast%'"), [])

    def test_a_server_serves_each_earlier_schema_and_goes_on_after_the_upgrade(self):
        for version in range(1, NEWEST):
            with self.subTest(version):
                self.upgrade_from(version)

    def upgrade_from(self, version):
        self.pg("uninstall", "--force")
        for file in schema_files():
            if int(file.parent.name[1:]) <= version:
                self.owner(file.read_text())
        self.owner(f"INSERT INTO holdfast.installation (version) VALUES ({version}); SELECT holdfast.grant_usage('alice', true)")
        self.server = Server(self, f"world{version}")
        self.serve("--postgres-sweep", 300)
        self.await_result(self.alice, self.start(self.alice, "before"))
        waiting = self.start(self.alice, "waiting", 9900)
        self.wait_for_status(waiting, "running")
        self.assertEqual(self.pg("upgrade"), f"upgraded from version {version} to {NEWEST}\n")
        self.decide(self.alice, waiting, "waiting")
        self.await_result(self.alice, waiting)
        self.await_result(self.alice, self.start(self.alice, "after"))
        # A role that could use the earlier version can use what this one has, and no more.
        self.assertIn("sql SELECT 1", self.alice.value("SELECT holdfast.explain('SELECT 1')"))
        self.alice("SELECT holdfast.send('demo/RefundDecided@1', '{\"id\": \"x\", \"by\": \"m\", \"approved\": true}')")
        self.refuses("HF005", self.alice, "SELECT holdfast.enroll()")
        upgraded = self.dump()
        self.server.stop()
        self.pg("uninstall", "--force")
        self.pg("install")
        self.owner("SELECT holdfast.grant_usage('alice', true)")
        self.assertEqual(self.dump(), upgraded)

    def dump(self):
        done = subprocess.run([self.cluster.programs / "pg_dump", "-s", "-n", "holdfast", "-d", self.cluster.conninfo("super", self.database)],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(line for line in done.stdout.splitlines() if not line.startswith(("--", "\\")))

    def test_a_schema_of_somebody_else_and_a_newer_one_are_left_alone(self):
        self.owner("UPDATE holdfast.installation SET version = 1000")
        self.assertIn("newer", self.pg("install", code=1))
        self.owner("DROP SCHEMA holdfast CASCADE; CREATE SCHEMA holdfast")
        self.assertIn("was not made by holdfast pg install", self.pg("install", code=1))
        self.assertIn("was not made by holdfast pg install", self.pg("uninstall", "--force", code=1))

    def test_a_server_without_the_schema_or_with_a_newer_one_says_so_and_goes_on_when_it_can(self):
        log = lambda text: wait_until(lambda: text in self.server.log.read_text(), lambda: self.server.log.read_text())
        self.pg("uninstall")
        self.server.start("--postgres-sweep", 200)
        log("the schema holdfast is not installed: holdfast pg install does that")
        self.pg("install")
        self.owner("UPDATE holdfast.installation SET version = 1000")
        log("the schema has version 1000")
        self.owner(f"UPDATE holdfast.installation SET version = {NEWEST}")
        self.wait_for_catalogue()

    def test_a_role_without_the_right_and_a_database_that_is_away_are_refused(self):
        self.pg("uninstall")
        self.assertIn("permission denied", self.pg("install", user="alice", code=1))
        self.assertIn("does not exist", self.pg("status", user="nobody_at_all", code=1))


if __name__ == "__main__":
    unittest.main()
