#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests in the caller's transaction, and mistakes that raise in the caller's statement."""
import json
import unittest

from schema import CATALOGUE, OTHER_WORLD, WORLD, SchemaTest, order, paid


class Transactions(SchemaTest):
    def test_a_rolled_back_start_leaves_nothing(self):
        self.alice("BEGIN")
        started = self.start(self.alice)
        self.assertEqual(self.alice.value("SELECT holdfast.status($1)", started), "pending")
        self.alice("ROLLBACK")
        self.assertEqual(self.inbox(), [])
        self.assertIsNone(self.alice.value("SELECT holdfast.status($1)", started))

    def test_a_committed_start_is_there_with_its_submitter(self):
        started = self.start(self.alice)
        rows = self.inbox("id, verb, workflow, key, event, world, submitter::regrole, outcome")
        self.assertEqual(rows, [(started, "start", "shop/Order@1", "o-1", "shop/Placed@1", WORLD, "alice", None)])

    def test_a_savepoint_takes_back_only_what_came_after_it(self):
        self.alice("BEGIN")
        self.start(self.alice, "kept")
        self.alice("SAVEPOINT here")
        self.start(self.alice, "dropped")
        self.alice("ROLLBACK TO here")
        self.start(self.alice, "kept too")
        self.alice("COMMIT")
        self.assertEqual(self.inbox(), [("start", "kept"), ("start", "kept too")])

    def test_nothing_is_seen_before_commit(self):
        self.alice("BEGIN")
        self.start(self.alice)
        self.assertEqual(self.inbox(), [])
        self.alice("COMMIT")
        self.assertEqual(len(self.inbox()), 1)

    def test_start_signal_and_cancel_of_one_transaction_keep_their_order(self):
        self.alice("BEGIN")
        started = self.start(self.alice)
        self.alice("SELECT holdfast.signal($1, 'shop/Paid@1', $2)", started, paid())
        self.alice("SELECT holdfast.cancel($1, 'not wanted')", started)
        self.alice("COMMIT")
        self.assertEqual(self.inbox("verb, target, workflow, key"), [
            ("start", None, "shop/Order@1", "o-1"), ("signal", started, "shop/Order@1", "o-1"),
            ("cancel", started, "shop/Order@1", "o-1")])

    def test_a_rolled_back_signal_and_cancel_leave_nothing(self):
        started = self.start(self.alice)
        self.alice("BEGIN")
        self.alice("SELECT holdfast.signal($1, 'shop/Paid@1', $2)", started, paid())
        self.alice("SELECT holdfast.cancel($1)", started)
        self.alice("ROLLBACK")
        self.assertEqual(self.inbox(), [("start", "o-1")])

    def test_start_many_gives_ids_in_the_order_of_the_bodies(self):
        keys = [f"k{n}" for n in range(50)]
        bodies = [order(key) for key in keys]
        rows = self.alice("SELECT holdfast.start_many('shop/Order@1', "
                          "(SELECT array_agg(b ORDER BY n) FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY x(b, n)))",
                          "[" + ",".join(bodies) + "]")
        found = dict(self.inbox("id, key"))
        self.assertEqual([found[row[0]] for row in rows], keys)

    def test_start_many_is_bounded(self):
        self.refuses("HF004", self.alice, "SELECT holdfast.start_many('shop/Order@1', array_fill($1::jsonb, ARRAY[10001]))", order())
        self.assertEqual(self.inbox(), [])

    def test_a_start_in_the_future_is_due_then_and_its_signal_too(self):
        started = self.alice.value("SELECT holdfast.start('shop/Order@1', $1, run_at => now() + interval '1 hour')", order())
        self.alice("SELECT holdfast.signal($1, 'shop/Paid@1', $2)", started, paid())
        self.alice("SELECT holdfast.cancel($1)", started)
        self.assertEqual(self.inbox("verb, due > now() + interval '59 minutes'"),
                         [("start", "t"), ("signal", "t"), ("cancel", "f")])

    def test_a_start_in_the_past_is_due_now(self):
        self.alice("SELECT holdfast.start('shop/Order@1', $1, run_at => '2001-01-01')", order())
        self.assertEqual(self.inbox("due = created"), [("t",)])
        for when in ("infinity", "-infinity"):
            self.refuses("HF004", self.alice, "SELECT holdfast.start('shop/Order@1', $1, run_at => $2)", order("x"), when)

    def test_a_row_of_the_application_starts_a_workflow_with_its_insert(self):
        self.owner("CREATE TABLE public.orders (id text, items jsonb, secret text)")
        self.owner("GRANT INSERT ON public.orders TO alice")
        self.owner("SELECT holdfast.start_on_insert('public.orders', 'shop/Order@1', '{id, items}')")
        self.alice("BEGIN")
        self.alice("INSERT INTO public.orders VALUES ('o-8', '[]', 's'), ('o-9', '[]', 's')")
        self.alice("COMMIT")
        self.assertEqual(self.inbox("key, submitter::regrole, body"),
                         [("o-8", "alice", '{"id": "o-8", "items": []}'), ("o-9", "alice", '{"id": "o-9", "items": []}')])
        self.refuses("HF002", self.alice, "INSERT INTO public.orders VALUES ('o-10', '7', 's')")
        self.refuses("HF001", self.owner, "SELECT holdfast.start_on_insert('public.orders', 'shop/None@1')")
        self.refuses("HF002", self.owner, "SELECT holdfast.start_on_insert('public.orders', 'shop/Order@1', '{ids}')")

    def test_prepared_transactions_work_and_take_effect_when_they_commit(self):
        self.alice("BEGIN")
        self.start(self.alice)
        self.alice("PREPARE TRANSACTION 'two phases'")
        self.assertEqual(self.inbox(), [])
        self.alice("COMMIT PREPARED 'two phases'")
        self.assertEqual(self.inbox(), [("start", "o-1")])
        self.alice("BEGIN")
        self.start(self.alice, "o-2")
        self.alice("PREPARE TRANSACTION 'two phases'")
        self.alice("ROLLBACK PREPARED 'two phases'")
        self.assertEqual(self.inbox(), [("start", "o-1")])

    def test_a_transaction_that_is_prepared_in_a_batch_of_statements_needs_the_setting(self):
        batch = f"SELECT holdfast.start('shop/Order@1', '{order()}'); PREPARE TRANSACTION 'batch'"
        self.refuses("0A000", self.alice, "BEGIN; " + batch)
        self.alice("ROLLBACK")
        self.alice("BEGIN; SET LOCAL holdfast.wake = off; " + batch)
        self.alice("COMMIT PREPARED 'batch'")
        self.assertEqual(self.inbox(), [("start", "o-1")])


