#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Step workflows over HTTP: what there is, one run of it from its start to its end, its picture, its stream."""
import os
import time
import unittest
import xml.etree.ElementTree

from server import FLOWS, ServerTest, wait_until
from streams_test import Stream

CASE = "/v1/instances/demo/RefundCase@1/"
START = "/v1/workflows/demo/RefundCase@1/start"
GRAPH = "/v1/workflows/demo/RefundCase@1/graph"
SECOND = 10**9


def refund(name, order="o-1", cents=1990, **more):
    return {"input": {"id": name, "order": order, "cents": cents}, **more}


def decided(name, by="manager", approved=True):
    return {"schema": "demo/RefundDecided@1", "value": {"id": name, "by": by, "approved": approved}}


class StepsTest(ServerTest):
    @staticmethod
    def status_of(client, path):
        reply = client.get(path)
        return reply.json()["state"]["status"] if reply.status == 200 else None

    def ask_manager(self, name, cents=9900, **more):
        """A run that waits for the answer to its question."""
        client = self.client()
        reply = client.post(START, refund(name, cents=cents, **more))
        self.assertEqual(reply.status, 201, reply.body)
        wait_until(lambda: self.status_of(client, CASE + name) == "idle")

    def stream(self, path, last=None):
        stream = Stream(self.port, path, last)
        self.addCleanup(stream.close)
        return stream


class Workflows(StepsTest):
    def setUp(self):
        super().setUp()
        self.start()

    def test_workflows_say_what_they_are_and_what_they_take(self):
        document = self.client().get("/v1/workflows").json()
        found = {each["workflow"]: each for each in document["workflows"]}
        self.assertEqual(set(found), {"demo/Order@1", "demo/RefundCase@1"})
        self.assertEqual((found["demo/Order@1"]["kind"], found["demo/Order@1"]["graph"]), ("native", False))
        case = found["demo/RefundCase@1"]
        self.assertEqual((case["kind"], case["graph"], case["stream"]), ("steps", True, "sys/StepEntry@2"))
        self.assertEqual(case["events"], [
            {"schema": "demo/RefundRequested@1", "key_field": "id", "starts": True},
            {"schema": "demo/RefundDecided@1", "key_field": "id", "starts": False}])
        self.assertEqual(document["schemas"][case["key"]], {"text": {}})
        self.assertEqual(document["schemas"]["demo/RefundDecided@1"],
                         {"record": {"id": {"text": {}}, "by": {"text": {}}, "approved": {"bool": {}}}})
        self.assertEqual(document["schemas"][found["demo/Order@1"]["state"]]["record"]["sku"], {"text": {}})

    def test_a_graph_is_a_document_and_three_kinds_of_picture(self):
        client = self.client()
        graph = client.get(GRAPH).json()["graph"]
        self.assertEqual([step["name"] for step in graph["steps"]], ["check", "decide", "give_up", "open", "pay", "weigh"])
        self.assertEqual(graph["steps"][0]["workers"], 2)
        self.assertEqual({each["schema"]: each["role"] for each in graph["types"]}["demo/RefundDecided@1"], "answers")
        self.assertEqual(graph["timeout_ns"], 30 * 24 * 3600 * SECOND)
        self.assertEqual(client.get(GRAPH + "?format=json").json()["graph"], graph)
        for form, accepted, begins in (("mermaid", "text/vnd.mermaid", b"flowchart TD\n  %% demo/RefundCase@1\n"),
                                       ("dot", "text/vnd.graphviz", b"digraph steps {\n"), ("svg", "image/svg+xml", b"<svg ")):
            asked = client.get(f"{GRAPH}?format={form}")
            accepts = client.get(GRAPH, Accept=accepted)
            self.assertEqual((asked.status, accepts.status), (200, 200))
            self.assertEqual(asked.body, accepts.body, form)
            self.assertTrue(asked.body.startswith(begins), asked.body[:100])
            self.assertIn(f"Content-Type: {accepted}".encode(), asked.head)
        texts = [each.text for each in xml.etree.ElementTree.fromstring(asked.body).iter("{http://www.w3.org/2000/svg}text")]
        for name in ("demo/RefundCase@1", "decide", "demo/RefundQuestion@1", "many", "all", "fails", "outside"):
            self.assertIn(name, texts)

    def test_what_cannot_be_drawn_is_refused(self):
        client = self.client()
        for path, status, code, detail in (
                ("/v1/workflows/demo/Order@1/graph", 404, "not_found", "is not made of steps"),
                ("/v1/workflows/demo/Nothing@1/graph", 404, "not_found", "no workflow"),
                (GRAPH + "?format=png", 400, "bad_target", "there is no format 'png'"),
                (CASE + "nobody/graph", 404, "not_found", ""),
                ("/v1/instances/demo/Order@1/o-1/graph", 404, "not_found", "is not made of steps")):
            reply = client.get(path)
            self.assertEqual((reply.status, reply.code()), (status, code), path)
            self.assertIn(detail, reply.json()["detail"], path)


