#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one role can do to another, and to the bridge, through the schema: nothing."""
import subprocess
import unittest

from cluster import PATIENCE
from schema import OTHER_WORLD, WORLD, SchemaTest, order, paid

AWAKE = f"hashtextextended('holdfast awake {WORLD}', 0)"
COMMIT = f"hashtextextended('holdfast commit {WORLD}', 0)"
CHANNEL = "holdfast_" + WORLD.replace("-", "")


class Tenants(SchemaTest):
    def test_a_role_sees_only_what_it_submitted(self):
        started = self.start(self.alice)
        self.run_instance(started)
        self.end_instance(started, result='"secret"')
        for table in ("inbox", "instances"):
            self.assertEqual(self.bob(f"SELECT * FROM holdfast.{table}"), [])
        self.assertEqual(self.bob("SELECT holdfast.status($1), holdfast.result($1), holdfast.error($1)", started),
                         [(None, None, None)])
        self.assertEqual(self.bob("SELECT * FROM holdfast.list()"), [])
        self.refuses("HF003", self.bob, "SELECT holdfast.await($1)", started)
        self.assertEqual(self.alice.value("SELECT holdfast.result($1)", started), '"secret"')

    def test_a_leaky_function_sees_no_rows_of_others(self):
        self.start(self.alice)
        self.bob("CREATE FUNCTION pg_temp.leak(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS "
                 "$$ BEGIN RAISE EXCEPTION 'leaked %', t; END $$")
        self.assertEqual(self.bob("SELECT FROM holdfast.inbox WHERE pg_temp.leak(key)"), [])

    def test_a_role_cannot_signal_or_cancel_what_another_started(self):
        for started in (self.start(self.alice), self.start(self.alice, "o-2")):
            self.refuses("HF003", self.bob, "SELECT holdfast.signal($1, 'shop/Paid@1', $2)", started, paid())
            self.refuses("HF003", self.bob, "SELECT holdfast.cancel($1)", started)
            self.run_instance(started)
            self.refuses("HF003", self.bob, "SELECT holdfast.cancel($1)", started)
        self.assertEqual(self.inbox("verb"), [("start",), ("start",)])

    def test_a_role_cannot_change_or_remove_rows_not_even_its_own(self):
        started = self.start(self.alice)
        self.run_instance(started)
        for sql in ("UPDATE holdfast.inbox SET outcome = 'accepted'", "DELETE FROM holdfast.inbox", "TRUNCATE holdfast.inbox",
                    "UPDATE holdfast.instances SET result = '1'", "DELETE FROM holdfast.instances",
                    "INSERT INTO holdfast.instances SELECT * FROM holdfast.instances", "SELECT FROM holdfast.inbox FOR UPDATE",
                    "SELECT * FROM holdfast.worlds", "SELECT * FROM holdfast.installation",
                    "UPDATE holdfast.workflows SET world = world", f"SELECT holdfast.publish('{WORLD}', '{{}}')",
                    "SELECT holdfast.grant_usage('alice')", "SELECT holdfast.revoke_usage('bob')",
                    "ALTER TABLE holdfast.inbox DISABLE TRIGGER ALL", "ALTER TABLE holdfast.inbox DISABLE ROW LEVEL SECURITY",
                    "CREATE TRIGGER t BEFORE INSERT ON holdfast.inbox FOR EACH ROW EXECUTE FUNCTION holdfast.start_for_row()",
                    "CREATE TABLE holdfast.mine ()", "DO $$ BEGIN LOCK TABLE holdfast.inbox IN SHARE MODE; END $$",
                    "ALTER FUNCTION holdfast.fill_request() SECURITY DEFINER", "DROP FUNCTION holdfast.wake_bridge() CASCADE",
                    "CREATE OR REPLACE FUNCTION holdfast.fill_request() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
                    "ALTER FUNCTION holdfast.start(text, jsonb, text, text, timestamptz, uuid) SET search_path = evil",
                    "SET session_replication_role = replica"):
            with self.subTest(sql):
                self.refuses("42501", self.alice, sql)

    def test_a_row_inserted_directly_is_filled_and_checked_like_any_other(self):
        for column, value in (("submitter", "10"), ("id", f"'{WORLD}'"), ("outcome", "'accepted'"), ("xact", "'3'"),
                              ("created", "now()"), ("decided", "now()"), ("detail", "'x'")):
            self.refuses("42501", self.bob, f"INSERT INTO holdfast.inbox (verb, workflow, body, {column}) "
                                            f"VALUES ('start', 'shop/Order@1', '{order()}', {value})")
        self.refuses("HF002", self.bob, "INSERT INTO holdfast.inbox (verb, workflow, body) VALUES ('start', 'shop/Order@1', '{}')")
        self.refuses("23514", self.bob, f"INSERT INTO holdfast.inbox (verb, workflow, body, world, due) VALUES ('evil', 'shop/Order@1', '{{}}', '{WORLD}', now())")
        victim = self.start(self.alice)
        # A start that names a target, a world of its own, or a reason gets none of them.
        self.bob(f"INSERT INTO holdfast.inbox (verb, workflow, body, target, reason) VALUES ('start', 'shop/Order@1', '{order('b')}', '{victim}', 'r')")
        self.refuses("HF001", self.bob, f"INSERT INTO holdfast.inbox (verb, workflow, body, world) VALUES ('start', 'shop/Order@1', '{order('b')}', '{OTHER_WORLD}')")
        self.refuses("HF003", self.bob, f"INSERT INTO holdfast.inbox (verb, target) VALUES ('cancel', '{victim}')")
        # A cancel or signal of its own instance cannot name the workflow or key of another.
        own = self.start(self.bob, "c")
        self.bob(f"INSERT INTO holdfast.inbox (verb, target, workflow, key, world) VALUES ('cancel', '{own}', 'shop/Order@1', 'o-1', '{OTHER_WORLD}')")
        self.assertEqual(self.inbox("verb, key, target, reason, world", "submitter = 'bob'::regrole"),
                         [("start", "b", None, None, WORLD), ("start", "c", None, None, WORLD), ("cancel", "c", own, None, WORLD)])

    def test_only_a_role_that_may_send_sends(self):
        self.refuses("42501", self.bob, "SELECT holdfast.send('shop/Paid@1', $1)", paid())
        self.refuses("HF005", self.bob, f"INSERT INTO holdfast.inbox (verb, event, body) VALUES ('send', 'shop/Paid@1', '{paid()}')")
        self.owner("SELECT holdfast.grant_usage('bob', may_send => true)")
        self.bob("SELECT holdfast.send('shop/Paid@1', $1)", paid())
        self.refuses("HF001", self.bob, "SELECT holdfast.send('shop/None@1', '{}')")
        self.assertEqual(self.inbox("verb, event, submitter::regrole"), [("send", "shop/Paid@1", "bob")])

    def test_without_usage_nothing_can_be_called_and_revoke_takes_everything_back(self):
        pool = self.connect("pool")
        self.refuses("42501", pool, "SELECT holdfast.start('shop/Order@1', $1)", order())
        self.owner("SELECT holdfast.grant_usage('bob', may_send => true)")
        self.owner("SELECT holdfast.revoke_usage('bob')")
        self.refuses("42501", self.bob, "SELECT holdfast.start('shop/Order@1', $1)", order())
        self.owner("GRANT USAGE ON SCHEMA holdfast TO bob")
        for sql in ("SELECT holdfast.status(gen_random_uuid())", "SELECT FROM holdfast.inbox", "SELECT FROM holdfast.workflows",
                    "INSERT INTO holdfast.inbox (verb) VALUES ('start')", "SELECT holdfast.send('shop/Paid@1', '{}')"):
            self.refuses("42501", self.bob, sql)

    def test_a_role_that_is_made_again_under_the_name_sees_nothing_of_the_one_before(self):
        with self.cluster.connect() as admin:
            admin("DROP ROLE IF EXISTS carol")
            admin("CREATE ROLE carol LOGIN")
        self.owner("SELECT holdfast.grant_usage('carol')")
        with self.cluster.connect("carol", self.database) as carol:
            self.start(carol)
        self.owner("SELECT holdfast.revoke_usage('carol')")
        with self.cluster.connect() as admin:
            admin("DROP ROLE carol")
            admin("CREATE ROLE carol LOGIN")
        self.owner("SELECT holdfast.grant_usage('carol')")
        with self.cluster.connect("carol", self.database) as carol:
            self.assertEqual(carol("SELECT * FROM holdfast.list()"), [])
        self.owner("SELECT holdfast.revoke_usage('carol')")


