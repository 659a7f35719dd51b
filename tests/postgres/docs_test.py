#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/postgres.md: its SQL runs, its functions are those of the schema, its SQLSTATEs are raised somewhere."""
import re
import unittest

from cluster import ROOT, schema_files
from flows import FlowTest
from serving import ServingTest

PAGE = (ROOT / "docs" / "postgres.md").read_text()


class Page(ServingTest):
    def test_the_transaction_on_the_page_runs(self):
        self.serve()
        self.owner("CREATE TABLE public.refunds (id text, order_id text, cents bigint); GRANT INSERT ON public.refunds TO alice")
        self.alice(re.search(r"```sql\n(BEGIN;.*?)```", PAGE, re.S)[1])
        started = self.alice.value("SELECT id FROM holdfast.list()")
        self.assertEqual(self.await_result(self.alice, started), {"note": "paid", "paid_cents": 1990})

    def test_the_role_that_the_page_makes_can_install_and_serve(self):
        self.pg("uninstall")
        with self.cluster.connect("super", self.database) as admin:
            admin("DROP ROLE IF EXISTS holdfast; DROP ROLE IF EXISTS holdfast_exec")
            for statement in re.findall(r"^ +((?:CREATE ROLE|GRANT) .*;)$", PAGE, re.M):
                admin(statement.replace(" shop ", f" {self.database} "))
        self.pg("install", "--exec-role", "holdfast_exec", user="holdfast")
        self.server.conninfo = self.cluster.conninfo("holdfast", self.database)
        with self.cluster.connect("holdfast", self.database) as owner:
            owner("SELECT holdfast.grant_usage('alice')")
            self.owner = owner
            self.serve()
            self.await_result(self.alice, self.start(self.alice))
            self.server.stop()
        self.pg("uninstall", "--force", user="holdfast")
        with self.cluster.connect("super", self.database) as admin:
            admin("DROP OWNED BY holdfast; DROP ROLE holdfast; DROP OWNED BY holdfast_exec; DROP ROLE holdfast_exec")

    def test_the_functions_of_the_table_are_those_of_the_schema(self):
        found = {name: (names or "").strip("{}").split(",") for name, names in self.owner(
            "SELECT proname, proargnames FROM pg_proc WHERE pronamespace = 'holdfast'::regnamespace")}
        table = re.search(r"\| call \| what it does \|\n(.*?)\n\n", PAGE, re.S)[1]
        calls = re.findall(r"`(\w+)\(([^)]*)\)`", table)
        self.assertGreater(len(calls), 9)
        renamed = {"id": {"id", "instance"}, "table": {"on_table"}}
        for name, arguments in calls:
            self.assertIn(name, found)
            for position, argument in enumerate(arguments.split(", ")):
                self.assertIn(found[name][position], renamed.get(argument, set()) | {argument}, name)
        granted = {name for name, in self.alice("SELECT proname FROM pg_proc WHERE pronamespace = 'holdfast'::regnamespace "
                                                "AND has_function_privilege(oid, 'EXECUTE')")}
        self.assertEqual({name for name, _ in calls} - granted, {"send"})

    def test_the_states_and_settings_of_the_page_exist(self):
        sql = "".join(file.read_text() for file in schema_files())
        self.assertEqual(set(re.findall(r"HF0\d\d", PAGE)), set(re.findall(r"ERRCODE = '(HF0\d\d)'", sql)) - {"HF010", "HF011"})
        settings = (ROOT / "src" / "cli" / "settings.h").read_text()
        for flag in set(re.findall(r"`--(postgres[\w-]*)", PAGE)):
            self.assertIn(f'"{flag}"', settings)


class Flows(FlowTest):
    def test_the_flow_on_the_page_runs(self):
        self.serve()
        self.alice("CREATE TABLE refunds (id text, cents bigint, paid boolean DEFAULT false); CREATE TABLE ledger (refund text, cents bigint)")
        self.alice("INSERT INTO refunds VALUES ('r-7', 9900)")
        statement = re.search(r"(SELECT start_flow\(.*?\));\n```", PAGE, re.S)[1]
        flow = self.alice.value(statement)
        self.alice("SELECT holdfast.signal($1, 'approved', 'true')", flow)
        self.await_result(self.alice, flow)
        self.assertEqual(self.alice("SELECT paid FROM refunds"), [("t",)])
        self.assertEqual(self.alice("SELECT refund, cents FROM ledger"), [("r-7", "9900")])

    def test_the_functions_and_operators_of_the_table_exist(self):
        table = re.search(r"\| function \| operator .*?\n(.*?)\n\n", PAGE, re.S)[1].replace("\\|", "|")
        names = {name for name, in self.owner("SELECT proname FROM pg_proc WHERE pronamespace = 'holdfast'::regnamespace")}
        operators = {name for name, in self.owner("SELECT oprname FROM pg_operator WHERE oprnamespace = 'holdfast'::regnamespace")}
        self.assertLessEqual(set(re.findall(r"^\| `(\w+)\(", table, re.M)), names)
        shown = table.replace("`", " ")
        for operator in operators:
            self.assertIn(f" {operator} ", shown)
        self.assertEqual(len(operators), 7)

    def test_precedence_is_what_the_page_says(self):
        def shape(expression):
            return [line for line in self.alice.value(f"SELECT holdfast.explain({expression})").splitlines()]
        self.assertEqual(shape("'a' ~> 'b' & 'c'"), ["join", "  seq", "    sql a", "    sql b", "  sql c"])
        self.assertEqual(shape("@> 'a' ~> 'b'"), ["seq", "  loop", "    sql a", "  sql b"])
        self.assertEqual(shape("'a' ~> 'b' |=> 'n'"), ["named n", "  seq", "    sql a", "    sql b"])
        self.assertEqual(shape("'a' | 'b' & 'c'"), ["join", "  race", "    sql a", "    sql b", "  sql c"])
        self.refuses("HF002", self.alice, "SELECT holdfast.explain('c' ?> 'a' ~> 'b' !> 'd')")


if __name__ == "__main__":
    unittest.main()
