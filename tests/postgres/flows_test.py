#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flows: workflows that are composed in SQL, run by the real program on a real PostgreSQL."""
import http.server
import json
import re
import subprocess
import threading
import time
import unittest
import urllib.request

from flows import FlowTest, note
from serving import PROGRAM
from waiting import PATIENCE, wait_until


class Steps(FlowTest):
    def setUp(self):
        super().setUp()
        self.serve()

    def test_one_statement_runs_once_and_its_result_comes_back(self):
        result = self.run_flow("'INSERT INTO log (note) VALUES (''a'') RETURNING n, note'")
        self.assertEqual(result, {"columns": ["n", "note"], "rows": [{"n": 1, "note": "a"}], "row_count": 1})
        self.assertEqual(self.notes(), ["a"])
        self.assertEqual(self.owner("SELECT submitter::text, result IS NOT NULL FROM holdfast.receipts"), [("alice", "t")])

    def test_a_sequence_runs_in_order_and_gives_the_value_of_its_last_part(self):
        result = self.run_flow(f"{note('a')} ~> {note('b')} ~> 'SELECT count(*) AS c FROM log'")
        self.assertEqual(self.rows(result), [(2,)])
        self.assertEqual(self.notes(), ["a", "b"])

    def test_what_a_statement_gives_keeps_its_type(self):
        result = self.run_flow("""$$SELECT 1::int AS i, 9223372036854775807 AS big, 12345678901234567890.10::numeric AS n, true AS b,
            NULL::text AS nothing, '2024-02-29 12:00:00'::timestamp AS t, '{"a": [1, "x"]}'::jsonb AS j, ARRAY[1, 2] AS list,
            'é ''quoted''' AS s, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid AS u, '\\x01'::bytea AS bytes$$""")
        self.assertEqual(result["rows"], [{
            "i": 1, "big": 9223372036854775807, "n": "12345678901234567890.10", "b": True, "nothing": None,
            "t": "2024-02-29T12:00:00", "j": {"a": [1, "x"]}, "list": [1, 2], "s": "é 'quoted'",
            "u": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "bytes": "\\x01"}])
        self.assertEqual(result["columns"], ["i", "big", "n", "b", "nothing", "t", "j", "list", "s", "u", "bytes"])

    def test_a_statement_without_rows_and_several_statements(self):
        self.assertEqual(self.run_flow("'UPDATE log SET note = note'"), {"columns": [], "rows": [], "row_count": 0})
        self.assertEqual(self.run_flow("'CREATE TABLE made (a int)'")["row_count"], 0)
        self.run_flow("$$INSERT INTO made VALUES (1); INSERT INTO made VALUES (2)$$")
        self.assertEqual(self.alice("SELECT a FROM made ORDER BY a"), [("1",), ("2",)])

    def test_a_refused_statement_fails_the_flow_and_leaves_nothing(self):
        flow = self.start_flow(f"{note('a')} ~> 'INSERT INTO log VALUES (1, NULL)' ~> {note('never')}")
        error = self.fails(flow)
        self.assertEqual(error["code"], "sql.23502")
        self.assertIn("null value", error["message"])
        self.assertEqual(self.notes(), ["a"])
        self.assertEqual(self.owner.value("SELECT count(*) FROM holdfast.receipts"), "1")

    def test_a_rolled_back_start_leaves_nothing(self):
        self.alice("BEGIN")
        flow = self.start_flow(note("ghost"))
        self.alice("ROLLBACK")
        self.run_flow(note("after"))
        self.assertEqual(self.notes(), ["after"])
        self.assertIsNone(self.alice.value("SELECT holdfast.status($1)", flow))

    def test_results_are_substituted_quoted(self):
        self.alice("SELECT holdfast.setvar('table', 'log')")
        result = self.run_flow("""$$SELECT 'o''hara; --' AS s, -5 AS n, NULL::int AS nothing, 1.50 AS d$$ |=> 'a'
            ~> $$SELECT $a AS first, 3-$a.n AS difference, $a.nothing? IS NULL AS is_null, $a.d::numeric AS d,
                 '$a' AS literal, $x$ $a $x$ AS dollars, $a.row_count AS rows, (SELECT count(*) FROM {table}) AS logged -- $a$$""")
        self.assertEqual(self.rows(result), [("o'hara; --", 8, True, "1.50", "$a", " $a ", 1, 0)])

    def test_a_value_that_is_missing_fails_unless_it_is_optional(self):
        none = "$$SELECT note FROM log WHERE false$$ |=> 'a'"
        self.assertEqual(self.fails(self.start_flow(f"({none}) ~> 'SELECT $a'"))["code"], "flow.substitution")
        self.assertEqual(self.rows(self.run_flow(f"({none}) ~> 'SELECT $a? IS NULL AS x'")), [(True,)])
        self.assertEqual(self.fails(self.start_flow("($$SELECT NULL AS x$$ |=> 'a') ~> 'SELECT $a'"))["code"], "flow.substitution")

    def test_all_rows_of_a_result_can_be_selected_from(self):
        result = self.run_flow("""($$SELECT * FROM (VALUES (1, 'x'), (2, NULL)) v(a, "B c")$$ |=> 'r')
            ~> $$SELECT a, "B c" AS b FROM $r.* ORDER BY a$$""")
        self.assertEqual(self.rows(result), [(1, "x"), (2, None)])

    def test_a_name_that_is_not_known_stays(self):
        self.assertEqual(self.fails(self.start_flow("'SELECT $nobody'"))["code"], "sql.42601")

    def test_signals_that_come_early_are_kept(self):
        self.alice("BEGIN")
        flow = self.start_flow(f"{note('a')} ~> (holdfast.wait_for_signal('go') |=> 's') ~> $$SELECT $s.data AS d$$")
        self.alice("SELECT holdfast.signal($1, 'go', '{\"x\": 1}')", flow)
        self.alice("COMMIT")
        self.assertEqual(json.loads(self.await_result(self.alice, flow)["rows"][0]["d"]), {"x": 1})

    def test_a_signal_in_time_and_one_that_is_late(self):
        flow = self.start_flow(f"(holdfast.wait_for_signal('go', 600) |=> 's') ~> {note('went')}")
        self.wait_for_status(flow, "running")
        self.alice("SELECT holdfast.signal($1, 'other', '1')", flow)
        self.alice("SELECT holdfast.signal($1, 'go', '1')", flow)
        self.await_result(self.alice, flow)
        late = self.run_flow("holdfast.wait_for_signal('go', 0.05)")
        self.assertEqual(late, {"name": "go", "timed_out": True, "data": None})
        ignored = self.alice.value("SELECT holdfast.signal($1, 'go', '1')", flow)
        self.wait_for_status(ignored, "ignored")

    def test_cancel_ends_a_flow_and_its_statement(self):
        flow = self.start_flow(f"$$SELECT pg_sleep(600)$$ ~> {note('never')}")
        wait_until(self.is_busy)
        self.alice("SELECT holdfast.cancel($1, 'enough')", flow)
        self.wait_for_status(flow, "cancelled")
        wait_until(lambda: not self.is_busy())
        self.assertEqual(self.notes(), [])
        again = self.alice.value("SELECT holdfast.cancel($1)", flow)
        self.wait_for_status(again, "ignored")
        self.assertEqual(self.status(flow), "cancelled")


