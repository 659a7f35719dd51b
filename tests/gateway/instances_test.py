#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists of instances: what is in them, how they are narrowed, how they go on."""
import unittest
from urllib.parse import quote

from server import TELLER, ServerTest, order, wait_until


class ListTest(ServerTest):
    def list(self, query="", client=None):
        reply = (client or self.client()).get("/v1/instances" + query)
        self.assertEqual(reply.status, 200, reply.body)
        return reply.json()

    def keys(self, query=""):
        return [entry["key"] for entry in self.list(query)["instances"]]

    def settled(self):
        """Waits until the index has seen everything."""
        client = self.client()

        def seen():
            found = self.list(client=client)
            return found if found["lag"] == 0 and found["seen"] == client.get("/v1/journal").json()["last"] else None
        return wait_until(seen)


class Instances(ListTest):
    def test_a_key_with_a_slash_is_written_escaped_and_a_404_says_so(self):
        self.start()
        client = self.client()
        self.assertEqual(client.post("/v1/events", order("a/b", wait=True)).status, 200)
        self.assertEqual(client.get("/v1/instances/demo/Order@1/a%2Fb").json()["key"], "a/b")
        plain = client.get("/v1/instances/demo/Order@1/a/b")
        self.assertEqual(plain.status, 404)
        self.assertIn("%2F", plain.json()["detail"])

    def test_enums_are_found_by_their_names(self):
        self.start()
        self.assertEqual(self.client().post("/v1/events", order("e-1", wait=True)).status, 200)
        self.settled()
        self.assertEqual(self.keys("?where=" + quote("state.stage=ship")), ["e-1"])
        self.assertEqual(self.keys("?where=" + quote("state.stage=refund")), [])

    def test_instances_are_listed_the_newest_first_with_how_they_stand(self):
        self.start()
        client = self.client()
        self.assertEqual(self.list()["instances"], [])
        for name in ("a", "b", "c"):
            self.assertEqual(client.post("/v1/events", order(name, wait=True)).status, 200)
        unicorn = order("d", wait=True)
        unicorn["value"]["sku"] = "unicorn"
        client.post("/v1/events", unicorn)
        found = self.settled()
        self.assertEqual([entry["key"] for entry in found["instances"]], ["d", "c", "b", "a"])
        self.assertIsNone(found["next"])
        first, second = found["instances"][:2]
        self.assertEqual((first["status"], first["error"]["code"]), ("failed", "not_reserved"))
        self.assertEqual((second["status"], second["workflow"], second["paused"]),
                         ("completed", "demo/Order@1", False))
        self.assertNotIn("error", second)
        self.assertGreater(second["steps"], 1)
        shown = client.get("/v1/instances/demo/Order@1/c").json()
        self.assertEqual(second["last_record"], shown["record"])
        self.assertLessEqual(second["first_ns"], second["last_ns"])
        # Narrowed.
        self.assertEqual(self.keys("?status=failed"), ["d"])
        self.assertEqual(self.keys("?status=running"), [])
        self.assertEqual(self.keys("?workflow=demo/Order@1&status=completed"), ["c", "b", "a"])
        self.assertEqual(self.keys("?workflow=demo/No@1"), [])
        self.assertEqual(self.keys("?paused=1"), [])
        self.assertEqual(self.keys("?paused=0"), ["d", "c", "b", "a"])
        self.assertEqual(self.keys(f"?since={second['last_ns']}"), ["d", "c"])

    def test_a_list_has_what_was_answered_before(self):
        self.start()
        client = self.client()
        for i in range(50):
            self.assertEqual(client.post("/v1/events", order(f"o-{i:02}", wait=True)).status, 200)
            newest = self.list("?limit=1", client)["instances"][0]
            self.assertEqual((newest["key"], newest["status"]), (f"o-{i:02}", "completed"))

    def test_a_list_goes_on_where_the_part_before_ended(self):
        self.start()
        client = self.client()
        for i in range(25):
            self.assertEqual(client.post("/v1/events", order(f"o-{i:02}")).status, 200)
        self.settled()
        seen, after = [], ""
        while after is not None:
            part = self.list(f"?limit=7{after}")
            self.assertLessEqual(len(part["instances"]), 7)
            seen += [entry["key"] for entry in part["instances"]]
            after = f"&after={part['next']}" if part["next"] else None
        self.assertEqual(seen, [f"o-{i:02}" for i in reversed(range(25))])

    def test_what_cannot_be_asked_is_refused(self):
        self.start()
        client = self.client()
        for query in ("limit=0", "limit=1001", "limit=x", "status=dead", "paused=2", "since=-1", "keys=a"):
            self.assertEqual(client.get("/v1/instances?" + query).code(), "bad_target", query)

    def test_an_index_that_was_removed_is_made_again(self):
        self.start()
        self.client().post("/v1/events", order("a", wait=True))
        self.assertEqual(self.stop(), 0)
        for file in self.world.glob("history.db*"):
            file.unlink()
        self.start()
        self.assertEqual([entry["key"] for entry in self.settled()["instances"]], ["a"])


class Trouble(ListTest):
    program = TELLER

    def wait_for_index(self):
        """Without a list, which would read it."""
        wait_until(lambda: self.figure("holdfast_history_lag") == 0)

    def test_an_index_that_cannot_be_read_is_a_problem_of_its_own_and_is_made_again(self):
        self.start()
        for i in range(300):
            reply = self.client().post("/v1/events", {"schema": "test/Tell@1", "value": {
                "name": f"t-{i}", "count": 3, "letters": 20, "leave": False}})
            self.assertEqual(reply.status, 200, reply.body)
        self.wait_for_index()
        self.assertEqual(self.stop(), 0)
        self.start()
        self.wait_until_quiet()  # figures count instances, so they would read it, too
        index = self.world / "history.db"
        with open(index, "r+b") as file:
            file.seek(4096)
            file.write(b"\x5a" * (index.stat().st_size - 4096))
        reply = self.client().get("/v1/instances?words=aaaa")  # what nothing has read yet
        self.assertEqual((reply.status, reply.code()), (503, "history"), reply.body)
        self.assertNotIn(b"history.db", reply.body)
        self.assertNotIn(str(self.folder).encode(), reply.body)
        self.assertIn(b"Retry-After", reply.head)
        client = self.client()
        wait_until(lambda: client.get("/v1/instances").status == 200)
        self.wait_for_index()
        self.assertEqual(len(self.client().get("/v1/instances?limit=1000").json()["instances"]), 300)
        self.assertIn("history.db", (self.folder / "errors").read_text(), "the operator is told")


class Words(ListTest):
    program = TELLER

    def test_instances_are_found_by_what_they_have_put_out(self):
        self.start()
        client = self.client()
        for name, letters in (("a", 3), ("b", 5)):
            client.post("/v1/events", {"schema": "test/Tell@1", "value": {
                "name": name, "count": 1, "letters": letters, "leave": False}})
        self.settled()
        self.assertEqual(self.keys("?words=" + quote("xxx")), ["a"])
        self.assertEqual(self.keys("?words=" + quote("xxxxx letters")), ["b"])
        self.assertEqual(self.keys("?words=nothing"), [])


if __name__ == "__main__":
    unittest.main()
