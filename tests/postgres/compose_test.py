#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Composing flows: what functions and operators make, and what they refuse in the statement that makes the mistake."""
import datetime
import json
import unittest

from schema import CATALOGUE, SchemaTest


class ComposeTest(SchemaTest):
    def setUp(self):
        super().setUp()
        self.publish(catalogue={**CATALOGUE, "flows": True})
        self.alice("SET search_path = public, holdfast")

    def make(self, expression):
        return json.loads(self.alice.value(f"SELECT {expression}"))


class Mistakes(ComposeTest):
    def test_a_text_is_a_statement_and_an_object_without_a_kind_is_an_error(self):
        self.assertEqual(self.make("'SELECT 1' ~> 'SELECT 2'"),
                         {"kind": "seq", "children": [{"kind": "sql", "text": "SELECT 1"}, {"kind": "sql", "text": "SELECT 2"}]})
        for part in ('{"kind": "sql"', "{}", '{"kind": 1}', "{x}", ""):
            self.refuses("HF002", self.alice, "SELECT 'SELECT 1' ~> $1", part)
        self.refuses("HF002", self.alice, "SELECT seq('SELECT 1', NULL)")
        self.refuses("HF002", self.alice, "SELECT holdfast.start_flow('{\"kind\": \"evil\"}')")

    def test_values_out_of_range_are_refused(self):
        for expression in ("sleep(-1)", "sleep('NaN')", "sleep(NULL)", "wait_for_signal('')", "wait_for_signal(NULL)", "wait_for_signal('s', 0)",
                           "wait_for_signal('s', -1)", "wait_for_signal(repeat('x', 256))", "named('SELECT 1', 'a b')", "named('SELECT 1', '1a')",
                           "'SELECT 1' |=> ''", "retry('SELECT 1', 0)", "retry('SELECT 1', 1001)", "retry('SELECT 1', 1, -1)", "timeout('SELECT 1', 0)",
                           "each('r', 'SELECT 1', at_once => 0)", "each('r r', 'SELECT 1')", "if_rows('', 'SELECT 1')",
                           "http('ftp://x')", "http('x')", "http('http://x', 'FETCH')", "http('http://x', headers => '[]')",
                           "http('http://x', headers => '{\"a\": 1}')", "http('http://x', timeout => 0)",
                           "task('[]')", "task('{}')", "task('{\"taskType\": 1}')", "task('{\"taskType\": \"echo\", \"stages\": []}')",
                           "'SELECT 1' !> 'SELECT 2'", "('SELECT 1' ?> 'SELECT 2' !> 'SELECT 3') !> 'SELECT 4'"):
            with self.subTest(expression):
                self.refuses("HF002", self.alice, f"SELECT {expression}")

    def test_what_cannot_run_in_a_transaction_is_refused(self):
        for statement in ("VACUUM", "vacuum log", "/* x */ COMMIT", "-- x\n ROLLBACK", "BEGIN", "SAVEPOINT s", "PREPARE TRANSACTION 'x'",
                          "CREATE DATABASE x", "CREATE INDEX CONCURRENTLY i ON t (a)", "REINDEX TABLE CONCURRENTLY t", "ALTER SYSTEM SET x = 1",
                          "COPY t FROM STDIN", "COPY t TO STDOUT", "", "  -- only a comment"):
            with self.subTest(statement):
                self.refuses("HF002", self.alice, "SELECT sql($1)", statement)
        for statement in ("SELECT 'commit'", "INSERT INTO copy VALUES ('stdin')", "SELECT 1 -- VACUUM", "DO $$BEGIN NULL; END$$"):
            self.alice("SELECT sql($1)", statement)

    def test_the_answer_of_setvar_is_no_step(self):
        error = self.refuses("HF002", self.alice, "SELECT setvar('a', 'b') ~> 'SELECT 1'")
        self.assertIn("setvar", error.message)

    def test_levels_and_nodes_are_bounded(self):
        nested = lambda depth: "'" + '{"kind": "loop", "children": [' * depth + '{"kind": "break", "value": null}' + "]}" * depth + "'"
        self.alice(f"SELECT start_flow({nested(255)})")
        error = self.refuses("HF004", self.alice, f"SELECT start_flow({nested(256)})")
        self.assertIn("256 levels", error.message)
        wide = "(SELECT jsonb_build_object('kind', 'join', 'children', jsonb_agg('{\"kind\": \"sleep\", \"ms\": 1}'::jsonb))::text FROM generate_series(1, %d))"
        self.alice("SELECT start_flow(" + wide % 9_999 + ")")
        error = self.refuses("HF004", self.alice, "SELECT start_flow(" + wide % 10_000 + ")")
        self.assertIn("10000 nodes", error.message)

    def test_composing_touches_no_table(self):
        self.alice("BEGIN")
        self.alice("SELECT explain(loop('SELECT 1' & sleep(1), 'SELECT false') |=> 'a')")
        self.assertIsNone(self.alice.value("SELECT pg_current_xact_id_if_assigned()"))
        self.assertEqual(self.alice("SELECT c.relname FROM pg_locks l JOIN pg_class c ON c.oid = l.relation "
                                    "WHERE l.pid = pg_backend_pid() AND c.relnamespace = 'holdfast'::regnamespace"), [])
        self.alice("COMMIT")

    def test_a_break_keeps_json_and_quotes_other_texts(self):
        self.assertEqual(self.make("break('{\"a\": [1]}')")["value"], {"a": [1]})
        self.assertEqual(self.make("break('plain')")["value"], "plain")
        self.assertIsNone(self.make("break()")["value"])