class Mistakes(SchemaTest):
    def test_an_unknown_workflow_raises_in_the_statement(self):
        error = self.refuses("HF001", self.alice, "SELECT holdfast.start('shop/Ordre@1', $1)", order())
        self.assertEqual(error.message, "unknown workflow 'shop/Ordre@1'")
        self.refuses("HF001", self.alice, "SELECT holdfast.start(NULL, $1)", order())

    def test_a_body_that_cannot_fit_raises_and_names_the_place(self):
        for body, problem in (
                ({"id": "a"}, "$.items: the field is missing"),
                ({"id": 7, "items": []}, "$.id: expected text, got number"),
                ({"id": "a", "items": [], "colour": 1}, '$: unknown field "colour"'),
                ({"id": "a", "items": {}}, "$.items: expected list, got object"),
                ({"id": "a", "items": [{"sku": "x", "count": 1}, {"sku": "y", "count": -1}]},
                 "$.items[1].count: -1 is out of the range of nat"),
                ({"id": "a", "items": [{"sku": "x", "count": 1.5}]}, "$.items[0].count: expected nat, got a fraction"),
                ({"id": "a", "items": [], "note": 3}, "$.note: expected text, got number"),
                ([], "$: expected record, got array")):
            error = self.refuses("HF002", self.alice, "SELECT holdfast.start('shop/Order@1', $1, key => 'a')", json.dumps(body))
            self.assertEqual(error.message, "the body does not fit shop/Placed@1: " + problem)
        self.assertEqual(self.inbox(), [])

    def test_a_body_that_fits_is_taken(self):
        for body in ({"id": "a", "items": []}, {"id": "b", "items": [], "note": None}, {"id": "c", "items": [], "note": "n"},
                     {"id": "d", "items": [{"sku": "", "count": 18446744073709551615}]}):
            self.alice("SELECT holdfast.start('shop/Order@1', $1)", json.dumps(body))
        self.assertEqual([key for _, key in self.inbox()], ["a", "b", "c", "d"])

    def test_a_key_beside_the_body_must_be_the_one_inside(self):
        error = self.refuses("HF002", self.alice, "SELECT holdfast.start('shop/Order@1', $1, key => 'o-2')", order())
        self.assertEqual(error.message, "the key is 'o-2', but the body has 'o-1' in $.id")
        self.alice("SELECT holdfast.start('shop/Order@1', $1, key => 'o-1')", order())
        self.refuses("HF002", self.alice, "SELECT holdfast.start('shop/Clock@1', '{\"n\": 1}', key => 'k')")
        self.alice("SELECT holdfast.start('shop/Clock@1', '{\"n\": 1}')")

    def test_events_that_do_not_start_or_are_not_taken_raise(self):
        self.refuses("HF001", self.alice, "SELECT holdfast.start('shop/Order@1', $1, event => 'shop/Paid@1')", paid())
        started = self.start(self.alice)
        self.refuses("HF001", self.alice, "SELECT holdfast.signal($1, 'shop/Tick@1', '{\"n\": 1}')", started)
        self.refuses("HF002", self.alice, "SELECT holdfast.signal($1, 'shop/Paid@1', '{\"cents\": 1}')", started)
        self.refuses("HF002", self.alice, "SELECT holdfast.start('shop/Order@1', NULL, key => 'a')")

    def test_limits_raise(self):
        self.refuses("HF004", self.alice, "SELECT holdfast.start('shop/Order@1', $1)", order(note="x" * (1 << 20)))
        self.refuses("HF004", self.alice, "SELECT holdfast.start('shop/Order@1', $1, key => repeat('k', 1001))", order())
        started = self.start(self.alice)
        self.refuses("HF004", self.alice, "SELECT holdfast.cancel($1, repeat('r', 4097))", started)

    def test_two_worlds_that_publish_a_workflow_must_be_told_apart(self):
        self.publish(OTHER_WORLD)
        self.refuses("HF001", self.alice, "SELECT holdfast.start('shop/Order@1', $1)", order())
        started = self.alice.value("SELECT holdfast.start('shop/Order@1', $1, world => $2)", order(), OTHER_WORLD)
        self.assertEqual(self.inbox("id, world"), [(started, OTHER_WORLD)])
        self.refuses("HF001", self.alice, "SELECT holdfast.start('shop/Order@1', $1, world => gen_random_uuid())", order())

    def test_a_new_catalogue_replaces_the_one_before(self):
        self.publish(catalogue={"workflows": CATALOGUE["workflows"][1:], "schemas": CATALOGUE["schemas"]})
        self.refuses("HF001", self.alice, "SELECT holdfast.start('shop/Order@1', $1)", order())
        self.publish()
        self.start(self.alice)
        again = self.owner.value("SELECT holdfast.publish($1, $2)", WORLD, json.dumps(CATALOGUE))
        self.assertEqual(again, "f")


