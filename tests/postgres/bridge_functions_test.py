#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the bridge calls, seen from SQL: the lease, reading, marking, ends, retention."""
import unittest
import uuid

from schema import OTHER_WORLD, WORLD, SchemaTest, order, paid


class BridgeFunctions(SchemaTest):
    def hold(self, connection, holder, lease="1 hour", with_backend=True, world=WORLD):
        """The epoch, or nothing."""
        rows = connection("SELECT * FROM holdfast.hold_world($1, $2, $3, $4)", world, holder, lease, str(with_backend).lower())
        return int(rows[0][0]) if rows else None

    def read(self, due="-infinity", seq=0, most=100, world=WORLD):
        return self.owner("SELECT id, seq, due, verb, is_cancelled, target_state FROM holdfast.read_requests($1, $2, $3, $4, false)",
                          world, due, seq, most)

    def decide(self, epoch, *decisions):
        array = lambda values: "{" + ",".join("NULL" if v is None else f'"{v}"' for v in values) + "}"
        ids, outcomes, details = zip(*decisions)
        self.owner("SELECT holdfast.decide($1, $2, $3, $4, $5)", WORLD, epoch, array(ids), array(outcomes), array(details))

    def end(self, epoch, instance, status="completed", result="1"):
        self.owner("SELECT holdfast.write_ends($1, $2, ARRAY[$3::uuid], ARRAY[$4], ARRAY[$5], ARRAY[NULL])",
                   WORLD, epoch, instance, status, result)

    def test_one_bridge_holds_a_world_and_the_next_follows_when_its_backend_is_gone(self):
        first, second = str(uuid.uuid4()), str(uuid.uuid4())
        one = self.cluster.connect("owner", self.database)
        self.assertEqual(self.hold(one, first), 1)
        self.assertEqual(self.hold(one, first), 1)
        self.assertIsNone(self.hold(self.owner, second))
        self.assertEqual(self.hold(self.owner, second, world=OTHER_WORLD), 1)
        pid = one.pid
        one.close()
        while self.owner("SELECT FROM pg_stat_activity WHERE pid = $1", pid):
            pass
        self.assertEqual(self.hold(self.owner, second), 2)

    def test_behind_a_pooler_the_lease_ends_with_its_time(self):
        first, second = str(uuid.uuid4()), str(uuid.uuid4())
        self.assertEqual(self.hold(self.owner, first, with_backend=False), 1)
        self.assertIsNone(self.hold(self.owner, second))
        self.assertEqual(self.hold(self.owner, first, lease="-1 second", with_backend=False), 1)
        self.assertEqual(self.hold(self.owner, second), 2)

    def test_a_bridge_that_lost_its_lease_writes_nothing(self):
        started = self.start(self.alice)
        self.hold(self.owner, str(uuid.uuid4()), lease="-1 second", with_backend=False)
        self.assertEqual(self.hold(self.owner, str(uuid.uuid4())), 2)
        for sql in (f"SELECT holdfast.decide('{WORLD}', 1, ARRAY['{started}'::uuid], ARRAY['accepted'], ARRAY[NULL])",
                    f"SELECT holdfast.write_ends('{WORLD}', 1, ARRAY['{started}'::uuid], ARRAY['completed'], ARRAY['1'], ARRAY[NULL])",
                    f"SELECT holdfast.prune('{WORLD}', 1, '0', 10)", f"SELECT holdfast.prune_to('{WORLD}', 1, 0, 10)"):
            self.refuses("HF010", self.owner, sql)
        self.assertEqual(self.alice.value("SELECT holdfast.status($1)", started), "pending")

    def test_requests_are_read_in_their_order_in_pages_and_only_of_the_world(self):
        ids = [self.start(self.alice, f"o-{n}") for n in range(5)]
        self.publish(OTHER_WORLD)
        self.alice("SELECT holdfast.start('shop/Order@1', $1, world => $2)", order("other"), OTHER_WORLD)
        first = self.read(most=3)
        self.assertEqual([row[0] for row in first], ids[:3])
        self.assertEqual([row[0] for row in self.read(first[-1][2], first[-1][1])], ids[3:])
        self.assertEqual(len(self.read(world=OTHER_WORLD)), 1)

    def test_what_commits_late_is_read_from_the_beginning(self):
        late = self.connect("bob")
        late("BEGIN")
        early = self.start(late, "early")
        self.start(self.alice, "later")
        place = self.read()[-1]
        late("COMMIT")
        self.assertEqual(self.read(place[2], place[1]), [])
        self.assertEqual(self.read()[0][0], early)

    def test_what_is_not_due_is_not_read_and_does_not_stand_in_the_way(self):
        self.alice("SELECT holdfast.start('shop/Order@1', jsonb_set($1, '{id}', to_jsonb('p-' || n)), run_at => now() + interval '1 day') "
                   "FROM generate_series(1, 300) n", order())
        self.assertEqual(self.read(), [])
        self.assertIsNone(self.owner.value("SELECT holdfast.next_due($1)", OTHER_WORLD))
        self.assertGreater(int(self.owner.value("SELECT holdfast.next_due($1)", WORLD)), 86_000_000)
        now = self.start(self.alice)
        self.assertEqual([row[0] for row in self.read(most=1)], [now])

    def test_a_batch_of_large_bodies_is_bounded_and_never_empty(self):
        large = self.connect("alice")
        for n in range(12):
            large("SELECT holdfast.start('shop/Order@1', jsonb_build_object('id', $1::text, 'items', '[]'::jsonb, "
                  "'note', repeat('x', 1000000)))", f"l-{n}")
        first = self.read()
        self.assertEqual(len(first), 9)  # the ninth passes 8 MiB
        self.assertEqual(len(self.read(first[-1][2], first[-1][1])), 3)

    def test_a_start_shows_that_it_is_cancelled_and_a_signal_what_became_of_the_start(self):
        epoch = self.hold(self.owner, str(uuid.uuid4()))
        started = self.start(self.alice)
        self.alice("SELECT holdfast.signal($1, 'shop/Paid@1', $2)", started, paid())
        self.alice("SELECT holdfast.cancel($1)", started)
        self.assertEqual([row[3:] for row in self.read()],
                         [("start", "t", None), ("signal", "f", "pending"), ("cancel", "f", "pending")])
        self.decide(epoch, (started, "refused", "no"))
        self.assertEqual([row[3:] for row in self.read()], [("signal", "f", "refused"), ("cancel", "f", "refused")])

    def test_marks_are_made_once_and_ends_never_overwrite(self):
        epoch = self.hold(self.owner, str(uuid.uuid4()))
        good, bad, gone = (self.start(self.alice, key) for key in "abc")
        self.decide(epoch, (good, "accepted", None), (bad, "refused", "why not"), (gone, "cancelled", None))
        self.decide(epoch, (good, "refused", "again"), (bad, "accepted", None))
        status = lambda: [self.alice.value("SELECT holdfast.status($1)", each) for each in (good, bad, gone)]
        self.assertEqual(status(), ["running", "refused", "cancelled"])
        self.assertEqual(self.alice.value("SELECT holdfast.error($1)", bad), '{"message": "why not"}')
        self.end(epoch, good, result='{"n": 1}')
        self.end(epoch, good, "failed")
        self.end(epoch, bad)
        self.assertEqual(status(), ["completed", "refused", "cancelled"])
        self.assertEqual(self.alice.value("SELECT holdfast.result($1)", good), '{"n": 1}')

    def test_a_result_with_a_nul_character_is_kept_as_json(self):
        epoch = self.hold(self.owner, str(uuid.uuid4()))
        started = self.start(self.alice)
        self.decide(epoch, (started, "accepted", None))
        self.end(epoch, started, result='"a\\u0000b"')
        self.assertEqual(self.alice.value("SELECT result FROM holdfast.instances"), '"a\\u0000b"')

    def test_ends_are_notified(self):
        epoch = self.hold(self.owner, str(uuid.uuid4()))
        listener = self.connect("alice")
        listener("LISTEN holdfast_ended")
        started, refused = self.start(self.alice), self.start(self.alice, "o-2")
        self.decide(epoch, (started, "accepted", None), (refused, "refused", "x"))
        self.assertEqual(listener.notifications(5), [("holdfast_ended", refused)])
        self.end(epoch, started)
        self.assertEqual(listener.notifications(5), [("holdfast_ended", started)])

    def test_retention_removes_what_has_ended_and_nothing_that_lives(self):
        epoch = self.hold(self.owner, str(uuid.uuid4()))
        old, live, waiting = (self.start(self.alice, key) for key in "abc")
        self.decide(epoch, (old, "accepted", None), (live, "accepted", None))
        self.end(epoch, old)
        self.owner("UPDATE holdfast.instances SET ended = ended - interval '2 days' WHERE ended IS NOT NULL")
        self.owner("UPDATE holdfast.inbox SET decided = decided - interval '2 days', created = created - interval '9 days'")
        self.assertEqual(self.owner.value("SELECT holdfast.prune($1, $2, '1 hour', 1)", WORLD, epoch), "t")
        while self.owner.value("SELECT holdfast.prune($1, $2, '1 hour', 1)", WORLD, epoch) == "t":
            pass
        self.assertEqual(self.owner("SELECT id FROM holdfast.instances"), [(live,)])
        self.assertEqual(self.inbox("id"), [(waiting,)])
        # What runs can still be cancelled and signalled.
        self.alice("SELECT holdfast.cancel($1)", live)
        self.assertEqual([row[3:] for row in self.read() if row[3] == "cancel"], [("cancel", "f", "running")])

    def test_of_ended_instances_the_newest_are_kept_and_what_lives_stays(self):
        epoch = self.hold(self.owner, str(uuid.uuid4()))
        ids = [self.start(self.alice, f"o-{n}") for n in range(12)]
        self.decide(epoch, *((each, "accepted", None) for each in ids))
        for place, each in enumerate(ids[:10]):
            self.end(epoch, each)
            self.owner("UPDATE holdfast.instances SET ended = now() - make_interval(mins => $2::int) WHERE id = $1", each, place)
        self.owner("ANALYZE holdfast.instances")
        prune = lambda keep: self.owner.value("SELECT holdfast.prune_to($1, $2, $3, 2)", WORLD, epoch, keep)
        self.assertEqual(prune(1000), "f")
        while prune(4) == "t":
            pass
        self.assertEqual({each for each, in self.owner("SELECT id FROM holdfast.instances")}, {*ids[:4], *ids[10:]})
        self.assertEqual(len(self.inbox()), 12)

    def test_a_decided_request_stays_for_a_day(self):
        epoch = self.hold(self.owner, str(uuid.uuid4()))
        started = self.start(self.alice)
        self.decide(epoch, (started, "accepted", None))
        self.owner("UPDATE holdfast.inbox SET decided = decided - interval '23 hours'")
        self.owner("SELECT holdfast.prune($1, $2, '1 second', 10)", WORLD, epoch)
        self.assertEqual(len(self.inbox()), 1)


if __name__ == "__main__":
    unittest.main()
