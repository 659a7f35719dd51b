#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast trace follows everything that comes of something, and says how far it has looked; holdfast diagnose: every verdict."""
import re
import subprocess

from program import PATIENCE, PROGRAM, ROOT, main, wait_until
from serving import ServingTest

WAITS = PROGRAM.parent / "tests" / "waits"


class Trace(ServingTest):
    def test_turns_that_were_left_over_are_followed(self):
        """One event makes 1641 instances, more than one record holds: the others take their turns in records of their own."""
        with self.server(program=WAITS) as url:
            place = ("--server", url)
            sent = self.ask_at(place, "start", "waits/ForTurn@1", '{"id":"s","depth":2}', program=WAITS)
            self.assertEqual(sent["deliveries"], 1)

            def when_all_are_there():
                records = self.ask_at(place, "journal", "--limit", "1000", program=WAITS)["records"]
                there = {instance["key"] for record in records for instance in record["instances"]}
                return records if len(there) == 1 + 40 + 1600 else None

            journal = wait_until(when_all_are_there)
            online = self.ask_at(place, "trace", str(sent["record"]), program=WAITS)
        self.assertGreater(len([each for each in journal if each["tick"]["kind"] == "continue"]), 0)
        traced = [record["record"] for record in online["records"]]
        self.assertEqual(traced, [record["record"] for record in journal if record["record"] >= sent["record"]])
        told = {instance["key"] for record in online["records"] for instance in record["instances"]}
        self.assertEqual(len(told), 1 + 40 + 1600)
        self.assertTrue(online["complete"])
        self.assertEqual(self.ask_at(("--world", "world"), "trace", str(sent["record"]), program=WAITS), online)

    def test_of_an_instance_everything_that_came_to_it_is_followed(self):
        with self.server(program=WAITS) as url:
            place = ("--server", url)
            first = self.ask_at(place, "start", "waits/ForEvent@1", '{"id":"a"}', "--id", "e-1", program=WAITS)["record"]
            self.ask_at(place, "start", "waits/ForEvent@1", '{"id":"b"}', program=WAITS)
            second = self.ask_at(place, "signal", "waits/ForEvent@1/a", "waits/Begin@1", '{"id":"a"}', "--id", "e-2", program=WAITS)["record"]
            self.ask_at(place, "pause", "waits/ForEvent@1/a", program=WAITS)
            online = {what: self.ask_at(place, "trace", what, program=WAITS) for what in ("waits/ForEvent@1/a", "e-1", "e-2", str(first))}
        numbers = {what: [record["record"] for record in traced["records"]] for what, traced in online.items()}
        self.assertEqual(numbers["waits/ForEvent@1/a"], [first, second, second + 1])
        self.assertEqual(numbers["e-1"], [first, second + 1], "the event alone, and what was done to whom it reached")
        self.assertEqual(numbers["e-2"], [second, second + 1])
        self.assertEqual(numbers[str(first)], numbers["e-1"])
        for what, traced in online.items():
            self.assertTrue(traced["complete"])
            self.assertEqual(self.ask_at(("--world", "world"), "trace", what, program=WAITS), traced)

    def test_how_far_it_has_looked_is_said(self):
        self.make_world(orders=6)
        traced = self.ask_at(("--world", "world"), "trace", "demo/Order@1/o-1", "--limit", "2")
        self.assertEqual(([record["record"] for record in traced["records"]], traced["complete"], traced["looked_up_to"]), ([2, 3], False, 3))
        self.assertEqual(len(traced["open"]), 2)
        text = self.run_program("trace", "demo/Order@1/o-1", "--limit", "2", "--world", "world").stdout.decode()
        self.assertIn("It was followed up to record 3 only; there may be more: say a larger --limit.\n", text)
        waiting = self.ask_at(("--world", "world"), "trace", "demo/Order@1/o-3")
        self.assertEqual((waiting["complete"], waiting["looked_up_to"], len(waiting["open"])), (True, 15, 2), "to the end of the journal")


class Diagnose(ServingTest):
    def verdict(self, place, instance):
        return self.ask_at(place, "diagnose", instance, program=WAITS)["verdict"]

    def test_every_verdict_is_come_to(self):
        found = set()
        subprocess.run([WAITS, "make", "world"], cwd=self.folder, check=True, capture_output=True, timeout=PATIENCE)
        place = ("--world", "world")
        for instance, verdict in (("ForWorker@1/w", "waiting for a receipt"), ("ForTimer@1/w", "waiting for a receipt"),
                                  ("ForEvent@1/w", "waiting for an event"), ("ForEvent@1/paused", "paused"),
                                  ("ForTurn@1/s-39-39", "running"), ("ForRoom@1/w", "waiting for room"), ("ForNothing@1/w", "unknown")):
            self.assertEqual(self.verdict(place, f"waits/{instance}"), verdict)
            found.add(verdict)
        subprocess.run([WAITS, "fail", "failed"], cwd=self.folder, check=True, timeout=PATIENCE)
        for key, verdict in (("fault", "fault"), ("error", "executor error"), ("timeout", "timeout")):
            self.assertEqual(self.verdict(("--world", "failed"), f"waits/Fails@1/{key}"), verdict)
            found.add(verdict)
        said = self.run_as(WAITS, "diagnose", "waits/Fails@1/timeout", "--world", "failed")
        self.assertRegex(said, r"\Atimeout: record \d+ says that an effect took too long: [^;]+; not_done: what was asked for did not come\n\Z")
        self.assertRegex(self.run_as(WAITS, "diagnose", "waits/Fails@1/fault", "--world", "failed"),
                         r"\Afault: its own step has failed it; own: its own fault\n\Z")
        # Of those that have gone on, too.
        for key, trouble in (("on-error", "executor error"), ("on-timeout", "timeout")):
            said = self.run_as(WAITS, "diagnose", f"waits/Fails@1/{key}", "--world", "failed")
            self.assertRegex(said, rf"\Awaiting for an event: .*\nLast trouble: {trouble} in record \d+: \w+.*\n\Z")
        self.make_world("orders", orders=1)
        self.assertEqual(self.ask_at(("--world", "orders"), "diagnose", "demo/Order@1/o-1")["verdict"], "completed")
        with self.server(world="served", program=WAITS) as url:
            self.ask_at(("--server", url), "start", "waits/ForEvent@1", '{"id":"a"}', program=WAITS)
            self.ask_at(("--server", url), "cancel", "waits/ForEvent@1/a", program=WAITS)
            self.assertEqual(self.verdict(("--server", url), "waits/ForEvent@1/a"), "cancelled")
        with self.server(world="refunds") as url:
            self.ask_at(("--server", url), "send", "demo/RefundRequested@1", '{"id":"r","order":"sunday","cents":5}')
            self.wait_for_verdict(("--server", url), "demo/RefundCase@1/r", "waiting to try again")
        found |= {"completed", "cancelled", "waiting to try again"}
        known = set(re.findall(r'(?:return |verdict = )\{"([a-z ]+)",', (ROOT / "src/cli/trace.cc").read_text()))
        self.assertGreater(len(known), 8)
        self.assertEqual(found, known, "every verdict that the program knows has been come to")

    def wait_for_verdict(self, place, instance, verdict):
        wait_until(lambda: self.ask_at(place, "diagnose", instance)["verdict"] == verdict, verdict)

    def run_as(self, program, *arguments):
        done = subprocess.run([program, *arguments], cwd=self.folder, capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        return done.stdout.decode()


if __name__ == "__main__":
    main()