class Identity(SchemaTest):
    def test_under_set_role_the_submitter_is_the_role_that_is_set(self):
        pool = self.connect("pool")
        pool("SET ROLE alice")
        self.start(pool)
        pool("SET ROLE bob")
        self.start(pool, "o-2")
        self.assertEqual(self.inbox("key, submitter::regrole"), [("o-1", "alice"), ("o-2", "bob")])
        self.assertEqual(pool("SELECT key FROM holdfast.list()"), [("o-2",)])

    def test_a_role_that_is_reset_before_commit_changes_nothing(self):
        # The trigger that wakes the bridge then runs as `pool`, which has no rights to the schema.
        pool = self.connect("pool")
        for key, reset in (("o-1", "RESET ROLE"), ("o-2", "SET ROLE bob"), ("o-3", "SET ROLE none")):
            pool("BEGIN")
            pool("SET ROLE alice")
            self.start(pool, key)
            pool(reset)
            pool("COMMIT")
        self.assertEqual(self.inbox("key, submitter::regrole"), [("o-1", "alice"), ("o-2", "alice"), ("o-3", "alice")])

    def test_session_authorization_of_a_superuser_is_the_submitter(self):
        admin = self.connect("super")
        admin("SET SESSION AUTHORIZATION alice")
        self.start(admin)
        self.refuses("42501", self.connect("alice"), "SET SESSION AUTHORIZATION bob")
        self.assertEqual(self.inbox("submitter::regrole"), [("alice",)])

    def test_inside_a_definer_function_the_submitter_is_its_owner(self):
        self.owner("CREATE FUNCTION public.order_tea() RETURNS uuid LANGUAGE sql SECURITY DEFINER AS "
                   f"$$ SELECT holdfast.start('shop/Order@1', '{order()}') $$")
        self.bob("SELECT public.order_tea()")
        self.assertEqual(self.inbox("submitter::regrole"), [("owner",)])
        # Made INVOKER by its owner, it does not lend the rights of the owner any more.
        self.owner("ALTER FUNCTION public.order_tea() SECURITY INVOKER")
        self.bob("SELECT public.order_tea()")
        self.assertEqual(self.inbox("submitter::regrole"), [("owner",), ("bob",)])

    def test_a_deferred_trigger_of_a_tenant_submits_as_the_role_of_the_commit(self):
        # PostgreSQL runs deferred triggers as the role that commits. What bob's trigger submits is
        # then of the role that committed, and never of the owner of the schema.
        with self.cluster.connect("super", self.database) as admin:
            admin("GRANT CREATE ON SCHEMA public TO bob")
        self.bob("CREATE TABLE public.bait (x int)")
        self.bob("GRANT INSERT ON public.bait TO alice")
        self.bob("CREATE FUNCTION public.spring() RETURNS trigger LANGUAGE plpgsql AS "
                 f"$$ BEGIN PERFORM holdfast.start('shop/Order@1', '{order()}'); RETURN NULL; END $$")
        self.bob("CREATE CONSTRAINT TRIGGER t AFTER INSERT ON public.bait DEFERRABLE INITIALLY DEFERRED "
                 "FOR EACH ROW EXECUTE FUNCTION public.spring()")
        self.alice("INSERT INTO public.bait VALUES (1)")
        self.assertEqual(self.inbox("submitter::regrole"), [("alice",)])

    def test_a_cursor_with_hold_submits_as_the_role_that_declared_it(self):
        pool = self.connect("pool")
        pool("BEGIN")
        pool("SET ROLE alice")
        pool(f"DECLARE c CURSOR WITH HOLD FOR SELECT holdfast.start('shop/Order@1', '{order()}')")
        pool("COMMIT")  # runs the query
        self.assertEqual(self.inbox("submitter::regrole"), [("alice",)])


    def test_a_dump_names_the_submitters(self):
        # In another cluster the oids are others.
        self.start(self.alice)
        at = ["-h", self.cluster.folder, "-U", "super", "-d"]
        dump = subprocess.run([self.cluster.programs / "pg_dump", *at, self.database], capture_output=True, text=True, check=True, timeout=PATIENCE)
        self.assertRegex(dump.stdout, r"(?m)^COPY holdfast.inbox .*\n.*\talice\t")
        copy = self.database + "d"
        with self.cluster.connect() as admin:
            admin(f"CREATE DATABASE {copy} OWNER owner TEMPLATE template0")
        self.addCleanup(lambda: self.cluster.connect()(f"DROP DATABASE {copy} WITH (FORCE)"))
        subprocess.run([self.cluster.programs / "psql", *at, copy, "-q", "-v", "ON_ERROR_STOP=1"], input=dump.stdout,
                       stdout=subprocess.DEVNULL, text=True, check=True, timeout=PATIENCE)
        with self.cluster.connect("alice", copy) as alice:
            self.assertEqual(alice("SELECT key FROM holdfast.list()"), [("o-1",)])
        with self.cluster.connect("bob", copy) as bob:
            self.assertEqual(bob("SELECT key FROM holdfast.list()"), [])