class Control(FlowTest):
    def setUp(self):
        super().setUp()
        self.serve()

    def test_a_join_runs_all_and_gives_their_values_in_order(self):
        result = self.run_flow("$$SELECT 1 AS x FROM pg_sleep(0.2)$$ & $$SELECT 2 AS x$$ & $$SELECT 3 AS x$$")
        self.assertEqual([self.rows(part) for part in result], [[(1,)], [(2,)], [(3,)]])

    def test_a_join_waits_for_all_and_reports_the_first_failure_in_order(self):
        flow = self.start_flow(f"$$SELECT 1/0 FROM pg_sleep(0.2)$$ & $$SELECT nothing$$ & {note('ran')}")
        self.assertEqual(self.fails(flow)["code"], "sql.22012")
        self.assertEqual(self.notes(), ["ran"])

    def test_names_of_branches_are_seen_after_the_join_and_not_beside_it(self):
        result = self.run_flow("""(($$SELECT 1 AS v$$ |=> 'a') & ($$SELECT 2 AS v$$ |=> 'b')) ~> $$SELECT $a + $b AS sum$$""")
        self.assertEqual(self.rows(result), [(3,)])
        flow = self.start_flow("""($$SELECT 1 AS v$$ |=> 'a') & (holdfast.sleep(0.3) ~> $$SELECT $a$$)""")
        self.assertEqual(self.fails(flow)["code"], "sql.42601")

    def test_a_race_ends_with_the_first_and_gives_up_the_others(self):
        result = self.run_flow(f"($$SELECT 'fast' AS w$$ |=> 'w') | (holdfast.sleep(600) ~> {note('never')})")
        self.assertEqual(self.rows(result), [("fast",)])
        flow = self.start_flow(f"$$SELECT 1/0$$ | (holdfast.sleep(600) ~> {note('never')})")
        self.assertEqual(self.fails(flow)["code"], "sql.22012")
        self.assertEqual(self.notes(), [])

    def test_a_signal_wins_a_race_and_the_loser_never_goes_on(self):
        flow = self.start_flow(f"(holdfast.wait_for_signal('go') ~> {note('signal')}) | (holdfast.sleep(600) ~> {note('never')})")
        self.alice("SELECT holdfast.signal($1, 'go', 'null')", flow)
        self.await_result(self.alice, flow)
        self.assertEqual(self.notes(), ["signal"])

    def test_conditions(self):
        for value, holds in (("true", True), ("false", False), ("NULL::text", False), ("0", False), ("7", True), ("''", False),
                             ("'f'", False), ("'no'", False), ("'false'", False), ("'x'", True), ("0.00", False), ("0.1", True)):
            result = self.run_flow(f"$$SELECT {value}$$ ?> 'SELECT 1 AS x' !> 'SELECT 2 AS x'")
            self.assertEqual(self.rows(result), [(1 if holds else 2,)], value)
        self.assertEqual(self.rows(self.run_flow("'SELECT 1 WHERE false' ?> 'SELECT 1 AS x' !> 'SELECT 2 AS x'")), [(2,)])
        self.assertIsNone(self.run_flow("'SELECT false' ?> 'SELECT 1'"))
        # A signal that has timed out is an object, and so it holds.
        self.assertEqual(self.rows(self.run_flow("holdfast.wait_for_signal('s', 0.01) ?> 'SELECT 1 AS x' !> 'SELECT 2 AS x'")), [(1,)])

    def test_if_rows_counts_the_rows_of_a_result(self):
        rows = "(($$SELECT 1 WHERE {}$$ |=> 'r') ~> holdfast.if_rows('r', 'SELECT ''some'' AS x', 'SELECT ''none'' AS x'))"
        self.assertEqual(self.rows(self.run_flow(rows.format("true"))), [("some",)])
        self.assertEqual(self.rows(self.run_flow(rows.format("false"))), [("none",)])
        self.assertEqual(self.fails(self.start_flow("holdfast.if_rows('r', 'SELECT 1')"))["code"], "flow.no_rows")

    def test_a_loop_runs_while_its_condition_holds_and_its_prefix_and_suffix_run_once(self):
        self.run_flow(f"{note('prefix')} ~> holdfast.loop({note('body')}, $$SELECT count(*) < 4 FROM log$$) ~> {note('suffix')}")
        self.assertEqual(self.notes(), ["prefix", "body", "body", "body", "suffix"])

    def test_around_a_nested_loop_everything_runs_as_often_as_it_should(self):
        inner = f"holdfast.loop({note('inner')}, $$SELECT count(*) % 3 <> 0 FROM log WHERE note = 'inner'$$)"
        self.run_flow(f"{note('prefix')} ~> holdfast.loop({note('before')} ~> {inner} ~> {note('after')}, $$SELECT count(*) < 2 FROM log WHERE note = 'after'$$) "
                      f"~> {note('suffix')}")
        self.assertEqual(self.notes(), ["prefix", *(["before", "inner", "inner", "inner", "after"] * 2), "suffix"])

    def test_results_that_are_named_in_a_loop_are_kept_for_the_next_round_and_after_it(self):
        result = self.run_flow("""($$SELECT 0 AS n$$ |=> 'c') ~> holdfast.loop($$SELECT $c.n + 1 AS n$$ |=> 'c', $$SELECT $c.n < 4$$) ~> $$SELECT $c.n AS n$$""")
        self.assertEqual(self.rows(result), [(4,)])
        # Also where the loop is the whole flow.
        whole = "holdfast.loop(holdfast.on_error($$SELECT $c.n + 1 AS n$$, $$SELECT 1 AS n$$) |=> 'c', $$SELECT $c.n < 3$$)"
        self.assertEqual(self.rows(self.run_flow(whole)), [(3,)])

    def test_of_branches_that_end_badly_the_first_in_their_order_decides(self):
        self.assertEqual(self.run_flow("@> ((holdfast.sleep(0.2) ~> holdfast.break('1')) & $$SELECT 1/0$$)"), 1)
        self.assertEqual(self.fails(self.start_flow("@> ($$SELECT 1/0 FROM pg_sleep(0.2)$$ & holdfast.break('1'))"))["code"], "sql.22012")

    def test_of_a_race_only_the_names_of_the_winner_are_seen(self):
        race = "(($$SELECT 1 AS v$$ |=> 'a') | (holdfast.sleep(600) ~> ($$SELECT 2 AS v$$ |=> 'b')))"
        self.assertEqual(self.rows(self.run_flow(race + " ~> $$SELECT $a AS x$$")), [(1,)])
        self.assertEqual(self.fails(self.start_flow(race + " ~> $$SELECT $b AS x$$"))["code"], "sql.42601")

    def test_a_loop_that_loses_a_race_ends(self):
        flow = self.start_flow(f"(@> ({note('round')} ~> holdfast.sleep(0.05))) | holdfast.wait_for_signal('stop')")
        wait_until(lambda: len(self.notes()) > 2)
        self.alice("SELECT holdfast.signal($1, 'stop', 'null')", flow)
        self.await_result(self.alice, flow)
        rounds = len(self.notes())
        time.sleep(0.5)
        self.assertEqual(len(self.notes()), rounds)

    def test_a_signal_is_taken_once_and_by_all_that_wait_for_it(self):
        flow = self.start_flow("(holdfast.wait_for_signal('s') |=> 'a') ~> (holdfast.wait_for_signal('s') |=> 'b') ~> $$SELECT $a.data AS a, $b.data AS b$$")
        for data in ("1", "2"):
            self.alice("SELECT holdfast.signal($1, 's', $2)", flow, data)
        self.assertEqual(self.rows(self.await_result(self.alice, flow)), [(1, 2)])
        both = self.start_flow("holdfast.wait_for_signal('s') & holdfast.wait_for_signal('s')")
        self.wait_for_status(both, "running")
        self.alice("SELECT holdfast.signal($1, 's', '7')", both)
        self.assertEqual([part["data"] for part in self.await_result(self.alice, both)], [7, 7])

    def test_more_flows_than_connections_all_finish(self):
        flows = [self.start_flow(f"$$SELECT pg_sleep(0.2)$$ ~> {note(str(n))}") for n in range(40)]
        for flow in flows:
            self.await_result(self.alice, flow)
        self.assertEqual(sorted(map(int, self.notes())), list(range(40)))

    def test_explain_shows_a_flow_that_runs(self):
        flow = self.start_flow("'SELECT 1' ~> holdfast.wait_for_signal('go')")
        self.wait_for_status(flow, "running")
        self.assertEqual(self.alice.value("SELECT holdfast.explain($1::uuid)", flow), "running\nseq\n  sql SELECT 1\n  signal go")

    def test_a_break_leaves_the_nearest_loop_with_its_value(self):
        body = f"{note('b')} ~> ($$SELECT count(*) >= 3 FROM log$$ ?> holdfast.break('{{\"n\": 3}}'))"
        self.assertEqual(self.run_flow(f"holdfast.loop({body})"), {"n": 3})
        self.assertEqual(self.notes(), ["b", "b", "b"])
        self.assertEqual(self.run_flow("@> holdfast.break('a text')"), "a text")
        self.assertIsNone(self.run_flow("holdfast.loop(holdfast.loop(holdfast.break()) ~> holdfast.break())"))
        self.assertEqual(self.run_flow("@> ('SELECT 1' & holdfast.break('7'))"), 7)

    def test_a_break_outside_of_a_loop_fails(self):
        self.assertEqual(self.fails(self.start_flow("'SELECT 1' ~> holdfast.break()"))["code"], "flow.break_outside_loop")

    def test_joins_and_races_inside_a_loop(self):
        self.run_flow(f"holdfast.loop(({note('j1')} & {note('j2')}) ~> ({note('r')} | holdfast.sleep(600)), $$SELECT count(*) < 9 FROM log$$)")
        self.assertEqual(sorted(self.notes()), sorted(["j1", "j2", "r"] * 3))

    def test_a_loop_without_effects_does_not_spin(self):
        flow = self.start_flow("@> holdfast.if_rows('r', 'SELECT 1')")
        self.assertEqual(self.fails(flow)["code"], "flow.no_rows")
        quiet = self.start_flow("('SELECT 1' |=> 'r') ~> @> holdfast.if_rows('r', holdfast.loop(holdfast.break()))")
        self.wait_for_status(quiet, "running")
        self.alice("SELECT holdfast.cancel($1)", quiet)
        self.wait_for_status(quiet, "cancelled")

    def test_retry_on_error_and_timeout(self):
        self.alice("CREATE SEQUENCE tries")
        # nextval is not undone with the transaction, so it counts the attempts.
        result = self.run_flow("""holdfast.on_error(holdfast.retry($$SELECT 1 / (nextval('tries') - nextval('tries') + 1)$$, 3, 0.01), 'SELECT $error.code AS code')""")
        self.assertEqual(self.rows(result), [("sql.22012",)])
        self.assertEqual(self.alice.value("SELECT last_value FROM tries"), "6")
        self.assertEqual(self.rows(self.run_flow("holdfast.retry($$SELECT 1 / (nextval('tries') - 7) AS x$$, 3, 0.01)")), [(1,)])
        flow = self.start_flow(f"holdfast.timeout($$SELECT pg_sleep(600)$$, 0.2) ~> {note('never')}")
        self.assertEqual(self.fails(flow)["code"], "flow.timeout")
        wait_until(lambda: not self.is_busy())
        self.assertEqual(self.rows(self.run_flow("holdfast.timeout('SELECT 1 AS x', 600)")), [(1,)])

    def test_each_runs_once_for_every_row(self):
        result = self.run_flow("""($$SELECT n FROM generate_series(1, 40) n$$ |=> 'r')
            ~> holdfast.each('r', $$INSERT INTO log (note) VALUES ($item.n::text) RETURNING note$$, at_once => 7)""")
        self.assertEqual([self.rows(part) for part in result], [[(str(n),)] for n in range(1, 41)])
        self.assertEqual(sorted(map(int, self.notes())), list(range(1, 41)))
        self.assertEqual(self.run_flow("($$SELECT 1 WHERE false$$ |=> 'r') ~> holdfast.each('r', 'SELECT 1')"), [])

    def test_a_wide_join_runs_every_branch(self):
        branches = ", ".join(f"$$INSERT INTO log (note) VALUES ('{n}')$$" for n in range(100))
        self.assertEqual(len(self.run_flow(f"holdfast.join({branches})")), 100)
        self.assertEqual(sorted(map(int, self.notes())), list(range(100)))

    def test_a_long_sequence(self):
        parts = ", ".join(f"'INSERT INTO log (note) VALUES (''{n}'')'" for n in range(60))
        self.run_flow(f"holdfast.seq({parts})")
        self.assertEqual(list(map(int, self.notes())), list(range(60)))

    def test_sleep_and_schedule(self):
        self.assertIsNone(self.run_flow("holdfast.sleep(0.05)"))
        flow = self.start_flow("holdfast.wait_for_schedule('* * * * *', 'Europe/Berlin')")
        self.wait_for_status(flow, "running")
        self.alice("SELECT holdfast.cancel($1)", flow)
        self.wait_for_status(flow, "cancelled")


