#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the statements of a flow can reach: what their submitter can reach by hand, and nothing else."""
import json
import unittest

from flows import FlowTest, note


class Tenants(FlowTest):
    def setUp(self):
        super().setUp()
        self.serve()

    def oid(self, role):
        return self.owner.value("SELECT $1::regrole::oid", role)

    def test_a_statement_runs_as_its_submitter(self):
        result = self.run_flow("'SELECT current_user AS who, session_user AS session'")
        self.assertEqual(self.rows(result), [("alice", "hf_exec")])
        self.assertEqual(self.rows(self.run_flow("'SELECT current_user AS who'", self.bob)), [("bob",)])
        pool = self.connect("pool")
        pool("SET ROLE bob")
        self.assertEqual(self.rows(self.run_flow("'SELECT current_user AS who'", pool)), [("bob",)])

    def test_a_statement_cannot_become_another_role(self):
        for statement, state in (("RESET ROLE", "42501"), ("SET ROLE bob", "42501"), ("SET ROLE NONE", "42501"),
                                 ("SET SESSION AUTHORIZATION bob", "42501"), ("RESET SESSION AUTHORIZATION", "42501"),
                                 ("SELECT set_config('role', 'bob', false)", "42501"), ("DO $x$BEGIN EXECUTE 'RESET ROLE'; END$x$", "42501"),
                                 ("SELECT * FROM bob.log", "42501"), ("SELECT * FROM holdfast.worlds", "42501"),
                                 (f"SELECT holdfast_{self.oid('bob')}.run(gen_random_uuid(), 'n', '', 'SELECT 1', 'x')", "42501"),
                                 ("UPDATE holdfast.instances SET status = 'completed'", "42501"),
                                 ("SELECT holdfast.role_secret(0)", "42501"), ("SELECT holdfast.set_exec_role('alice')", "42501")):
            with self.subTest(statement):
                error = self.fails(self.start_flow("$1", None, statement))
                self.assertEqual(error["code"], "sql." + state, error)

    def test_of_secrets_receipts_and_variables_a_role_sees_its_own(self):
        self.run_flow("'SELECT 1'", self.bob)
        self.bob("SELECT holdfast.setvar('v', 'bob''s')")
        for table in ("receipts", "variables"):
            self.assertEqual(self.alice(f"SELECT * FROM holdfast.{table}"), [], table)
        self.assertEqual(self.alice("SELECT role::text FROM holdfast.roles"), [("alice",)])
        self.refuses("42501", self.alice, "INSERT INTO holdfast.receipts (submitter, node, flow) VALUES ('bob', 'n', gen_random_uuid())")
        self.refuses("42501", self.alice, "UPDATE holdfast.roles SET secret = ''")
        self.refuses("42501", self.alice, "INSERT INTO holdfast.variables VALUES ('bob', 'v', 'x')")
        self.assertEqual(self.alice("UPDATE holdfast.variables SET value = 'x' WHERE name = 'v' RETURNING name"), [])

    def test_the_executor_role_can_do_nothing_by_itself(self):
        executor = self.connect("hf_exec")
        flow = self.start_flow("'SELECT 1'")
        self.await_result(self.alice, flow)
        for statement in ("SELECT * FROM holdfast.receipts", "SELECT * FROM holdfast.roles", "SELECT * FROM alice.log",
                          "SELECT holdfast.start_flow('SELECT 1')", "SELECT holdfast.status(gen_random_uuid())",
                          f"SELECT holdfast.run_node('{flow}', 'n', '', 'SELECT 1', 'x')", f"CREATE TABLE holdfast_{self.oid('alice')}.t ()"):
            with self.subTest(statement):
                self.refuses("42501", executor, statement)
        self.refuses("HF011", executor, f"SELECT holdfast_{self.oid('alice')}.run($1, 'n', '', 'DELETE FROM alice.log', 'x')", flow)

    def test_only_the_submitter_and_the_owner_can_put_functions_where_the_server_calls_them(self):
        self.refuses("42501", self.bob, f"CREATE FUNCTION holdfast_{self.oid('alice')}.run(uuid, text, text, text, text) RETURNS json LANGUAGE sql AS ''")
        self.refuses("42501", self.bob, f"CREATE OR REPLACE FUNCTION holdfast_{self.oid('alice')}.other() RETURNS int LANGUAGE sql AS 'SELECT 1'")

    def test_a_function_that_is_altered_to_run_as_its_caller_gains_nothing(self):
        place = f"holdfast_{self.oid('alice')}.run(uuid, text, text, text, text)"
        self.alice(f"ALTER FUNCTION {place} SECURITY INVOKER")
        error = self.fails(self.start_flow("'SELECT current_user'"))
        self.assertEqual(error["code"], "sql.42501")
        # The same with a body of the tenant's own, which runs as the executor: it can reach nothing.
        self.alice(f"""CREATE OR REPLACE FUNCTION holdfast_{self.oid('alice')}.run(flow uuid, node text, path text, query text, proof text)
            RETURNS json LANGUAGE plpgsql SECURITY INVOKER AS $f$
            DECLARE answer json := '{{}}';
            BEGIN
              BEGIN PERFORM * FROM bob.log; answer := '"read bob"'; EXCEPTION WHEN insufficient_privilege THEN NULL; END;
              BEGIN PERFORM secret FROM holdfast.roles; answer := '"read secrets"'; EXCEPTION WHEN insufficient_privilege THEN NULL; END;
              BEGIN PERFORM holdfast_{self.oid('bob')}.run(flow, node, path, 'DELETE FROM bob.log', proof); answer := '"ran as bob"';
                EXCEPTION WHEN OTHERS THEN answer := to_json(SQLSTATE); END;
              RETURN answer;
            END $f$""")
        self.assertEqual(self.run_flow("'SELECT 1'"), "HF011")
        # Everybody else goes on.
        self.assertEqual(self.rows(self.run_flow("'SELECT current_user AS who'", self.bob)), [("bob",)])
        self.alice("SELECT holdfast.enroll()")
        self.assertEqual(self.rows(self.run_flow("'SELECT current_user AS who'")), [("alice",)])

    def test_a_deferred_trigger_fires_as_the_submitter(self):
        self.alice("CREATE TABLE who (name text, session text)")
        self.alice("GRANT INSERT ON who TO PUBLIC")
        self.alice("""CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN INSERT INTO alice.who VALUES (current_user, session_user); RETURN NULL; END'""")
        self.alice("CREATE TABLE watched (a int)")
        self.alice("CREATE CONSTRAINT TRIGGER t AFTER INSERT ON watched DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tell()")
        self.run_flow("'INSERT INTO watched VALUES (1)'")
        self.assertEqual(self.alice("SELECT name, session FROM who"), [("alice", "hf_exec")])
        # Deferred again by the statement itself: it would fire at COMMIT, as the executor, which may not even see the schema.
        self.run_flow("$$SET CONSTRAINTS ALL DEFERRED; INSERT INTO watched VALUES (2)$$")
        self.assertEqual({name for name, in self.alice("SELECT name FROM who")}, {"alice"})

    def test_a_cursor_with_hold_does_not_run_as_another_role(self):
        self.alice("CREATE TABLE who (name text)")
        self.alice("GRANT INSERT ON who TO PUBLIC")
        self.alice("GRANT USAGE ON SCHEMA alice TO PUBLIC")
        self.alice("CREATE FUNCTION tell() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO alice.who VALUES (current_user); RETURN 1; END'")
        self.run_flow("'DECLARE c CURSOR WITH HOLD FOR SELECT alice.tell()'")
        self.assertEqual([name for name, in self.alice("SELECT name FROM who") if name != "alice"], [])

    def test_what_a_statement_leaves_in_the_session_is_not_seen_by_another_role(self):
        self.run_flow("$$CREATE TEMP TABLE left_over AS SELECT 'secret' AS s; SELECT set_config('app.tenant', 'alice', false)$$")
        self.run_flow("$$SELECT pg_advisory_lock(77)$$")
        for _ in range(20):
            result = self.run_flow("$$SELECT current_setting('app.tenant', true) AS t, to_regclass('pg_temp.left_over')::text AS r$$", self.bob)
            self.assertIn(self.rows(result), ([(None, None)], [("", None)]))

    def test_objects_in_front_of_the_search_path_change_nothing(self):
        for name, body in (("sha256(bytea)", "SELECT '\\x00'::bytea"), ("to_json(text)", "SELECT '\"evil\"'::json"),
                           ("row_to_json(anyelement)", "SELECT '{}'::json"), ("set_config(text, text, boolean)", "SELECT 'evil'::text")):
            returns = {"sha256": "bytea", "set_config": "text"}.get(name.split("(")[0], "json")
            self.alice(f"CREATE FUNCTION alice.{name} RETURNS {returns} LANGUAGE sql AS $f$ {body} $f$")
        self.alice("SET search_path = alice, pg_catalog, holdfast")
        self.assertEqual(self.rows(self.run_flow("'SELECT 1 AS x'")), [(1,)])

    def test_a_forged_body_runs_as_the_role_that_inserted_it(self):
        forged = {"flow": {"kind": "sql", "text": "SELECT current_user AS who"}, "role": int(self.oid("bob")), "path": "", "key": "x",
                  "submitter": "bob", "nodes": [{"kind": "sql", "text": "DELETE FROM bob.log"}]}
        flow = self.alice.value("INSERT INTO holdfast.inbox (verb, workflow, body, key) VALUES ('start', 'sys/Flow@1', $1, 'victim') RETURNING id",
                                json.dumps(forged))
        self.assertEqual(self.rows(self.await_result(self.alice, flow)), [("alice",)])
        self.assertEqual(self.owner.value("SELECT key FROM holdfast.instances WHERE id = $1", flow), flow)
        for body, state in (({"flow": {"kind": "evil"}}, "HF002"), ({}, "HF002"), ({"flow": {"kind": "sql", "text": "VACUUM"}}, "HF002"),
                            ({"flow": {"kind": "seq", "children": [{"text": "x"}]}}, "HF002")):
            self.refuses(state, self.alice, "INSERT INTO holdfast.inbox (verb, workflow, body) VALUES ('start', 'sys/Flow@1', $1)", json.dumps(body))
        odd = self.alice.value("INSERT INTO holdfast.inbox (verb, workflow, body) VALUES ('start', 'sys/Flow@1', $1) RETURNING id",
                               json.dumps({"flow": {"kind": "sql", "text": "SELECT 1", "extra": 1}}))
        self.wait_for_status(odd, "refused")

    def test_what_is_changed_after_the_start_changes_nothing(self):
        flow = self.start_flow(f"holdfast.wait_for_signal('go') ~> {note('original')}")
        self.wait_for_status(flow, "running")
        self.owner("UPDATE holdfast.inbox SET body = jsonb_set(body, '{nodes,2,text}', '\"DELETE FROM log\"'), submitter = 'bob' WHERE id = $1", flow)
        self.owner("UPDATE holdfast.inbox SET submitter = 'alice' WHERE id = $1", flow)
        self.alice("SELECT holdfast.setvar('late', 'x')")
        self.alice("SELECT holdfast.signal($1, 'go', 'null')", flow)
        self.await_result(self.alice, flow)
        self.assertEqual(self.notes(), ["original"])

    def test_another_role_can_neither_signal_nor_cancel_nor_explain(self):
        flow = self.start_flow("holdfast.wait_for_signal('go')")
        self.refuses("HF003", self.bob, "SELECT holdfast.signal($1, 'go', '1')", flow)
        self.refuses("HF003", self.bob, "SELECT holdfast.cancel($1)", flow)
        self.assertIsNone(self.bob.value("SELECT holdfast.explain($1::uuid)", flow))
        self.assertIn("signal go", self.alice.value("SELECT holdfast.explain($1::uuid)", flow))

    def test_permissions_are_needed_and_can_be_taken_back(self):
        self.refuses("HF005", self.alice, "SELECT holdfast.start_flow(holdfast.http('http://127.0.0.1/'))")
        self.owner("SELECT holdfast.revoke_usage('bob')")
        self.owner("SELECT holdfast.grant_usage('bob')")
        self.refuses("HF005", self.bob, "SELECT holdfast.start_flow('SELECT 1')")
        self.refuses("HF005", self.bob, "SELECT holdfast.enroll()")
        self.owner("SELECT holdfast.grant_usage('bob', may_run_sql => true)")
        self.refuses("HF005", self.bob, "SELECT holdfast.start_flow('SELECT 1')")
        self.bob("SELECT holdfast.enroll()")
        # The secret is another one now, which the server finds out.
        self.assertEqual(self.rows(self.run_flow("'SELECT 1 AS x'", self.bob)), [(1,)])

    def test_a_superuser_and_a_role_with_rights_are_refused(self):
        admin = self.connect("super")
        self.owner("SELECT holdfast.grant_usage('super', may_run_sql => true)")
        self.refuses("HF005", admin, "SELECT holdfast.enroll()")
        for role in ("super", "owner", "pool"):
            self.refuses("HF005", self.owner, "SELECT holdfast.set_exec_role($1)", role)
        self.refuses("HF003", self.owner, "SELECT holdfast.set_exec_role('nobody at all')")

    def test_the_engine_takes_flows_from_the_bridge_only(self):
        import subprocess
        from serving import PROGRAM
        done = subprocess.run([PROGRAM, "start", "sys/Flow@1", "x", "sys/FlowStarted@1", '{"key":"x","role":10,"program":{}}',
                               "--server", f"http://127.0.0.1:{self.server.port}"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("x", self.in_engine())


if __name__ == "__main__":
    unittest.main()
