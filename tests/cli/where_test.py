#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast ls --where FIELD=VALUE and holdfast journal --from --to --kind: the same of a folder and through a server."""
import contextlib
import http.client
import json
import time

from program import PATIENCE, main, wait_until
from serving import ORDER, ServingTest


def connected_to(url):
    return contextlib.closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE))


class Where(ServingTest):
    def keys(self, place, *conditions):
        return sorted(row["key"] for row in self.ask_at(place, "ls", *conditions)["instances"])

    def test_instances_are_chosen_by_what_they_are_now(self):
        with self.server() as url:
            server = ("--server", url)
            for key, sku in (("a", "mug"), ("b", "unicorn"), ("c", "mug"), ("d", "teapot")):
                self.run_program("start", "demo/Order@1", ORDER % (key, sku), "--wait", "60000", *server)
            for _ in range(100):  # the index may lag a little
                if len(self.keys(server)) == 4:
                    break
                time.sleep(0.1)
            conditions = {
                "state.sku=mug": ["a", "c"], "state.count=1": ["a", "b", "c", "d"], "state.count=2": [], "key=d": ["d"],
                "status=failed": ["b"], "error.code=not_reserved": ["b"], "result.payment=payment-c": ["c"], "paused=true": [],
                "state.stage.$tag=refund": ["b"], "state.nothing=1": []}
            online = {condition: self.keys(server, "--where", condition) for condition in conditions}
            self.assertEqual(online, conditions)
            self.assertEqual(self.keys(server, "--where", "state.sku=mug", "--limit", "1"), ["c"])
            self.assertEqual(self.keys(server, "--where", "state.sku=mug", "--status", "failed"), [])
        self.assertEqual({condition: self.keys(("--world", "world"), "--where", condition) for condition in conditions}, conditions)
        self.assertEqual(self.keys(("--world", "world"), "--where", "state.sku=mug", "--limit", "1"), ["c"])

    def test_how_many_are_wanted_is_not_how_many_are_looked_at(self):
        with self.server() as url:
            server = ("--server", url)
            orders = 450  # more than two parts of what a server looks at
            with connected_to(url) as connection:
                for number in range(orders):
                    sku = "mug" if number < 3 else "teapot"
                    body = json.dumps({"schema": "demo/OrderPlaced@1", "value": json.loads(ORDER % (f"k-{number:03}", sku))})
                    connection.request("POST", "/v1/events", body, {"Content-Type": "application/json"})
                    answer = connection.getresponse()
                    self.assertEqual((answer.status, answer.read() != b""), (200, True))
                for _ in range(100):  # the index may lag a little
                    if len(self.keys(server, "--limit", "1000")) == orders:
                        break
                    time.sleep(0.1)
                parts, after, kept = 0, 0, []
                while after is not None:
                    connection.request("GET", f"/v1/instances?where=state.sku%3Dmug&limit=1&after={after}")
                    part = json.load(connection.getresponse())
                    kept += [row["key"] for row in part["instances"]]
                    self.assertLessEqual(len(part["instances"]), 1)
                    parts, after = parts + 1, part["next"]
            self.assertEqual(kept, ["k-002", "k-001", "k-000"])
            self.assertEqual(parts, 5, "two parts of 200 have none, three have one each")
            self.assertEqual(self.keys(server, "--where", "state.sku=mug", "--limit", "1"), ["k-002"])
            self.assertEqual(self.keys(server, "--where", "state.sku=mug", "--limit", "2"), ["k-001", "k-002"])
            self.assertEqual(self.keys(server, "--where", "state.sku=mug"), ["k-000", "k-001", "k-002"])
            self.assertEqual(len(self.keys(server, "--since", "3600", "--limit", "420")), 420)

    def test_what_is_no_condition_is_misuse(self):
        for text in ("sku", "sku=mug", "=1", "state..x=1"):
            self.assertEqual(self.run_program("ls", "--world", "world", "--where", text).returncode, 2, text)

    def test_the_journal_is_cut_and_sifted(self):
        self.make_world(orders=6)
        self.write("holdfast.yaml", "retention: 0\n")  # these are old, and nothing is to come behind the last record
        with self.server(applies=False) as url:
            place = ("--server", url)
            # Two of them had effects open, which are performed now.
            wait_until(lambda: self.ask_at(place, "why", "--all")["instances"] == [])
            whole = self.ask_at(place, "journal", "--to", "15")["records"]
            part = self.ask_at(place, "journal", "--from", "3", "--to", "6")
            self.assertEqual((part["records"], part["next"]), (whole[2:6], None))
            events = self.ask_at(place, "journal", "--kind", "event", "--to", "15")["records"]
            self.assertEqual(events, [record for record in whole if record["tick"]["kind"] == "event"])
            two = self.ask_at(place, "journal", "--kind", "event", "--limit", "2", "--to", "15")
            self.assertEqual((two["records"], two["next"]), (events[:2], events[1]["record"] + 1))
            last = self.ask_at(place, "journal", "--limit", "1000")["records"][-1]["record"]
            self.assertEqual(self.ask_at(place, "journal", "--from", str(last + 1))["records"], [])
            self.assertEqual(self.refused_at(place, "journal", "--from", str(last + 2)), f"holdfast: the last record is {last} (not_found)\n")
        place = ("--world", "world")
        self.assertEqual(self.ask_at(place, "journal", "--to", "15")["records"], whole)
        part = self.ask_at(place, "journal", "--from", "3", "--to", "6")
        self.assertEqual((part["records"], part["next"]), (whole[2:6], None))
        self.assertEqual(self.ask_at(place, "journal", "--kind", "event", "--to", "15")["records"], events)
        self.assertEqual(self.ask_at(place, "journal", "--kind", "event", "--limit", "2", "--to", "15"), two)
        self.assertEqual(self.ask_at(place, "journal", "--kind", "apply")["records"][0]["record"], 1)
        self.assertEqual(self.run_program("journal", "world", "--kind", "nonsense").returncode, 2)


if __name__ == "__main__":
    main()