class Reading(SchemaTest):
    def test_status_result_and_error_follow_the_instance(self):
        started = self.start(self.alice)
        seen = lambda: self.alice("SELECT holdfast.status($1), holdfast.result($1), holdfast.error($1)", started)[0]
        self.assertEqual(seen(), ("pending", None, None))
        self.run_instance(started)
        self.assertEqual(seen(), ("running", None, None))
        self.end_instance(started, result='{"paid": 5}')
        self.assertEqual(seen(), ("completed", '{"paid": 5}', None))
        failed = self.start(self.alice, "o-2")
        self.run_instance(failed)
        self.end_instance(failed, "failed", error='{"code": "x"}')
        self.assertEqual(self.alice("SELECT holdfast.status($1), holdfast.result($1), holdfast.error($1)", failed)[0],
                         ("failed", None, '{"code": "x"}'))

    def test_await_gives_the_result_or_says_why_not(self):
        started = self.start(self.alice)
        self.assertEqual(self.refuses("HF007", self.alice, "SELECT holdfast.await($1, '20 ms')", started).message,
                         f"instance {started} is pending after 00:00:00.02")
        self.run_instance(started)
        self.end_instance(started, result="5")
        self.assertEqual(self.alice.value("SELECT holdfast.await($1)", started), "5")
        failed = self.start(self.alice, "o-2")
        self.run_instance(failed)
        self.end_instance(failed, "failed", error='{"code": "x"}')
        error = self.refuses("HF006", self.alice, "SELECT holdfast.await($1)", failed)
        self.assertEqual((error.message, error.detail), (f"instance {failed}: failed", '{"code": "x"}'))
        self.refuses("HF003", self.alice, "SELECT holdfast.await(gen_random_uuid())")
        self.refuses("HF004", self.alice, "SELECT holdfast.await($1, '0')", started)

    def test_await_refuses_what_could_never_end(self):
        self.alice("BEGIN")
        started = self.start(self.alice)
        self.refuses("HF004", self.alice, "SELECT holdfast.await($1)", started)
        self.alice("ROLLBACK")
        started = self.start(self.alice)
        self.alice("BEGIN ISOLATION LEVEL REPEATABLE READ")
        self.refuses("HF004", self.alice, "SELECT holdfast.await($1)", started)

    def test_list_pages_from_the_newest(self):
        ids = [self.start(self.alice, f"o-{n}") for n in range(5)]
        self.run_instance(ids[1])
        first = self.alice("SELECT id, status, created FROM holdfast.list(page_size => 2)")
        self.assertEqual([row[0] for row in first], [ids[4], ids[3]])
        rest = self.alice("SELECT id, status FROM holdfast.list(before_created => $1, before_id => $2)", first[1][2], first[1][0])
        self.assertEqual(rest, [(ids[2], "pending"), (ids[1], "running"), (ids[0], "pending")])
        self.assertEqual(self.alice("SELECT id FROM holdfast.list(with_status => 'running')"), [(ids[1],)])
        self.refuses("HF004", self.alice, "SELECT holdfast.list(page_size => 1001)")
        self.refuses("HF004", self.alice, "SELECT holdfast.list(before_id => gen_random_uuid())")


if __name__ == "__main__":
    unittest.main()