class Names(SchemaTest):
    def test_objects_in_front_of_the_search_path_are_not_used(self):
        with self.cluster.connect("super", self.database) as admin:
            admin("GRANT CREATE ON SCHEMA public TO bob; GRANT CREATE ON DATABASE " + self.database + " TO bob")
        self.bob("CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO PUBLIC")
        trap = "LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped as %', current_user; END $$"
        for made in ("to_regrole(text) RETURNS regrole", "gen_random_uuid() RETURNS uuid", "clock_timestamp() RETURNS timestamptz",
                     "quote_ident(name) RETURNS text", "hashtextextended(text, bigint) RETURNS bigint", "pg_notify(text, text) RETURNS void",
                     "format(text, text) RETURNS text", "left(text, integer) RETURNS text", "now() RETURNS timestamptz",
                     "octet_length(text) RETURNS integer", "jsonb_typeof(jsonb) RETURNS text"):
            self.bob(f"CREATE FUNCTION evil.{made} {trap}")
        self.bob(f"CREATE FUNCTION evil.equal(text, text) RETURNS boolean {trap}")
        self.bob("CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.equal)")
        self.bob("CREATE OPERATOR evil.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.equal)")
        for operator, left, right in (("~", "text", "text"), ("~*", "text", "text"), ("?", "jsonb", "text"), ("->", "jsonb", "text"),
                                      ("->>", "jsonb", "text"), ("#>>", "jsonb", "text[]"), ("<=", "int", "int"), ("=", "uuid", "uuid"),
                                      ("=", "boolean", "boolean"), ("=", "bigint", "int")):
            self.bob(f"CREATE FUNCTION evil.f(a {left}, b {right}) RETURNS boolean {trap}".replace("evil.f(", f"evil.f{abs(hash((operator, left)))}("))
            self.bob(f"CREATE OPERATOR evil.{operator} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = evil.f{abs(hash((operator, left)))})")
        for name in ("uuid", "text", "bool"):
            self.bob(f"CREATE DOMAIN evil.{name} AS int")
        self.alice("SET search_path = evil, public, pg_catalog, holdfast")
        self.alice("CREATE TEMP TABLE inbox (id int); CREATE TEMP TABLE workflows (workflow int)")
        started = self.start(self.alice)
        self.alice("SELECT holdfast.start('shop/Clock@1', '{\"n\": 3}')")  # its body is checked the short way
        self.alice("SELECT holdfast.signal($1, 'shop/Paid@1', $2), holdfast.cancel($1), holdfast.status($1), holdfast.result($1)",
                   started, paid())
        self.refuses("HF007", self.alice, "SELECT holdfast.await($1, '1 ms')", started)
        self.alice("SELECT FROM holdfast.list()")
        self.alice(f"INSERT INTO holdfast.inbox (verb, workflow, body) VALUES ('start', 'shop/Order@1', '{order('direct')}')")
        self.assertEqual([verb for verb, _ in self.inbox()], ["start", "start", "signal", "cancel", "start"])
        # The same for the owner, whose rights would be worth something.
        self.owner("SET search_path = evil, pg_catalog")
        self.owner("SELECT holdfast.grant_usage('alice', true), holdfast.revoke_usage('bob')")
        self.publish(OTHER_WORLD)
        self.owner("RESET search_path")

    def test_every_function_has_a_fixed_search_path_and_runs_as_its_caller(self):
        rows = self.owner("SELECT p.proname, p.prosecdef, p.proconfig::text FROM pg_proc p "
                          "WHERE p.pronamespace = 'holdfast'::regnamespace")
        self.assertGreater(len(rows), 15)
        # The first five only insert a row; the next three name everything in full; the others are called by functions that have one.
        without = {"start", "start_flow", "send", "signal", "cancel", "fill_request", "fits", "wake_bridge",
                   "fill_start", "fill_send", "fill_target", "fill_flow", "flatten", "check_body", "misfit"}
        for name, definer, config in rows:
            expected = None if name in without else '{"search_path=pg_catalog, pg_temp"}'
            if name == "run_node":
                expected = '{"search_path=pg_catalog, pg_temp",standard_conforming_strings=on}'
            self.assertEqual((name, definer, config), (name, "f", expected))

    def test_names_are_quoted_wherever_they_go(self):
        name = 'x"; DROP SCHEMA holdfast CASCADE; --'
        quoted = '"' + name.replace('"', '""') + '"'
        with self.cluster.connect() as admin:
            admin(f"DROP ROLE IF EXISTS {quoted}")
            admin(f"CREATE ROLE {quoted} LOGIN")
            admin(f"GRANT {quoted} TO pool")
        self.owner("SELECT holdfast.grant_usage($1)", name)
        pool = self.connect("pool")
        pool(f"SET ROLE {quoted}")
        started = self.start(pool)
        self.assertEqual(pool.value("SELECT holdfast.status($1)", started), "pending")
        self.assertEqual(self.inbox("submitter::regrole"), [(quoted,)])
        self.owner("SELECT holdfast.revoke_usage($1)", name)
        self.refuses("42501", pool, "SELECT holdfast.status($1)", started)
        with self.cluster.connect() as admin:
            admin(f"DROP ROLE {quoted}")
        for workflow in ("'; DROP SCHEMA holdfast CASCADE; --", "shop/Order@1' OR true", "%s %I %n"):
            error = self.refuses("HF001", self.alice, "SELECT holdfast.start($1, $2)", workflow, order())
            self.assertIn(workflow.replace("'", "''"), error.message)

    def test_a_table_and_a_workflow_with_odd_names_get_their_trigger(self):
        table, workflow = 'o"; DROP TABLE x; --', "odd/it's@1"
        catalogue = {"workflows": [{"workflow": workflow, "key": None, "events": [{"schema": "odd/E@1", "starts": True}]}],
                     "schemas": {"odd/E@1": {"any": {}}}}
        self.publish(OTHER_WORLD, catalogue)
        quoted = '"' + table.replace('"', '""') + '"'
        self.owner(f'CREATE TABLE public.{quoted} ("a\'b" int)')
        self.owner("SELECT holdfast.start_on_insert($1::regclass, $2, $3::text[])", f"public.{quoted}", workflow, '{"a\'b"}')
        self.owner(f"INSERT INTO public.{quoted} VALUES (4)")
        self.assertEqual(self.inbox("workflow, body"), [(workflow, '{"a\'b": 4}')])

    def test_a_schema_that_is_there_already_is_not_taken_over(self):
        self.owner("DROP SCHEMA holdfast CASCADE")
        with self.cluster.connect("super", self.database) as admin:
            admin("GRANT CREATE ON DATABASE " + self.database + " TO bob")
        self.bob("CREATE SCHEMA holdfast")
        from cluster import schema_files
        self.refuses("42P06", self.owner, schema_files()[0].read_text())