class Runs(StepsTest):
    def setUp(self):
        super().setUp()
        self.start()

    def tallies(self, name):
        document = self.client().get(CASE + name + "/graph").json()
        execution = document["execution"]
        return execution, {each["step"]: each for each in execution["steps"]}

    def edge(self, execution, kind, **members):
        for each in execution["edges"]:
            if each["kind"] == kind and members.items() <= each.items():
                return each["count"]
        return 0

    def test_a_run_is_started_and_waited_for(self):
        reply = self.client().post(START, refund("r-1", wait=True))
        self.assertEqual(reply.status, 200, reply.body)
        instance = reply.json()["instance"]
        self.assertEqual((instance["status"], instance["result"]), ("completed", {"paid_cents": 1990, "note": "paid"}))
        self.assertEqual(instance["state"]["status"], "completed")
        execution, steps = self.tallies("r-1")
        self.assertEqual((execution["status"], execution["complete"]), ("completed", True))
        self.assertEqual({name: each["runs"] for name, each in steps.items()},
                         {"open": 1, "check": 4, "weigh": 1, "decide": 1, "pay": 1, "give_up": 0})
        self.assertEqual((steps["check"]["failed"], steps["check"]["given_up"], steps["check"]["error"]["code"]), (1, 0, "bank.busy"))
        self.assertEqual(self.edge(execution, "came", event="demo/RefundRequested@1"), 1)
        self.assertEqual(self.edge(execution, "returned", step="open", event="demo/RefundCheck@1"), 3)
        self.assertEqual(self.edge(execution, "taken", step="check", event="demo/RefundCheck@1"), 3)
        self.assertEqual(self.edge(execution, "returned", step="pay", event="demo/RefundClosed@1"), 1)
        why = self.client().get(CASE + "r-1/why").json()
        self.assertEqual((why["sentence"], why["reasons"]), ("It has ended: completed.", []))
        self.assertEqual([(each["step"], each["attempt"], each["code"]) for each in why["failed_attempts"]], [("check", 1, "bank.busy")])
        again = self.client().post(START, refund("r-1"))
        self.assertEqual((again.status, again.code()), (409, "conflict"))

    def test_a_run_that_asks_says_whom_what_and_until_when(self):
        self.ask_manager("r-2")
        client = self.client()
        why = client.get(CASE + "r-2/why").json()
        wait, timeout = why["reasons"]
        self.assertEqual((wait["kind"], wait["step"], wait["schema"], wait["requirements"]),
                         ("wait", "decide", "demo/RefundDecided@1", {"by": "manager"}))
        self.assertAlmostEqual(wait["due_ns"] / SECOND, time.time() + 72 * 3600, delta=120)
        self.assertEqual(timeout["kind"], "timeout")
        self.assertAlmostEqual(timeout["due_ns"] / SECOND, time.time() + 30 * 24 * 3600, delta=120)
        self.assertRegex(why["sentence"], r'\AStep decide waits for demo/RefundDecided@1 whose by is "manager", until '
                                          r'\d{4}-\d\d-\d\dT\S+Z; and for 1 more reason\.\Z')
        state = client.get(CASE + "r-2/state").json()["state"]
        (step,) = state["steps"]
        self.assertEqual((state["status"], step["step"]), ("idle", "decide"))
        (waiting,) = step["waiting"]
        self.assertEqual((waiting["for"], waiting["requirements"], waiting["since"]["value"]),
                         ("demo/RefundDecided@1", {"by": "manager"}, {"order": "o-1", "cents": 9900}))
        self.assertEqual(state, client.get(CASE + "r-2").json()["state"])
        execution, steps = self.tallies("r-2")
        self.assertEqual([each["schema"] for each in steps["decide"]["waiting"]], ["demo/RefundDecided@1"])
        self.assertEqual(self.edge(execution, "put", step="decide", event="demo/RefundQuestion@1"), 1)
        picture = client.get(CASE + "r-2/graph?format=mermaid").body.decode()
        self.assertIn("waits for demo/RefundDecided@1<br/>until ", picture)
        self.assertIn(":::waiting", picture)

    def test_an_answer_of_somebody_else_does_not_count(self):
        self.ask_manager("r-3")
        client = self.client()
        wrong = client.post(CASE + "r-3/signal", decided("r-3", by="customer"))
        self.assertEqual((wrong.status, wrong.json()["deliveries"]), (200, 1))
        self.assertEqual(client.get(CASE + "r-3/why").json()["reasons"][0]["kind"], "wait")
        right = client.post("/v1/events", decided("r-3", approved=False) | {"wait": True}).json()
        self.assertEqual(right["instance"]["result"], {"paid_cents": 0, "note": "the manager said no"})
        kinds = [entry["kind"] for name, _, entry in self.stream(CASE + "r-3/stream").events() if name == "message"]
        self.assertEqual(kinds.count("unhandled"), 1)
        execution, steps = self.tallies("r-3")
        self.assertEqual((steps["decide"]["runs"], steps["decide"]["waits"], steps["decide"]["completed"]), (2, 1, 1))
        self.assertEqual(self.edge(execution, "answered", step="decide", event="demo/RefundDecided@1"), 1)
        self.assertEqual(self.edge(execution, "came", event="demo/RefundDecided@1"), 2)

    def test_a_step_that_fails_for_good_is_handled_and_drawn(self):
        reply = self.client().post(START, refund("r-4", order="lost", wait=True)).json()
        self.assertEqual(reply["instance"]["result"]["note"], "given up: nobody knows of this order")
        execution, steps = self.tallies("r-4")
        self.assertEqual((steps["check"]["given_up"], steps["give_up"]["completed"]), (1, 1))
        self.assertEqual(self.edge(execution, "handled", step="check", handler="give_up"), 1)
        picture = self.client().get(CASE + "r-4/graph", Accept="image/svg+xml")
        xml.etree.ElementTree.fromstring(picture.body)
        self.assertIn("failed ×".encode(), picture.body)

    def test_a_retry_says_when(self):
        client = self.client()
        client.post(START, refund("r-5", order="sunday"))

        def waits_for_bank():
            answer = client.get(CASE + "r-5/why").json()
            first = answer["reasons"][0] if answer["reasons"] else {}
            return answer if (first.get("kind"), first.get("step")) == ("retry", "pay") else None
        why = wait_until(waits_for_bank)
        retry = why["reasons"][0]
        self.assertEqual((retry["failures"], retry["schema"]), (1, "demo/RefundApproved@1"))
        self.assertAlmostEqual(retry["due_ns"] / SECOND, time.time() + 3600, delta=120)
        self.assertRegex(why["sentence"], r"\AStep pay has failed 1 time, and is tried again at \S+Z; the last attempt failed with bank\.closed: it opens again on Monday; and for 1 more reason\.\Z")
        state = client.get(CASE + "r-5/state").json()["state"]
        self.assertEqual(state["steps"][0]["queue"][0]["not_before_ns"], retry["due_ns"])
        _, steps = self.tallies("r-5")
        self.assertEqual((steps["pay"]["delayed"], steps["pay"]["delayed_ns"]), (1, retry["due_ns"]))

    def test_a_stream_shows_events_as_values_and_one_end(self):
        self.ask_manager("r-6")
        stream = self.stream(CASE + "r-6/stream")
        seen = []
        for name, number, entry in stream.events():
            seen.append((name, number, entry))
            if entry.get("kind") == "idle":
                break
        questions = [entry for _, _, entry in seen if entry.get("schema") == "demo/RefundQuestion@1"]
        self.assertEqual(questions, [{"kind": "event", "schema": "demo/RefundQuestion@1",
                                      "value": {"text": "give back 99.00 for order o-1?"}}])
        self.client().post("/v1/events", decided("r-6"))
        rest = list(stream.events())
        self.assertEqual(rest[-1][0::2], ("end", {"status": "completed"}))
        self.assertEqual(rest[-2][2], {"kind": "stopped", "schema": "demo/RefundClosed@1", "value": {"paid_cents": 9900, "note": "paid"}})
        every = seen + rest
        # A reader that comes after the end, or again, gets the same. One that has the end is told to stay away.
        self.assertEqual(list(self.stream(CASE + "r-6/stream").events()), every)
        for at in (0, 2, len(every) - 2):
            behind = every[at + 1:]
            self.assertEqual(list(self.stream(CASE + "r-6/stream", last=every[at][1]).events()), behind)
            self.assertEqual(list(self.stream(f"{CASE}r-6/stream?after={every[at][1]}").events()), behind)
        self.assertEqual(self.stream(CASE + "r-6/stream", last=every[-1][1]).read_head(), 204)
        self.assertEqual(self.stream(f"{CASE}r-6/stream?after={every[-1][1]}").read_head(), 204)

    def test_a_run_that_the_kernel_cancels_ends_its_stream(self):
        self.ask_manager("r-7")
        stream = self.stream(CASE + "r-7/stream").events()
        self.assertEqual(next(stream)[0], "message")
        self.client().post(CASE + "r-7/cancel", {"reason": "by mistake"})
        self.assertEqual([(name, entry) for name, _, entry in stream][-1], ("end", {"status": "cancelled"}))
        self.assertEqual([(name, entry) for name, _, entry in self.stream(CASE + "r-7/stream").events()][-1],
                         ("end", {"status": "cancelled"}))
        execution, steps = self.tallies("r-7")
        self.assertEqual((execution["status"], steps["decide"]["waiting"]), ("cancelled", []))


