#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other definitions through a server: what stands in the way, what a trial shows, approved, rejected and applied, as in a folder."""
import json

from program import PROGRAM, main
from serving import ORDER, ServingTest

WAITS = PROGRAM.parent / "tests" / "waits"


def without_hashes(document):
    return json.loads(json.dumps(document), object_hook=lambda each: {name: value for name, value in each.items() if name != "hash"})


class Governing(ServingTest):
    def bundle(self, place, change=lambda definitions: None, name="bundle.json", program=PROGRAM):
        definitions = self.ask_at(place, "manifest", program=program)["definitions"]
        change(definitions)
        self.write(name, json.dumps(without_hashes(definitions)))
        return name

    @staticmethod
    def without_routes(definitions):
        for each in definitions:
            if each["$kind"] == "manifest":
                each["routing"]["subscriptions"] = []

    def stage(self, place, proposal, program=PROGRAM):
        listed = self.ask_at(place, "gov", "ls", program=program)["proposals"]
        return [each["stage"] for each in listed if each["proposal"] == proposal][0]

    def test_a_trial_shows_the_differences_and_what_is_rejected_stays_out(self):
        with self.server() as url:
            place = ("--server", url)
            for key in ("a", "b"):
                self.ask_at(place, "send", "demo/OrderPlaced@1", ORDER % (key, "mug"), "--wait", "60000")
            bundle = self.bundle(place, self.without_routes)
            proposal = self.ask_at(place, "gov", "propose", bundle, "--description", "nobody hears")["proposal"]
            self.assertEqual(self.stage(place, proposal), "proposed")
            self.assertIn("the proposal is proposed: it must be tried before", self.refused_at(place, "gov", "approve", str(proposal)))
            before = self.run_program("gov", "ls", str(proposal), *place).stdout.decode()
            self.assertRegex(before, rf"\Aproposal +{proposal}\nstage +proposed\ndescription +nobody hears\nbase +sha256:\w+\n"
                             rf"manifest +sha256:\w+\ntrial +none yet: holdfast gov shadow {proposal}\n\Z")
            done = self.run_program("gov", "shadow", str(proposal), *place)
            self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
            shown = done.stdout.decode()
            self.assertIn("instances  2 compared, 2 came out differently\n", shown)
            self.assertIn("demo/Order@1/a\n  present  completed ", shown)
            self.assertIn("\n  tried    is not there\n", shown)
            self.assertRegex(shown, r"\nallowed +\d+ effects of workflows, 0 of them in one of both only\n")
            self.assertRegex(shown, r"\nEFFECT +OPENED +TRIED +OPEN AT THE END +TRIED\n(.*\n)*demo/charge@1 +2 +0 +0 +0\n")
            self.assertRegex(shown, r"\nINSTANCES +PRESENT +TRIED\n(.*\n)*not there +0 +2\n")
            kept = self.run_program("gov", "ls", str(proposal), *place).stdout.decode()
            self.assertTrue(kept.endswith(shown), "it is kept")
            self.assertRegex(kept, rf"\Aproposal +{proposal}\nstage +shadowed\ndescription +nobody hears\n")
            self.assertEqual(self.stage(place, proposal), "shadowed")
            self.ask_at(place, "gov", "reject", str(proposal), "--by", "ada", "--reason", "who would take the orders?")
            kept = self.ask_at(place, "gov", "ls", str(proposal))
            self.assertEqual((kept["stage"], kept["by"], kept["reason"]), ("rejected", "ada", "who would take the orders?"))
            self.assertRegex(self.run_program("gov", "ls", str(proposal), *place).stdout.decode(),
                             r"\nstage +rejected\ndescription +nobody hears\nby +ada\nreason +who would take the orders\?\n")
            for command in ("approve", "apply", "reject", "shadow"):
                self.assertIn("the proposal is rejected", self.refused_at(place, "gov", command, str(proposal)))
            self.assertEqual(self.ask_at(place, "start", "demo/Order@1", ORDER % ("c", "mug"), "--wait", "60000")["instance"]["status"], "completed")
        # The folder says the same.
        self.assertEqual(self.ask_at(("--world", "world"), "gov", "ls", str(proposal)), kept)

    def test_what_stands_in_the_way_is_named_also_when_it_is_applied(self):
        with self.server(program=WAITS) as url:
            place = ("--server", url)
            self.ask_at(place, "start", "waits/ForEvent@1", '{"id":"a"}', program=WAITS)
            bundle = self.bundle(place, self.without_routes, program=WAITS)
            self.assertRegex(self.refused_at(place, "apply", bundle),
                             r"\Aholdfast: 1 instances have not ended \(waits/ForEvent@1 uses the route of [^)]*\): waits/ForEvent@1/a \(conflict\)\n\Z")
            done = self.run_program("apply", bundle, *place, "--json")
            self.assertEqual((done.stdout, done.returncode), (b"", 1))
            problem = json.loads(done.stderr)
            self.assertEqual((problem["code"], [(each["workflow"], each["key"]) for each in problem["blocking"]]),
                             ("conflict", [("waits/ForEvent@1", "a")]))

    def test_a_stretch_is_chosen_and_a_patch_proposed(self):
        with self.server() as url:
            place = ("--server", url)
            for key in ("a", "b"):
                self.ask_at(place, "send", "demo/OrderPlaced@1", ORDER % (key, "mug"), "--wait", "60000")
            records = self.ask_at(place, "journal")["records"]
            last = records[-1]["record"]
            second = [each["record"] for each in records if each["tick"]["kind"] == "event"][1]
            made = self.ask_at(place, "gov", "propose", self.bundle(place))["proposal"]
            base, = [each["base"] for each in self.ask_at(place, "gov", "ls")["proposals"] if each["proposal"] == made]
            patch = {"base_manifest_hash": base, "patches": [{"add_def": {"kind": "defschema", "node": {
                "$kind": "defschema", "name": "demo/Nothing@1", "type": {"text": {}}}}}]}
            self.write("patch.json", json.dumps(patch))
            self.assertIn("excludes", self.refused_at(place, "gov", "propose", "bundle.json", "--patch", "patch.json", code=2))
            self.assertIn("say which", self.refused_at(place, "gov", "propose", code=2))
            self.write("none.json", "[1]")
            self.assertIn("none.json: a patch is an object", self.refused_at(place, "gov", "propose", "--patch", "none.json"))
            proposal = self.ask_at(place, "gov", "propose", "--patch", "patch.json", "--description", "a word more")["proposal"]
            self.assertEqual(self.stage(place, proposal), "proposed")
            report = self.ask_at(place, "gov", "shadow", str(proposal), "--from", "1", "--to", str(last))
            self.assertEqual((report["from"], report["to"], report["instances"], report["different"]), (1, last, 2, 0))
            one = self.ask_at(place, "gov", "shadow", str(proposal), "--records", str(proposal + 2 - second))
            self.assertEqual((one["from"], one["instances"]), (second, 1))
            self.assertIn(f"to {proposal + 99}: the journal has records 1 to", self.refused_at(place, "gov", "shadow", str(proposal), "--to", str(proposal + 99)))
            self.assertIn("excludes", self.refused_at(place, "gov", "shadow", str(proposal), "--from", "1", "--records", "5", code=2))

    def test_what_stands_in_the_way_is_said_until_it_has_ended(self):
        with self.server(program=WAITS) as url:
            place = ("--server", url)

            def ask(*command, code=0):
                return self.ask_at(place, *command, code=code, program=WAITS)

            ask("start", "waits/ForEvent@1", '{"id":"a"}')
            bundle = self.bundle(place, self.without_routes, program=WAITS)
            found = ask("apply", bundle, "--check", code=1)
            self.assertEqual((found["record"], found["blocking_count"], found["blocking"][0]["workflow"], found["blocking"][0]["key"]),
                             (None, 1, "waits/ForEvent@1", "a"))
            done = self.run_program("apply", bundle, "--check", *place)
            self.assertEqual((done.stderr.decode(), done.returncode), ("", 1))
            self.assertRegex(done.stdout.decode(), r"\AIN THE WAY +STATUS +EFFECTS +MESSAGES\nwaits/ForEvent@1/a +running +0 +0\n"
                             r"waits/ForEvent@1: 1 instances use the route of [^\n]*\n1 instances have not ended: it could not be applied now\.\n\Z")
            self.assertIn("1 instances have not ended", self.refused_at(place, "apply", bundle))
            proposal = str(ask("gov", "propose", bundle)["proposal"])
            ask("gov", "shadow", proposal)
            ask("gov", "approve", proposal)
            self.assertIn("1 instances have not ended", self.refused_at(place, "gov", "apply", proposal))
            self.assertEqual(self.stage(place, int(proposal), WAITS), "approved")
            ask("cancel", "waits/ForEvent@1/a")
            self.assertEqual(ask("apply", bundle, "--check")["blocking_count"], 0)
            applied = ask("gov", "apply", proposal)
            self.assertGreater(applied["record"], 0)
            self.assertEqual(self.stage(place, int(proposal), WAITS), "applied")
            # What was applied is what counts.
            self.assertEqual(ask("send", "waits/Begin@1", '{"id":"b"}')["deliveries"], 0)
            self.assertEqual(self.refused_at(place, "gov", "apply", proposal).count("the proposal is applied"), 1)
        self.assertEqual(self.run_program("verify", "world").returncode, 0)

    def test_definitions_are_applied_at_once_where_nobody_must_agree(self):
        with self.server() as url:
            place = ("--server", url)

            def slower(definitions):
                for each in definitions:
                    if each.get("name") == "demo/charge@1":
                        each["timeout_ns"] = 77 * 10**9
            self.assertGreater(self.ask_at(place, "apply", self.bundle(place, slower))["record"], 0)
            self.assertIn(77 * 10**9, [each.get("timeout_ns") for each in self.ask_at(place, "manifest")["definitions"]])
            self.write("bad.json", '{"$kind": "defschema", "name": "shop/Order@1", "type": {"ref": "shop/Nothing@1"}}')
            self.assertIn("holdfast: 1 error in bad.json\n", self.refused_at(place, "apply", "bad.json"))
            for command in ("approve", "reject", "apply"):
                self.assertIn("there is no proposal 99", self.refused_at(place, "gov", command, "99"))


if __name__ == "__main__":
    main()
