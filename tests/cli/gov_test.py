#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast apply and holdfast gov, on a world in its folder: from a proposal to its application."""
import json

from order_worlds import OrderWorldTest
from program import main


class Governance(OrderWorldTest):
    def run_ok(self, *arguments):
        done = self.run_program(*arguments, "--world", "world", "--any-file-system", "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0), arguments)
        return json.loads(done.stdout)

    def refused(self, *arguments):
        done = self.run_program(*arguments, "--world", "world", "--any-file-system")
        self.assertEqual((done.stdout, done.returncode), (b"", 1), arguments)
        return done.stderr.decode()

    def present(self):
        done = self.run_program("manifest", "--world", "world", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["definitions"]

    def stages(self):
        done = self.run_program("gov", "ls", "--world", "world", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [(each["proposal"], each["stage"]) for each in json.loads(done.stdout)["proposals"]]

    def bundle(self, name="bundle.json", change=lambda definitions: definitions):
        """The definitions of the world, changed."""
        definitions = change(self.present())
        for definition in definitions:
            definition.pop("hash", None)
        self.write(name, json.dumps(definitions))
        return name

    @staticmethod
    def with_a_time_limit(definitions):
        """Charging may take a minute from now on: every intent of it has another identity then."""
        for definition in definitions:
            if definition.get("name") == "demo/charge@1":
                definition["timeout_ns"] = 60 * 10**9
        return [without_hashes(definition) for definition in definitions]

    @staticmethod
    def without_orders(definitions):
        """Nobody hears of orders any more."""
        for definition in definitions:
            if definition["$kind"] == "manifest":
                routing = definition["routing"]
                routing["subscriptions"] = [each for each in routing["subscriptions"]
                                            if each["event"] != "demo/OrderPlaced@1"]
        return [without_hashes(definition) for definition in definitions]

    def test_what_stands_in_the_way_is_said(self):
        self.make_world(orders=3)
        bundle = self.bundle(change=self.with_a_time_limit)
        before = self.contents()
        done = self.run_program("apply", bundle, "--check", "--world", "world", "--json")
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 1))
        found = json.loads(done.stdout)
        self.assertEqual((found["record"], found["blocking_count"]), (None, 1))
        self.assertEqual({name: found["blocking"][0][name] for name in ("workflow", "key", "status", "effects")},
                         {"workflow": "demo/Order@1", "key": "o-3", "status": "waiting", "effects": 2})
        self.assertEqual(self.contents(), before, "nothing is written")
        self.assertEqual(self.refused("apply", bundle), "holdfast: 1 instances have not ended: demo/Order@1/o-3"
                         "; for demo/Order@1 this changes: demo/charge@1\n")

    def test_a_rehearsal_says_what_would_become_of_instances_and_writes_nothing(self):
        self.make_world(orders=3)
        bundle = self.bundle(change=self.with_a_time_limit)
        before = self.contents()
        for how, code, pinned in (((), 1, []), (("--pin",), 0, [{"workflow": "demo/Order@1", "instances": 1}])):
            done = self.run_program("apply", bundle, "--rehearse", *how, "--world", "world", "--json")
            self.assertEqual((done.stderr.decode(), done.returncode), ("", code), how)
            found = json.loads(done.stdout)
            self.assertEqual((found["record"], found["pinned"], found["blocking_count"]), (None, pinned, code))
            rehearsal = found["rehearsal"]
            self.assertEqual((rehearsal["instances"], rehearsal["difference"], rehearsal["good"]), (1, None, code == 0))
            self.assertEqual([rehearsal[name] for name in ("differs", "differs_ended", "differing", "replay_stopped")], [0, 0, [], None])
            self.assertEqual(rehearsal["replayed"], rehearsal["at"], "all of a small world")
        done = self.run_program("apply", bundle, "--rehearse", "--migrate", "--world", "world", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        staying = json.loads(done.stdout)["rehearsal"]["staying"]
        self.assertEqual([(each["key"], each["why"]) for each in staying],
                         [("o-3", "it waits for 'demo/charge@1', which the present version has in another form")])
        self.assertEqual(self.contents(), before, "nothing is written")
        self.assertIn("--rehearse", self.run_program("apply", bundle, "--migrate", "--world", "world").stderr.decode())

    def test_why_tells_that_an_instance_keeps_its_version(self):
        self.make_world(orders=3)
        self.run_ok("apply", self.bundle(change=self.with_a_time_limit), "--pin")
        stays = "it waits for 'demo/charge@1', which the present version has in another form"
        version = self.run_why("--json")
        self.assertEqual(json.loads(version)["version"]["stays_because"], stays)
        lines = self.run_why().splitlines()
        self.assertRegex(lines[1], r"^It keeps the version of its workflow that it began with \(sha256:[0-9a-f]{64}\)\. ")
        self.assertTrue(lines[1].endswith(f"It cannot move to the present one: {stays}."), lines)

    def run_why(self, *options):
        done = self.run_program("why", "demo/Order@1/o-3", "--world", "world", *options)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        return done.stdout.decode()

    def test_definitions_are_applied_where_nothing_is_under_way(self):
        self.make_world(orders=1)
        bundle = self.bundle(change=self.with_a_time_limit)
        self.assertEqual(self.run_ok("apply", bundle, "--check"),
                         {"record": None, "unchanged": False, "added": [], "changed": ["demo/charge@1"], "removed": [], "pinned": [],
                          "blocking": [], "blocking_count": 0, "blocking_workflows": []})
        self.assertEqual(self.run_ok("apply", bundle)["record"], 6)
        self.assertIn(60 * 10**9, [each.get("timeout_ns") for each in self.present()])
        self.assertEqual(self.run_program("verify", "world").returncode, 0)

    # The recipes of docs/changing.md. Each command opens the world again.
    @staticmethod
    def with_more(definitions):
        """A schema that nothing uses."""
        definitions.append({"$kind": "defschema", "name": "demo/More@1", "type": {"text": {}}})
        for definition in definitions:
            if definition["$kind"] == "manifest":
                definition["schemas"].append({"name": "demo/More@1"})
        return [without_hashes(definition) for definition in definitions]

    def test_what_is_added_is_applied_beside_a_waiting_instance(self):
        self.make_world(orders=3)
        before = self.bundle("before.json", lambda definitions: [without_hashes(each) for each in definitions])
        bundle = self.bundle(change=self.with_more)
        self.assertIn("1 instances have not ended", self.refused("apply", bundle, "--strict"))
        applied = self.run_ok("apply", bundle)
        self.assertEqual((applied["added"], applied["changed"], applied["removed"]), (["demo/More@1"], [], []))
        self.assertEqual(self.run_ok("apply", bundle)["unchanged"], True)
        self.assertEqual(self.run_ok("apply", before)["removed"], ["demo/More@1"])
        self.assertEqual(self.run_program("verify", "world").returncode, 0)

    def test_a_changed_workflow_is_pinned_and_rolled_back(self):
        self.make_world(orders=3)
        before = self.bundle("before.json", lambda definitions: [without_hashes(each) for each in definitions])
        bundle = self.bundle(change=self.with_a_time_limit)
        self.assertIn("this changes: demo/charge@1", self.refused("apply", bundle))
        pinned = [{"workflow": "demo/Order@1", "instances": 1}]
        self.assertEqual(self.run_ok("apply", bundle, "--pin", "--check")["pinned"], pinned)
        self.assertEqual(self.run_ok("apply", bundle, "--pin")["pinned"], pinned)
        self.make_world(orders=3)  # one more waits, with the new version
        listed = self.statuses()
        self.assertEqual(sorted(listed.values()), ["completed"] * 2 + ["failed"] * 2 + ["waiting"] * 2)
        self.assertEqual(self.run_ok("apply", before, "--pin")["pinned"], pinned)  # the newer one
        self.assertEqual(self.statuses(), listed)
        self.assertEqual(self.run_program("verify", "world").returncode, 0)

    def statuses(self):
        done = self.run_program("ls", "--world", "world", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {each["key"]: each["status"] for each in json.loads(done.stdout)["instances"]}

    def test_a_proposal_goes_its_way(self):
        self.make_world(orders=2)  # one is shipped, one refused: nothing is under way
        bundle = self.bundle(change=self.with_a_time_limit)
        proposal = self.run_ok("gov", "propose", bundle, "--description", "charging has a minute")["proposal"]
        self.assertEqual(self.stages(), [(proposal, "proposed")])
        self.assertIn("the proposal is proposed: it must be tried before", self.refused("gov", "approve", str(proposal)))
        self.assertIn("it must be tried and approved before", self.refused("gov", "apply", str(proposal)))
        report = self.run_ok("gov", "shadow", str(proposal))
        self.assertEqual({name: report[name] for name in ("refused", "answered", "effects", "unwanted", "instances", "different")},
                         {"refused": 0, "answered": 4, "effects": 0, "unwanted": 0, "instances": 2, "different": 0})
        self.assertEqual(report["statuses"], [{"status": "completed", "present": 1, "tried": 1}, {"status": "failed", "present": 1, "tried": 1}])
        self.assertIn({"effect": "demo/charge@1", "opened_present": 2, "opened_tried": 2, "open_present": 0, "open_tried": 0},
                      report["effect_counts"])
        self.assertIn({"workflow": "demo/Order@1", "effect": "demo/charge@1", "present": True, "tried": True}, report["allow_lists"])
        self.assertEqual(report["allowed_differently"], 0)
        self.assertEqual(self.stages(), [(proposal, "shadowed")])
        kept = json.loads(self.run_program("gov", "ls", str(proposal), "--world", "world", "--json").stdout)
        self.assertEqual(kept["report"], report)
        self.assertEqual((kept["base"], kept["manifest"]), (report["present_manifest"], report["tried_manifest"]))
        self.run_ok("gov", "approve", str(proposal), "--by", "ada", "--reason", "no differences")
        self.assertEqual(self.stages(), [(proposal, "approved")])
        self.run_ok("gov", "apply", str(proposal))
        self.assertEqual(self.stages(), [(proposal, "applied")])
        self.assertIn(60 * 10**9, [each.get("timeout_ns") for each in self.present()])
        kinds = [record["tick"]["kind"] for record in
                 json.loads(self.run_program("journal", "world", "--from", "8", "--json").stdout)["records"]]
        self.assertEqual(kinds, ["propose", "shadow", "decide", "apply proposal"])
        self.assertEqual(self.run_program("verify", "world").returncode, 0)

    def test_a_trial_shows_what_would_have_come_out_differently(self):
        self.make_world(orders=3)
        bundle = self.bundle(change=self.without_orders)
        proposal = self.run_ok("gov", "propose", bundle)["proposal"]
        report = self.run_ok("gov", "shadow", str(proposal))
        self.assertEqual((report["instances"], report["different"], report["unwanted"]), (3, 3, 4))
        by_key = {each["key"]: each for each in report["differences"]}
        self.assertIn('demo/charge@1 of demo/Order@1 "o-1": 1 at present, 0 tried', report["effect_differences"])
        self.assertIsNone(by_key["o-1"]["tried"])
        self.assertEqual(by_key["o-1"]["present"]["status"], "completed")
        text = self.run_program("gov", "ls", str(proposal), "--world", "world").stdout.decode()
        self.assertIn("instances  3 compared, 3 came out differently\n", text)
        self.assertIn("demo/Order@1/o-3\n  present  waiting ", text)
        self.run_ok("gov", "reject", str(proposal), "--reason", "who would take the orders?")
        self.assertEqual(self.stages(), [(proposal, "rejected")])
        self.assertIn("the proposal is rejected", self.refused("gov", "shadow", str(proposal)))

    def test_a_patch_is_proposed_and_a_stretch_of_records_tried(self):
        self.make_world(orders=2)
        made = self.run_ok("gov", "propose", self.bundle(change=self.with_a_time_limit))["proposal"]
        base = json.loads(self.run_program("gov", "ls", str(made), "--world", "world", "--json").stdout)["base"]
        patch = {"base_manifest_hash": base, "patches": [{"add_def": {"kind": "defschema", "node": {
            "$kind": "defschema", "name": "demo/Nothing@1", "type": {"text": {}}}}}]}
        self.write("patch.json", json.dumps(patch))
        proposal = self.run_ok("gov", "propose", "--patch", "patch.json")["proposal"]
        report = self.run_ok("gov", "shadow", str(proposal), "--from", "6", "--to", "7")
        self.assertEqual((report["from"], report["to"], report["instances"]), (6, 7, 1))
        self.assertIn("from 99: the journal has records 1 to", self.refused("gov", "shadow", str(proposal), "--from", "99"))
        self.write("patch.json", json.dumps({**patch, "base_manifest_hash": "sha256:" + 64 * "0"}))
        self.assertIn("base_manifest_hash", self.refused("gov", "propose", "--patch", "patch.json"))

    def test_a_bundle_with_mistakes_and_a_proposal_that_is_not_there_are_refused(self):
        self.make_world(orders=1)
        self.write("bad.json", '{"$kind": "defschema", "name": "shop/Order@1", "type": {"ref": "shop/Nothing@1"}}')
        self.assertIn("holdfast: 1 error in bad.json\n", self.refused("apply", "bad.json"))
        for command in ("shadow", "approve", "reject", "apply"):
            self.assertEqual(self.refused("gov", command, "17"), "holdfast: there is no proposal 17\n")
        self.assertEqual(self.run_program("gov", "ls", "17", "--world", "world").returncode, 1)


def without_hashes(definition):
    """As people write it: the hashes of a manifest are filled in by whoever loads it."""
    if isinstance(definition, dict):
        return {name: without_hashes(value) for name, value in definition.items() if name != "hash"}
    if isinstance(definition, list):
        return [without_hashes(each) for each in definition]
    return definition


if __name__ == "__main__":
    main()