class Others(StepsTest):
    """Of a program whose steps are late, or wait at a gate."""
    program = FLOWS

    def test_a_run_that_times_out_ends_its_stream(self):
        self.start()
        client = self.client()
        self.assertEqual(client.post("/v1/workflows/flows/Late@1/start", {"input": {"id": "a"}}).status, 201)
        events = list(self.stream("/v1/instances/flows/Late@1/a/stream").events())
        self.assertEqual((events[-1][0], events[-1][2]), ("end", {"status": "failed"}))
        self.assertEqual(events[-2][2]["kind"], "timed_out")
        self.assertEqual(events[-2][2]["elapsed_ns"], 700_000_000)
        self.assertEqual(client.get("/v1/instances/flows/Late@1/a").json()["error"]["code"], "steps.timed_out")
        self.assertEqual(list(self.stream("/v1/instances/flows/Late@1/a/stream").events()), events)
        picture = client.get("/v1/instances/flows/Late@1/a/graph?format=dot").body.decode()
        self.assertIn('label="flows/Late@1/a\\nfailed with steps.timed_out, records 2 to ', picture)

    def test_an_event_without_a_slot_says_behind_what_it_is(self):
        gate = self.folder / "gate"
        os.environ["HOLDFAST_GATE"] = str(gate)
        self.addCleanup(os.environ.pop, "HOLDFAST_GATE")
        self.start()
        client = self.client()
        client.post("/v1/workflows/flows/Gate@1/start", {"input": {"id": "g"}})
        path = "/v1/instances/flows/Gate@1/g"
        why = wait_until(lambda: next((answer for answer in [client.get(path + "/why").json()]
                                       if len(answer["reasons"]) == 3), None))
        queued = [reason for reason in why["reasons"] if reason["kind"] == "queued"]
        self.assertEqual([(each["step"], each["schema"], each["running"], each["workers"], each["events_before"]) for each in queued],
                         [("pass", "flows/Task@1", 1, 1, 0), ("pass", "flows/Task@1", 1, 1, 1)])
        self.assertIn("It waits for the receipt of flows/Gate.pass@1", why["sentence"])
        (step,) = client.get(path).json()["state"]["steps"]
        self.assertEqual((step["running"][0]["value"], [each["value"] for each in step["queue"]]),
                         ({"number": 1}, [{"number": 2}, {"number": 3}]))
        picture = client.get(path + "/graph?format=mermaid").body.decode()
        self.assertIn('pass<br/>ran ×1<br/>running now: 1<br/>queued: 2"]:::running', picture)
        gate.touch()
        wait_until(lambda: client.get(path).json()["status"] == "completed")
        execution = client.get(path + "/graph").json()["execution"]
        self.assertEqual([each["runs"] for each in execution["steps"]], [1, 3, 1])


class Killed(StepsTest):
    def test_a_stream_goes_on_behind_what_a_reader_has_whoever_is_killed(self):
        self.start()
        self.ask_manager("k-1")
        seen = []
        for event in self.stream(CASE + "k-1/stream").events():
            seen.append(event)
            if event[2].get("kind") == "idle":
                break
        self.kill()
        self.start()
        why = self.client().get(CASE + "k-1/why").json()
        self.assertEqual(why["reasons"][0]["requirements"], {"by": "manager"}, "what it waits for outlives the server")
        stream = self.stream(CASE + "k-1/stream", last=seen[-1][1])
        self.client().post("/v1/events", decided("k-1"))
        for event in stream.events():
            seen.append(event)
            if event[2].get("kind") == "stopped":
                break
        self.kill()
        self.start()
        seen += self.stream(CASE + "k-1/stream", last=seen[-1][1]).events()
        self.assertEqual(seen[-1][0::2], ("end", {"status": "completed"}))
        self.assertEqual(list(self.stream(CASE + "k-1/stream").events()), seen, "nothing is missing, nothing comes twice")
        self.assertEqual(self.client().get(CASE + "k-1").json()["result"], {"paid_cents": 9900, "note": "paid"})


if __name__ == "__main__":
    unittest.main()
