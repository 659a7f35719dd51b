#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An application whose refunds are paid by a workflow that is composed in SQL and started in the application's transaction.

usage: refunds.py CONNINFO     as a role that may run SQL steps (docs/postgres.md); needs python3-psycopg2

The refund and its workflow commit together, or neither exists. Refunds above 50.00 wait for an approval.
"""
import sys

import psycopg2

TABLES = """
CREATE TABLE IF NOT EXISTS refunds (id text PRIMARY KEY, cents bigint NOT NULL, state text NOT NULL DEFAULT 'new');
CREATE TABLE IF NOT EXISTS ledger (refund text NOT NULL, cents bigint NOT NULL, at timestamptz NOT NULL DEFAULT now());
"""

# {id} stands for a variable; it is the caller's, and taken when the flow starts.
PAY = """
SELECT start_flow(
  ($$SELECT id, cents FROM refunds WHERE id = '{id}'$$ |=> 'r')
  ~> ($$SELECT $r.cents > 5000$$ ?> (wait_for_signal('decision', 86400) |=> 'd') !> ($$SELECT true AS data$$ |=> 'd'))
  ~> ($$SELECT $d.data::text = 'true'$$
      ?> ($$UPDATE refunds SET state = 'paid' WHERE id = $r$$ & $$INSERT INTO ledger (refund, cents) VALUES ($r.id, $r.cents)$$)
      !> $$UPDATE refunds SET state = 'declined' WHERE id = $r$$))
"""


def request_refund(connection, refund, cents):
    """In one transaction: the row, and the workflow that pays it. Gives the id of the workflow."""
    with connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO refunds (id, cents) VALUES (%s, %s)", (refund, cents))
        cursor.execute("SELECT setvar('id', %s)", (refund,))
        cursor.execute(PAY)
        return cursor.fetchone()[0]


def decide(connection, flow, approved):
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT signal(%s, 'decision', to_jsonb(%s))", (flow, approved))


def wait(connection, flow):
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT await(%s, '60 s')", (flow,))


def show(connection):
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT r.id, r.cents, r.state, count(l) FROM refunds r LEFT JOIN ledger l ON l.refund = r.id GROUP BY r.id ORDER BY r.id")
        for refund, cents, state, payments in cursor:
            print(f"{refund}: {cents / 100:.2f} {state}, {payments} in the ledger")


def main():
    connection = psycopg2.connect(sys.argv[1])
    with connection, connection.cursor() as cursor:
        cursor.execute(TABLES)
        cursor.execute("SET search_path = \"$user\", public, holdfast")
    small = request_refund(connection, "r-1", 1990)
    large = request_refund(connection, "r-2", 9900)
    try:
        request_refund(connection, "r-1", 5)  # the id is taken: the transaction rolls back, and its workflow never was
    except psycopg2.errors.UniqueViolation:
        print("r-1 again: refused, nothing was started")
    decide(connection, large, True)
    for flow in (small, large):
        wait(connection, flow)
    show(connection)


if __name__ == "__main__":
    main()