class Web(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(int(self.path.strip("/")))
        self.end_headers()
        self.wfile.write(b"got " + body + b" " + self.headers["X-Who"].encode())

    def log_message(self, *_):
        pass


class Outside(FlowTest):
    def test_http_needs_a_permission_and_gives_status_and_body(self):
        web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
        threading.Thread(target=web.serve_forever, daemon=True).start()
        self.addCleanup(web.server_close)
        self.addCleanup(web.shutdown)
        self.serve("--http-hosts", f"127.0.0.1:{web.server_port}/private")
        ask = "holdfast.http('http://127.0.0.1:%d/{}', 'POST', 'n=$a.n', '{{\"X-Who\": \"{{who}}\"}}')" % web.server_port
        self.alice("SELECT holdfast.setvar('who', 'alice')")
        self.refuses("HF005", self.alice, "SELECT holdfast.start_flow(" + ask.format(200) + ")")
        self.owner("SELECT holdfast.grant_usage('alice', may_http => true)")
        flow = "($$SELECT 7 AS n$$ |=> 'a') ~> (" + ask + " |=> 'h') ~> $$SELECT $h.status AS status, $h.body AS body$$"
        self.assertEqual(self.rows(self.run_flow(flow.format(200))), [(200, "got n=7 alice")])
        self.assertEqual(self.rows(self.run_flow(flow.format(404))), [(404, "got n=7 alice")])
        self.assertEqual(self.fails(self.start_flow(flow.format(503)))["code"], "http.server_error")
        self.assertIn("http", self.fails(self.start_flow("holdfast.http('http://127.0.0.1:9/')"))["code"])

    def test_a_task_needs_a_permission_and_runs_on_a_worker(self):
        self.serve()
        task = """holdfast.task('{"taskType": "echo", "data": {"items": ["order $a.n", "{who}"]}}')"""
        self.alice("SELECT holdfast.setvar('who', 'alice')")
        self.refuses("HF005", self.alice, f"SELECT holdfast.start_flow({task})")
        self.owner("SELECT holdfast.grant_usage('alice', may_task => true)")
        self.refuses("HF005", self.bob, f"SELECT holdfast.start_flow({task})")
        flow = self.start_flow(f"($$SELECT 7 AS n$$ |=> 'a') ~> ({task} |=> 't') ~> $$SELECT $t.items AS items$$")
        # It waits for a worker, for as long as there is none.
        wait_until(lambda: self.owner("SELECT FROM holdfast.receipts WHERE result IS NOT NULL"))
        self.assertEqual(self.status(flow), "running")
        worker = subprocess.Popen([PROGRAM, "worker", "--server", f"http://127.0.0.1:{self.server.port}", "--dir", self.folder / "worker"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (worker.kill(), worker.wait(PATIENCE)))
        items = self.rows(self.await_result(self.alice, flow))[0][0]
        self.assertEqual([item["output"] if isinstance(item, dict) else item for item in json.loads(items)], ["order 7", "alice"])
        self.assertEqual(self.fails(self.start_flow("""holdfast.task('{"taskType": "echo", "resources": {"memroy": "1Gi"}}')"""))["code"], "flow.task")
        self.assertEqual(self.fails(self.start_flow("""holdfast.task('{"taskType": "echo", "data": "${other.x}"}')"""))["code"], "flow.task")
        # One that nobody can run is given up with its flow.
        waits = self.start_flow("""holdfast.task('{"taskType": "nobody/offers@1"}')""")
        self.wait_for_status(waits, "running")
        self.alice("SELECT holdfast.cancel($1)", waits)
        self.wait_for_status(waits, "cancelled")

    def test_metrics_and_why(self):
        self.serve("--postgres-sweep", 200)
        self.run_flow("'SELECT 1'")
        self.fails(self.start_flow("'SELECT 1/0'"))
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.server.port}/metrics").read().decode()
        found = dict(line.split(" ") for line in text.splitlines() if line.startswith("holdfast_postgres_"))
        self.assertEqual((found["holdfast_postgres_serving"], found["holdfast_postgres_steps_total"], found["holdfast_postgres_failed_steps_total"]),
                         ("1", "2", "1"))
        flow = self.start_flow("holdfast.wait_for_signal('go')")
        self.wait_for_status(flow, "running")
        why = lambda id: self.alice.value("SELECT holdfast.why($1)", id)
        command = re.search(r"It runs. On the server, (holdfast why .*) names what it waits for", why(flow))[1]
        done = subprocess.run([PROGRAM, *command.split()[1:], "--server", f"http://127.0.0.1:{self.server.port}"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout)
        later = self.alice.value("SELECT holdfast.start_flow('SELECT 1', run_at => now() + interval '1 day')")
        self.assertIn("It is to start at", why(later))
        self.server.stop()
        waits = self.start_flow("'SELECT 1'")
        wait_until(lambda: "No server serves its world" in why(waits), lambda: why(waits))
        self.assertIsNone(self.bob.value("SELECT holdfast.why($1)", flow))

    def test_await_and_variables_are_not_for_steps(self):
        self.serve()
        for statement in ("SELECT holdfast.await(gen_random_uuid())", "SELECT holdfast.setvar('a', 'b')", "SELECT holdfast.clearvars()"):
            self.assertEqual(self.fails(self.start_flow("$1", None, statement))["code"], "sql.HF005")
        # A step may start another flow, in its own transaction.
        inner = self.rows(self.run_flow("$$SELECT holdfast.start_flow('INSERT INTO log (note) VALUES (''inner'')') AS id$$"))[0][0]
        self.await_result(self.alice, inner)
        self.assertEqual(self.notes(), ["inner"])

    def test_an_idle_server_with_waiting_flows_asks_nothing(self):
        self.serve("--postgres-sweep", 3_600_000)
        flow = self.start_flow("'SELECT 1' ~> holdfast.wait_for_signal('go')")
        self.wait_for_status(flow, "running")
        with self.cluster.connect() as admin:
            said = lambda: admin("SELECT pid, state, query_start FROM pg_stat_activity WHERE application_name = 'holdfast' ORDER BY pid")
            wait_until(lambda: self.owner("SELECT FROM holdfast.receipts WHERE result IS NOT NULL") and {state for _, state, _ in said()} == {"idle"})
            time.sleep(0.5)  # what is under way after the step
            before = said()
            time.sleep(2)
            self.assertEqual(said(), before)


if __name__ == "__main__":
    unittest.main()
