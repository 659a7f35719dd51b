#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An event in every form that it may come in: our own document and CloudEvents, in JSON and CBOR. It happens once
under its id, whatever form it comes in again."""
import base64
import json
import unittest

from server import ServerTest, order

ORDER = "/v1/instances/demo/Order@1/"
CLOUD = "application/cloudevents+json"


def cbor(value):
    """Maps, texts and numbers from 0, which is all that is needed here."""
    def head(kind, number):
        for size, code in ((1, 24), (2, 25), (4, 26), (8, 27)):
            if number < 24:
                return bytes([kind << 5 | number])
            if number < 1 << (8 * size):
                return bytes([kind << 5 | code]) + number.to_bytes(size, "big")
        raise ValueError(number)
    if isinstance(value, dict):
        return head(5, len(value)) + b"".join(cbor(name) + cbor(each) for name, each in value.items())
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    return head(0, value)


def value_of(name):
    return order(name)["value"]


class Forms(ServerTest):
    def setUp(self):
        super().setUp()
        self.start()

    def send(self, body, kind, **fields):
        reply = self.client().post("/v1/events", body, **{"Content-Type": kind, **fields})
        self.assertEqual(reply.status, 200, reply.body)
        return reply.json()

    def structured(self, name, **more):
        return json.dumps({"specversion": "1.0", "type": "demo/OrderPlaced@1", "source": "/shop", "id": name,
                           **more}).encode()

    def binary(self, name):
        return {"ce-specversion": "1.0", "ce-type": "demo/OrderPlaced@1", "ce-source": "/shop", "ce-id": name}

    def test_each_form_begins_the_order_that_it_names(self):
        data = json.dumps(value_of("e")).encode()
        self.send(json.dumps(order("a")).encode(), "application/json")
        self.send(cbor(order("b")), "application/cbor")
        self.send(self.structured("c", data=value_of("c")), CLOUD)
        self.send(self.structured("d", datacontenttype="application/json", data=value_of("d")), CLOUD)
        self.send(self.structured("e", datacontenttype="application/json",
                                  data_base64=base64.b64encode(data).decode()), CLOUD)
        self.send(self.structured("f", datacontenttype="application/cbor",
                                  data_base64=base64.b64encode(cbor(value_of("f"))).decode()), CLOUD)
        self.send(json.dumps(value_of("g")).encode(), "application/json", **self.binary("g"))
        self.send(cbor(value_of("h")), "application/cbor", **self.binary("h"))
        for name in "abcdefgh":
            self.assertEqual(self.client().get(ORDER + name).status, 200, name)
        ids = {record["tick"]["id"] for record in self.client().get("/v1/journal?limit=1000").json()["records"]
               if record["tick"]["kind"] == "event"}
        self.assertLessEqual({f"/shop {name}" for name in "cdefgh"}, ids)

    def test_a_cloud_event_happens_once_in_whatever_form_it_comes_again(self):
        self.assertFalse(self.send(self.structured("a", data=value_of("a")), CLOUD)["repeated"])
        self.assertTrue(self.send(self.structured("a", data=value_of("a")), CLOUD)["repeated"])
        self.assertTrue(self.send(cbor(value_of("a")), "application/cbor", **self.binary("a"))["repeated"])
        self.assertTrue(self.send(json.dumps(order("a", id="/shop a")).encode(), "application/json")["repeated"])
        self.assertTrue(self.send(json.dumps(order("a")).encode(), "application/json",
                                  **{"Idempotency-Key": "/shop a"})["repeated"])
        # Another source has ids of its own.
        other = self.structured("a", data=value_of("b")).replace(b"/shop", b"/mill")
        self.assertFalse(self.send(other, CLOUD)["repeated"])

    def test_the_header_field_is_the_id_and_must_not_contradict_it(self):
        client = self.client()
        same = {"Idempotency-Key": "k-1"}
        self.assertFalse(client.post("/v1/events", order("a"), **same).json()["repeated"])
        self.assertTrue(client.post("/v1/events", order("a", id="k-1")).json()["repeated"])
        self.assertTrue(client.post("/v1/events", order("a", id="k-1"), **same).json()["repeated"])
        reply = client.post("/v1/events", order("a", id="k-2"), **same)
        self.assertEqual((reply.status, reply.code(), reply.json()["path"]), (400, "bad_body", "$.id"))
        self.assertEqual(client.post("/v1/events", order("b"), **same).code(), "conflict")
        started = client.post("/v1/workflows/demo/Order@1/start", {"input": value_of("c")}, **{"Idempotency-Key": "s-1"})
        self.assertEqual(started.status, 201, started.body)
        again = client.post("/v1/workflows/demo/Order@1/start", {"input": value_of("c")}, **{"Idempotency-Key": "s-1"})
        self.assertEqual((again.status, again.json()["repeated"]), (200, True), again.body)

    def test_an_answer_is_cbor_for_those_who_accept_it(self):
        self.send(json.dumps(order("a")).encode(), "application/json")
        reply = self.client().get(ORDER + "a", Accept="application/cbor")
        self.assertIn(b"Content-Type: application/cbor", reply.head)
        self.assertIn(cbor("workflow") + cbor("demo/Order@1"), reply.body)
        problem = self.client().get(ORDER + "nobody", Accept="application/cbor")
        self.assertEqual(problem.code(), "not_found", "problems are JSON for everybody")

    def assert_bad(self, path, body, place, detail, **fields):
        last = self.client().get("/v1/journal").json()["last"]
        reply = self.client().post(path, body, **fields)
        self.assertEqual((reply.status, reply.code()), (400, "bad_body"), reply.body)
        self.assertEqual((reply.json().get("path"), reply.json()["detail"]), (place, detail))
        self.assertEqual(self.client().get("/v1/journal").json()["last"], last)  # and nothing has happened

    def test_an_id_that_is_there_and_empty_is_refused(self):
        start = "/v1/workflows/demo/Order@1/start"
        empty = {"Idempotency-Key": ""}
        self.assert_bad("/v1/events", order("a"), None, "the Idempotency-Key is empty", **empty)
        self.assert_bad("/v1/events", order("a", id="x"), None, "the Idempotency-Key is empty", **empty)
        self.assert_bad("/v1/events", order("a", id=""), "$.id", "it is empty")
        self.assert_bad(start, {"input": value_of("a")}, None, "the Idempotency-Key is empty", **empty)
        self.assert_bad(start, {"input": value_of("a"), "id": ""}, "$.id", "it is empty")
        self.assert_bad("/v1/events", self.structured("", data=value_of("a")), "$.id", "it is empty", **{"Content-Type": CLOUD})
        self.assert_bad("/v1/events", self.structured("a", source="", data=value_of("a")), "$.source", "it is empty",
                        **{"Content-Type": CLOUD})
        begun = self.client().post(start, {"input": value_of("a"), "id": None, "wait": True})  # said to be none
        self.assertEqual((begun.status, begun.json()["instance"]["status"]), (200, "completed"))
        self.assert_bad(ORDER + "a/signal", order("a", id=""), "$.id", "it is empty")

    def test_a_key_that_is_not_the_one_in_the_event_is_refused(self):
        start = "/v1/workflows/demo/Order@1/start"
        self.assert_bad(start, {"input": value_of("w-6"), "key": "w-7"}, "$.key",
                        'the event has another key, "w-6", where its route finds it')
        self.assertEqual(self.client().post(start, {"input": value_of("w-6"), "key": "w-6"}).status, 201)
        self.assertEqual(self.client().get(ORDER + "w-6").status, 200)
        self.assertEqual(self.client().get(ORDER + "w-7").status, 404)


if __name__ == "__main__":
    unittest.main()