class Waking(SchemaTest):
    """The wake-up of the bridge, seen from a connection that listens as the bridge does."""

    def setUp(self):
        super().setUp()
        self.listener = self.connect("owner")
        self.listener(f"LISTEN {CHANNEL}")

    def test_a_commit_wakes_a_bridge_that_sleeps_once_per_transaction(self):
        self.alice("BEGIN")
        for n in range(5):
            self.start(self.alice, f"o-{n}")
        self.assertEqual(self.listener.notifications(0.05), [])
        self.alice("COMMIT")
        self.assertEqual(self.listener.notifications(5), [(CHANNEL, "")])
        self.assertEqual(self.listener.notifications(0.05), [])

    def test_a_rolled_back_transaction_wakes_nobody(self):
        self.alice("BEGIN")
        self.start(self.alice)
        self.alice("SET CONSTRAINTS ALL IMMEDIATE")
        self.alice("ROLLBACK")
        self.assertEqual(self.listener.notifications(0.1), [])

    def test_a_bridge_that_is_awake_is_not_notified_and_cannot_fall_asleep_over_a_commit(self):
        bridge = self.connect("owner")
        self.assertEqual(bridge.value(f"SELECT pg_try_advisory_lock({AWAKE})"), "t")
        self.alice("BEGIN")
        self.start(self.alice)
        self.alice("SET CONSTRAINTS ALL IMMEDIATE")  # as far as COMMIT comes before it is durable
        bridge(f"SELECT pg_advisory_unlock({AWAKE})")
        self.assertEqual(bridge.value(f"SELECT pg_try_advisory_lock({COMMIT})"), "f")
        self.alice("COMMIT")
        self.assertEqual(bridge.value(f"SELECT pg_try_advisory_lock({COMMIT})"), "t")
        self.assertEqual(len(self.inbox()), 1)
        bridge(f"SELECT pg_advisory_unlock({COMMIT})")
        self.assertEqual(self.listener.notifications(0.1), [])
        self.start(self.alice, "o-2")
        self.assertEqual(self.listener.notifications(5), [(CHANNEL, "")])

    def test_while_a_bridge_falls_asleep_commits_notify_it(self):
        bridge = self.connect("owner")
        bridge(f"SELECT pg_try_advisory_lock({COMMIT})")
        self.start(self.alice)
        self.assertEqual(self.listener.notifications(5), [(CHANNEL, "")])

    def test_an_early_trigger_in_a_savepoint_that_is_rolled_back_does_not_silence_the_rest(self):
        self.alice("BEGIN")
        self.alice("SAVEPOINT here")
        self.start(self.alice)
        self.alice("SET CONSTRAINTS ALL IMMEDIATE")
        self.alice("ROLLBACK TO here")
        self.start(self.alice, "o-2")
        self.alice("COMMIT")
        self.assertEqual(self.listener.notifications(5), [(CHANNEL, "")])

    def test_a_role_that_holds_the_locks_delays_nobodys_commit(self):
        self.bob(f"SELECT pg_advisory_lock({AWAKE}), pg_advisory_lock({COMMIT})")
        self.alice("SET statement_timeout = '30s'; SET lock_timeout = '1s'")
        self.start(self.alice)
        self.assertEqual(len(self.inbox()), 1)

    def test_a_prepared_transaction_holds_no_lock_of_the_wake_up(self):
        self.alice("BEGIN")
        self.start(self.alice)
        self.alice("PREPARE TRANSACTION 'p'")
        self.assertEqual(self.owner.value(f"SELECT pg_try_advisory_lock({COMMIT})"), "t")
        self.alice("COMMIT PREPARED 'p'")


if __name__ == "__main__":
    unittest.main()
