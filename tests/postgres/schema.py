# SPDX-License-Identifier: Apache-2.0
"""What the tests of the schema share: the schema in a database, and a catalogue as a bridge publishes it."""
import json

from cluster import ClusterTest, schema_files

WORLD = "11111111-1111-4111-8111-111111111111"
OTHER_WORLD = "22222222-2222-4222-8222-222222222222"

CATALOGUE = {
    "workflows": [
        {"workflow": "shop/Order@1", "key": "shop/Id@1", "events": [
            {"schema": "shop/Placed@1", "key_field": "id", "starts": True},
            {"schema": "shop/Paid@1", "key_field": "order.id", "starts": False}]},
        {"workflow": "shop/Clock@1", "key": None, "events": [{"schema": "shop/Tick@1", "starts": True}]}],
    "schemas": {
        "shop/Id@1": {"text": {}},
        "shop/Item@1": {"record": {"sku": {"text": {}}, "count": {"nat": {}}}},
        "shop/Placed@1": {"record": {"id": {"text": {}}, "items": {"list": {"ref": "shop/Item@1"}},
                                     "note": {"option": {"text": {}}}}},
        "shop/Paid@1": {"record": {"order": {"record": {"id": {"text": {}}}}, "cents": {"int": {}}}},
        "shop/Tick@1": {"record": {"n": {"nat": {}}}}}}


def order(key="o-1", **more):
    return json.dumps({"id": key, "items": [{"sku": "tea", "count": 2}], **more})


def paid(key="o-1", cents=5):
    return json.dumps({"order": {"id": key}, "cents": cents})


class SchemaTest(ClusterTest):
    """With the schema installed by `owner`, and alice and bob as its users."""

    def setUp(self):
        super().setUp()
        self.owner = self.connect("owner")
        self.owner("BEGIN")
        for file in schema_files():
            self.owner(file.read_text())
        self.owner("INSERT INTO holdfast.installation (version) VALUES (1)")
        self.owner("COMMIT")
        self.publish()
        for role in ("alice", "bob"):
            self.owner("SELECT holdfast.grant_usage($1)", role)
        self.alice, self.bob = self.connect("alice"), self.connect("bob")

    def publish(self, world=WORLD, catalogue=None):
        self.owner("SELECT holdfast.publish($1, $2)", world, json.dumps(catalogue or CATALOGUE))

    def start(self, connection, key="o-1"):
        return connection.value("SELECT holdfast.start('shop/Order@1', $1)", order(key))

    def inbox(self, columns="verb, key", where="true"):
        return self.owner(f"SELECT {columns} FROM holdfast.inbox WHERE {where} ORDER BY seq")

    def run_instance(self, instance):
        """What a bridge writes when it has admitted a start."""
        self.owner("""WITH taken AS (UPDATE holdfast.inbox SET outcome = 'accepted', decided = now()
                                     WHERE id = $1 RETURNING *)
                      INSERT INTO holdfast.instances (id, world, workflow, key, submitter, status, created)
                      SELECT id, world, workflow, key, submitter, 'running', created FROM taken""", instance)

    def end_instance(self, instance, status="completed", result=None, error=None):
        self.owner("""UPDATE holdfast.instances SET status = $2, result = $3, error = $4, ended = now()
                      WHERE id = $1""", instance, status, result, error)
