# SPDX-License-Identifier: Apache-2.0
"""What the tests of flows share: a server that runs SQL steps, and roles that may submit them."""
import json

from serving import ServingTest
from waiting import PATIENCE


class FlowTest(ServingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with cls.cluster.connect() as admin:
            admin("CREATE ROLE hf_exec LOGIN")

    def setUp(self):
        super().setUp()
        self.pg("install", "--exec-role", "hf_exec")
        for role, connection in (("alice", self.alice), ("bob", self.bob)):
            self.permit(role, connection)

    def permit(self, role, connection):
        self.owner("SELECT holdfast.grant_usage($1, may_run_sql => true)", role)
        with self.cluster.connect("super", self.database) as admin:
            admin(f"CREATE SCHEMA {role} AUTHORIZATION {role}")
        connection("SET search_path = \"$user\", public, holdfast")
        connection("CREATE TABLE log (n bigserial PRIMARY KEY, note text NOT NULL)")
        connection("SELECT holdfast.enroll()")

    def exec_conninfo(self):
        return self.cluster.conninfo("hf_exec", self.database)

    def serve(self, *arguments):
        super().serve("--postgres-exec", self.exec_conninfo(), *arguments)

    def start_flow(self, expression, connection=None, *values):
        """Starts what a SQL expression composes; gives its id."""
        return (connection or self.alice).value(f"SELECT holdfast.start_flow({expression})", *values)

    def run_flow(self, expression, connection=None, *values):
        """The same, and waits for the result."""
        connection = connection or self.alice
        return self.await_result(connection, self.start_flow(expression, connection, *values))

    def fails(self, flow, connection=None):
        """Waits until it has failed; gives the error."""
        self.wait_for_status(flow, "failed", "completed", "cancelled", "refused")
        connection = connection or self.alice
        self.assertEqual(connection.value("SELECT holdfast.status($1)", flow), "failed",
                         connection.value("SELECT holdfast.result($1)", flow))
        return json.loads(connection.value("SELECT holdfast.error($1)", flow))

    def is_busy(self):
        """Whether a statement of a flow is running. Only a superuser sees what other roles do."""
        with self.cluster.connect() as admin:
            return bool(admin("SELECT FROM pg_stat_activity WHERE usename = 'hf_exec' AND state = 'active' AND datname = $1", self.database))

    def notes(self, connection=None):
        return [note for note, in (connection or self.alice)("SELECT note FROM log ORDER BY n")]

    def rows(self, result):
        return [tuple(row[column] for column in result["columns"]) for row in result["rows"]]


def note(text):
    return f"$q$INSERT INTO log (note) VALUES ('{text}')$q$"
