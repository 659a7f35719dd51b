#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the page asks for beside single instances: what everything waits for, what changed, batches, who asks; and the kill
button of a supervised server."""
import collections
import json
import re
import unittest

from server import Client, ServerTest, wait_until

REFUND = "demo/RefundCase@1"


class BoardTest(ServerTest):
    def refund(self, client, name, order="o-1", cents=9900):
        body = {"input": {"id": name, "order": order, "cents": cents}}
        self.assertEqual(client.post(f"/v1/workflows/{REFUND}/start", body).status, 201)

    def why(self, client, name):
        return client.get(f"/v1/instances/{REFUND}/{name}/why").json()

    def wait_for_reason(self, client, name, kind, step):
        wait_until(lambda: any((each["kind"], each.get("step")) == (kind, step) for each in self.why(client, name)["reasons"]), f"{name} does not wait for {kind}")

    def make_waits(self, client):
        """Three that ask a manager, one that is paused, one whose bank is closed until later."""
        for name in ("ask-1", "ask-2", "ask-3", "paused"):
            self.refund(client, name)
            self.wait_for_reason(client, name, "wait", "decide")
        self.assertEqual(client.post(f"/v1/instances/{REFUND}/paused/pause", {"reason": "to see it"}).status, 200)
        self.refund(client, "later", order="sunday", cents=100)
        self.wait_for_reason(client, "later", "retry", "pay")


class Waits(BoardTest):
    def test_groups_add_up_to_the_number_of_waiting_instances(self):
        self.start()
        client = self.client()
        self.assertEqual(client.get("/v1/waits").json()["groups"], [])
        self.make_waits(client)
        waits = client.get("/v1/waits").json()
        [counts] = [each["counts"] for each in client.get("/v1/overview").json()["workflows"]]
        self.assertEqual((waits["waiting"], waits["moved_on"], waits["not_examined"]), (counts["waiting"], 0, 0))
        self.assertEqual(sum(group["count"] for group in waits["groups"]), counts["waiting"])
        found = {(group["kind"], group["subject"]): group for group in waits["groups"]}
        self.assertEqual({name: group["count"] for name, group in found.items()},
                         {("wait", "decide ← demo/RefundDecided@1"): 3, ("paused", ""): 1, ("retry", "pay ← demo/RefundApproved@1"): 1})
        asks = found["wait", "decide ← demo/RefundDecided@1"]
        self.assertIn("Step decide waits for demo/RefundDecided@1", asks["sentence"])
        self.assertEqual(sorted(each["key"] for each in asks["examples"]), ["ask-1", "ask-2", "ask-3"])
        self.assertLess(asks["oldest_ns"], found["retry", "pay ← demo/RefundApproved@1"]["oldest_ns"])

    def test_instances_that_are_not_looked_at_are_counted(self):
        self.start()
        client = self.client()
        self.make_waits(client)
        waits = client.get("/v1/waits?limit=2").json()
        self.assertEqual((waits["waiting"], waits["not_examined"], sum(group["count"] for group in waits["groups"])), (5, 3, 2))
        self.assertEqual(client.get("/v1/waits?workflow=demo/Order@1").json()["waiting"], 0)
        self.assertEqual(client.get("/v1/waits?limit=0").code(), "bad_target")
        self.assertEqual(client.get("/v1/waits?limit=100000").code(), "bad_target")

    def test_every_waiting_instance_in_a_list_has_its_reason(self):
        self.start()
        client = self.client()
        self.make_waits(client)
        client.post("/v1/events", {"schema": "demo/OrderPlaced@1", "value": {"id": "o-1", "sku": "mug", "count": 1, "cents": 5}, "wait": True})
        rows = client.get("/v1/instances?why=1").json()["instances"]
        self.assertEqual(len(rows), 6)
        for row in rows:
            self.assertEqual("why" in row, row["status"] == "waiting", row)
            if "why" in row:
                alone = client.get(f"/v1/instances/{row['workflow']}/{row['key']}/why").json()
                self.assertEqual(row["why"]["sentence"], alone["sentence"])
                self.assertTrue(row["why"]["reasons"])
        self.assertNotIn("why", client.get("/v1/instances?status=waiting").json()["instances"][0])
        self.assertEqual(client.get("/v1/instances?why=1&limit=201").code(), "bad_target")


class Lists(BoardTest):
    def keys(self, client, query):
        """All parts of a list, as one."""
        found, after = [], None
        while True:
            part = client.get(f"/v1/instances?{query}" + (f"&after={after}" if after else "")).json()
            found += [row["key"] for row in part["instances"]]
            after = part["next"]
            if after is None:
                return found

    def test_a_list_is_narrowed_by_statuses_keys_codes_times_and_reasons(self):
        self.start()
        client = self.client()
        self.make_waits(client)
        for name, sku in (("o-1", "mug"), ("o-2", "unicorn"), ("p-1", "mug")):
            client.post("/v1/events", {"schema": "demo/OrderPlaced@1", "value": {"id": name, "sku": sku, "count": 1, "cents": 5}, "wait": True})
        self.assertEqual(self.keys(client, "status=failed,completed&limit=1"), ["p-1", "o-2", "o-1"])
        self.assertEqual(self.keys(client, "key=o-"), ["o-2", "o-1"])
        self.assertEqual(self.keys(client, "key=ask&status=waiting,running"), ["ask-3", "ask-2", "ask-1"])
        self.assertEqual(self.keys(client, "code=not_reserved"), ["o-2"])
        self.assertEqual(self.keys(client, "code=not_reserved&status=completed"), [])
        self.assertEqual(self.keys(client, "paused=1"), ["paused"])
        row = client.get("/v1/instances?key=o-1").json()["instances"][0]
        self.assertEqual(self.keys(client, f"since={row['last_ns']}&until={row['last_ns'] + 1}"), ["o-1"])
        self.assertEqual(self.keys(client, "reason=wait&limit=2"), ["ask-3", "ask-2", "ask-1"])
        groups = client.get("/v1/waits").json()["groups"]
        for group in groups:
            reason = f"{group['kind']} {group['subject']}".strip().replace(" ", "%20").replace("←", "%E2%86%90")
            self.assertEqual(len(self.keys(client, f"workflow={group['workflow']}&reason={reason}")), group["count"], group)
        explained = client.get("/v1/instances?reason=retry&why=1").json()["instances"]
        self.assertEqual([row["why"]["reasons"][0]["kind"] for row in explained], ["retry"])
        self.assertEqual(client.get("/v1/instances?status=waiting,nonsense").code(), "bad_target")
        self.assertEqual(client.get("/v1/instances?reason=wait&where=key=a").code(), "bad_target")

    def test_a_list_says_how_many_there_are_where_that_is_counted(self):
        self.start()
        client = self.client()
        self.make_waits(client)
        total = lambda query: client.get(f"/v1/instances?limit=1{query and '&' + query}").json()["total"]
        self.assertEqual((total(""), total("status=waiting,running"), total("status=failed"), total(f"workflow={REFUND}")), (5, 5, 0, 5))
        self.assertIsNone(total("paused=1"))
        self.assertIsNone(total("key=ask"))

    def test_the_overview_has_what_began_and_ended_over_time(self):
        self.start()
        client = self.client()
        self.assertNotIn("rates", client.get("/v1/overview").json())
        self.make_waits(client)
        for name, sku in (("o-1", "mug"), ("o-2", "unicorn")):
            client.post("/v1/events", {"schema": "demo/OrderPlaced@1", "value": {"id": name, "sku": sku, "count": 1, "cents": 5}, "wait": True})
        self.assertEqual(client.post(f"/v1/instances/{REFUND}/ask-1/cancel", {}).status, 200)
        for minutes, step in ((10, 10), (60, 30), (2880, 1440)):
            rates = client.get(f"/v1/overview?minutes={minutes}").json()["rates"]
            self.assertEqual(rates["step_ns"], step * 10**9)
            sums = {name: sum(point[name] for point in rates["points"]) for name in ("begun", "completed", "failed", "cancelled")}
            self.assertEqual(sums, {"begun": 7, "completed": 1, "failed": 1, "cancelled": 1})
            self.assertEqual([point["from_ns"] % rates["step_ns"] for point in rates["points"]], [0] * len(rates["points"]))
        self.assertEqual(client.get("/v1/overview?minutes=2881").code(), "bad_target")

    def test_the_command_line_finds_keys_by_how_they_begin(self):
        self.start()
        client = self.client()
        self.make_waits(client)
        url = f"http://127.0.0.1:{self.port}"
        self.assertEqual(self.run_program("ls", "--key", "ask", "--server", url).stdout.count("ask-"), 3)
        self.assertIn("cancel: 3 instances", self.run_program("batch", "cancel", "--key", "ask", "--dry-run", "--server", url).stdout)
        self.kill()
        self.assertEqual(self.run_program("ls", "--key", "ask", "--world", self.world).stdout.count("ask-"), 3)


class Watch(BoardTest):
    def events(self, client, count):
        """The next events of the stream."""
        client.send(b"GET /v1/watch HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        client.called("GET", "/v1/watch", 200)
        while True:
            found = re.findall(rb"data: (\{.*?\})\n\n", client.held)
            if len(found) >= count:
                return [json.loads(each) for each in found]
            self.assertTrue(client.fill(), "the stream ended")

    def test_new_records_are_told_and_many_together(self):
        self.start()
        watcher, client = self.client(), self.client()
        [first] = self.events(watcher, 1)
        last = client.get("/v1/journal?limit=1").json()["last"]
        self.assertEqual(first["record"], last)
        for number in range(40):
            client.post("/v1/events", {"schema": "demo/OrderPlaced@1", "value": {"id": f"w-{number}", "sku": "mug", "count": 1, "cents": 5}, "wait": True})
        last = client.get("/v1/journal?limit=1").json()["last"]
        told = []
        while not told or told[-1]["record"] < last:
            self.assertTrue(watcher.fill())
            told = [json.loads(each) for each in re.findall(rb"data: (\{.*?\})\n\n", watcher.held)]
        records = [each["record"] for each in told]
        self.assertEqual(records, sorted(set(records)))
        self.assertLess(len(records), last - first["record"], "records are told together")


class Batches(BoardTest):
    def ended(self, client, batch):
        return wait_until(lambda: (found := client.get(f"/v1/batches/{batch}").json())["status"] != "running" and found, "the batch does not end")

    def statuses(self, client):
        rows = client.get("/v1/instances").json()["instances"]
        return {row["key"]: "paused" if row["paused"] else row["status"] for row in rows}

    def test_a_dry_run_counts_and_changes_nothing(self):
        self.start()
        client = self.client()
        self.make_waits(client)
        tried = client.post("/v1/batches", {"action": "cancel", "filter": {"workflow": REFUND}, "dry_run": True})
        self.assertEqual(tried.status, 200)
        self.assertEqual((tried.json()["expected"], tried.json()["exact"], len(tried.json()["examples"])), (5, True, 5))
        tried = client.post("/v1/batches", {"action": "resume", "filter": {"paused": True}, "dry_run": True}).json()
        self.assertEqual((tried["expected"], [each["key"] for each in tried["examples"]]), (1, ["paused"]))
        self.assertEqual(client.get("/v1/batches").json(), {"batches": []})
        self.assertEqual(set(self.statuses(client).values()), {"waiting", "paused"})

    def test_a_filter_is_paused_resumed_and_cancelled(self):
        self.start()
        client = self.client()
        self.make_waits(client)
        for action, done, unchanged, now in (("pause", 4, 1, "paused"), ("resume", 5, 0, "waiting"), ("cancel", 5, 0, "cancelled")):
            begun = client.post("/v1/batches", {"action": action, "filter": {"workflow": REFUND}, "reason": "all of them"})
            self.assertEqual(begun.status, 202)
            batch = self.ended(client, begun.json()["batch"])
            self.assertEqual((batch["status"], batch["expected"], batch["done"] + batch["unchanged"], batch["failed"]), ("finished", 5, 5, 0), batch)
            if (batch["done"], batch["unchanged"]) != (5, 0):
                self.assertEqual((batch["done"], batch["unchanged"]), (done, unchanged))
            self.assertEqual(collections.Counter(self.statuses(client).values()), {now: 5})
        records = client.get(f"/v1/instances/{REFUND}/ask-1/timeline?limit=1").json()["records"]
        self.assertIn("all of them", json.dumps(records))
        batches = client.get("/v1/batches").json()["batches"]
        self.assertEqual([each["action"] for each in batches], ["cancel", "resume", "pause"])
        self.assertEqual(client.post(f"/v1/batches/{batches[0]['batch']}/abort", {}).code(), "conflict")

    def test_ids_are_named_and_those_that_are_not_there_are_counted(self):
        self.start()
        client = self.client()
        self.make_waits(client)
        ids = [{"workflow": REFUND, "key": key} for key in ("ask-1", "nobody", "ask-2")]
        batch = self.ended(client, client.post("/v1/batches", {"action": "cancel", "ids": ids}).json()["batch"])
        self.assertEqual((batch["expected"], batch["done"], batch["unchanged"]), (3, 2, 1))
        self.assertEqual(self.statuses(client)["ask-3"], "waiting")

    def test_a_batch_is_aborted(self):
        self.start()
        client = self.client()
        ids = [{"workflow": REFUND, "key": f"none-{number}"} for number in range(10_000)]
        begun = client.post("/v1/batches", {"action": "cancel", "ids": ids}).json()
        aborted = client.post(f"/v1/batches/{begun['batch']}/abort", {})
        self.assertEqual(aborted.status, 200, aborted.body)
        self.assertEqual(aborted.json()["status"], "aborted")
        self.assertLess(aborted.json()["unchanged"], 10_000)

    def test_what_cannot_be_a_batch_is_refused_with_its_place(self):
        self.start()
        client = self.client()
        for body, path in (({}, "$.action"), ({"action": "delete", "filter": {}}, "$.action"), ({"action": "cancel"}, "$"),
                           ({"action": "cancel", "filter": {}, "ids": []}, "$"), ({"action": "cancel", "filter": {"status": "failed"}}, "$.filter.status"),
                           ({"action": "cancel", "filter": {"key": 1}}, "$.filter.key"), ({"action": "cancel", "ids": [{"workflow": "a"}]}, "$.ids[0]"),
                           ({"action": "cancel", "filter": {}, "dry_run": 1}, "$.dry_run"), ({"action": "cancel", "filter": 7}, "$.filter")):
            reply = client.post("/v1/batches", body)
            self.assertEqual((reply.code(), reply.json().get("path", "$")), ("bad_body", path), (body, reply.body))
        self.assertEqual(client.get("/v1/batches/b1").code(), "not_found")
        self.assertEqual(client.post("/v1/batches/b1/abort", {}).code(), "not_found")

    def test_the_command_line_counts_and_cancels(self):
        self.start()
        client = self.client()
        self.make_waits(client)
        url = f"http://127.0.0.1:{self.port}"
        self.assertIn("demo/RefundCase@1  5", self.run_program("overview", "--server", url).stdout)
        waits = self.run_program("waits", "--server", url).stdout
        self.assertRegex(waits, r"(?m)^3 +\d+ s +demo/RefundCase@1 +wait decide")
        tried = self.run_program("batch", "cancel", "--workflow", REFUND, "--dry-run", "--server", url)
        self.assertEqual(tried.stdout.splitlines()[0], "cancel: 5 instances")
        done = self.run_program("batch", "cancel", "--workflow", REFUND, "--reason", "closed", "--server", url)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("cancel finished: 5 done, 0 unchanged, 0 failed of 5", done.stdout)
        self.assertEqual(json.loads(self.run_program("waits", "--json", "--server", url).stdout)["waiting"], 0)


class Me(BoardTest):
    def test_a_token_is_told_its_role(self):
        self.start()
        self.assertEqual(self.client().get("/v1/me").json(), {"name": "", "role": "admin", "open": True, "supervised": False})
        self.assertEqual(self.client().post("/v1/dev/kill", {}).code(), "conflict")
        self.kill()
        token = self.run_program("token", "add", "--world", self.world, "--role", "viewer", "--name", "v").stdout
        self.start()
        token = re.search(r"hf_\S+", token)[0]
        said = self.client().get("/v1/me", Authorization=f"Bearer {token}")
        self.assertEqual(said.json(), {"name": "v", "role": "viewer", "open": False, "supervised": False})
        self.assertEqual(self.client().post("/v1/batches", {"action": "cancel", "filter": {}}, Authorization=f"Bearer {token}").code(), "forbidden")


def numbers_of_journal(client):
    """What the records say: the status of every instance, and how often each effect was settled."""
    statuses, settled, place, last = {}, collections.Counter(), 1, 1
    while place <= last:
        part = client.get(f"/v1/journal?from={place}&limit=1000").json()
        last = part["last"]
        for record in part["records"]:
            for instance in record["instances"]:
                statuses[instance["workflow"], json.dumps(instance["key"])] = instance["status"]
            if record["tick"]["kind"] == "receipt":
                settled[record["tick"]["intent"]] += 1
        place = part["next"]
    return statuses, settled


class Supervised(BoardTest):
    def test_a_killed_server_is_back_and_its_counters_agree_with_the_journal(self):
        self.start(self.world, "--live", "20", "--supervise", command="dev")
        client = self.client()
        self.assertTrue(client.get("/v1/me").json()["supervised"])
        wait_until(lambda: client.get("/v1/journal?limit=1").json()["last"] > 150, "there is no work")
        before = client.get("/v1/journal?limit=1").json()["last"]
        for _ in range(2):
            self.assertEqual(client.post("/v1/dev/kill", {}).status, 202)
            line = self.process.stdout.readline()
            while "again after a kill" not in line:
                self.assertTrue(line, "the supervisor ended")
                line = self.process.stdout.readline()
            client = self.client()
            self.assertGreaterEqual(client.get("/v1/journal?limit=1").json()["last"], before)
        wait_until(lambda: client.get("/v1/journal?limit=1").json()["last"] > before + 100, "the work does not go on")
        self.kill()
        wait_until(self.is_free, "the server outlives its supervisor")
        self.start()
        client = self.client()
        read = []

        def is_read_at_rest():
            """Refunds that wait for their retries go on meanwhile."""
            last = lambda: client.get("/v1/journal?limit=1").json()["last"]
            before = last()
            read[:] = [numbers_of_journal(client), client.get("/v1/overview").json()]
            return read[1]["lag"] == 0 and last() == before

        wait_until(is_read_at_rest, "the work does not rest")
        (statuses, settled), overview = read
        counted = {each["workflow"]: each["counts"] for each in overview["workflows"]}
        expected = {}
        for (workflow, _), status in statuses.items():
            expected.setdefault(workflow, collections.Counter())[status] += 1
        self.assertEqual({name: dict(counts) for name, counts in expected.items()}, counted)
        self.assertEqual([intent for intent, times in settled.items() if times > 1], [], "counted twice")

    def is_free(self):
        try:
            Client(self.port).close()
            return False
        except OSError:
            return True


if __name__ == "__main__":
    unittest.main()