class Variables(ComposeTest):
    def test_every_role_has_its_own_and_a_start_keeps_those_of_its_time(self):
        self.assertEqual(self.alice.value("SELECT setvar('region', 'eu')"), "OK")
        self.alice("SELECT setvar('region', 'us'), setvar('n', '1')")
        self.assertEqual(self.alice.value("SELECT getvar('region')"), "us")
        self.assertIsNone(self.bob.value("SELECT holdfast.getvar('region')"))
        flow = self.alice.value("SELECT start_flow(sleep(1))")
        self.alice("SELECT unsetvar('n')")
        self.assertEqual(self.alice("SELECT name FROM holdfast.variables"), [("region",)])
        self.alice("SELECT clearvars()")
        self.assertIsNone(self.alice.value("SELECT getvar('region')"))
        self.assertEqual(json.loads(self.alice.value("SELECT body->'vars' FROM holdfast.inbox WHERE id = $1", flow)), {"region": "us", "n": "1"})
        self.refuses("HF002", self.alice, "SELECT setvar('a b', '')")
        self.refuses("HF004", self.alice, "SELECT setvar('a', repeat('x', 65537))")


class Schedules(ComposeTest):
    def next(self, cron, zone, after):
        at = datetime.datetime.fromisoformat(after).timestamp()
        ms = int(self.alice.value("SELECT holdfast.next_schedule($1, $2, $3)", cron, zone, int(at * 1000)))
        return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).isoformat(" ", "minutes")[:16]

    def test_the_next_time_is_strictly_later(self):
        self.assertEqual(self.next("* * * * *", "UTC", "2026-03-01 10:00:00+00:00"), "2026-03-01 10:01")
        self.assertEqual(self.next("* * * * *", "UTC", "2026-03-01 10:00:59.999+00:00"), "2026-03-01 10:01")
        self.assertEqual(self.next("*/15 9-17 * * 1-5", "UTC", "2026-02-27 17:45:00+00:00"), "2026-03-02 09:00")
        self.assertEqual(self.next("0 0 29 2 *", "UTC", "2026-03-01 00:00:00+00:00"), "2028-02-29 00:00")
        self.assertEqual(self.next("0 0 13 * 5", "UTC", "2026-03-01 00:00:00+00:00"), "2026-03-06 00:00")  # a Friday, or the 13th
        self.assertEqual(self.next("0 12 * * 7", "UTC", "2026-03-02 00:00:00+00:00"), "2026-03-08 12:00")  # 7 is Sunday, as 0

    def test_two_waits_land_on_successive_minutes(self):
        first = self.next("* * * * *", "UTC", "2026-03-01 10:00:30+00:00")
        self.assertEqual((first, self.next("* * * * *", "UTC", first + ":00+00:00")), ("2026-03-01 10:01", "2026-03-01 10:02"))

    def test_time_zones_and_clocks_that_are_set(self):
        self.assertEqual(self.next("0 9 * * *", "Europe/Berlin", "2026-01-10 00:00:00+00:00"), "2026-01-10 08:00")
        self.assertEqual(self.next("0 9 * * *", "Europe/Berlin", "2026-07-10 00:00:00+00:00"), "2026-07-10 07:00")
        # 02:30 does not exist on the day on which clocks go forward.
        self.assertEqual(self.next("30 2 * * *", "Europe/Berlin", "2026-03-28 12:00:00+00:00"), "2026-03-30 00:30")

    def test_mistakes(self):
        for cron in ("", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "*/0 * * * *", "5-1 * * * *", "a * * * *"):
            with self.subTest(cron):
                self.refuses("HF002", self.alice, "SELECT wait_for_schedule($1)", cron)
        self.refuses("HF002", self.alice, "SELECT wait_for_schedule('0 0 30 2 *')")
        self.refuses("22023", self.alice, "SELECT wait_for_schedule('* * * * *', 'Nowhere/At_all')")


if __name__ == "__main__":
    unittest.main()
