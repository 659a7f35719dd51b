#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other definitions: applied at run time, or proposed, decided and applied; what blocks is said."""
import copy
import re
import unittest

from server import TELLER, ServerTest

HOUSE = "/v1/instances/test/House@1/"
START = "/v1/workflows/test/House@1/start"
INPUT = {"input": {"house": "a", "colour": "red"}}


class Governance(ServerTest):
    program = TELLER

    def setUp(self):
        super().setUp()
        self.start()
        self.present = self.client().get("/v1/manifest").json()["definitions"]

    def with_another_schema(self, name="test/More@1"):
        """The present definitions and one that they do not have."""
        definitions = copy.deepcopy(self.present)
        definitions.append({"$kind": "defschema", "name": name, "type": {"text": {}}})
        for definition in definitions:
            if definition["$kind"] == "manifest":
                definition["schemas"].append({"name": name})
                definition["schemas"].sort(key=lambda entry: entry["name"])
        return definitions

    def with_another_effect(self):
        """The present definitions, and an effect of test/House@1 may take an hour at most."""
        definitions = copy.deepcopy(self.present)
        house, = [each for each in definitions if each.get("name") == "test/House@1"]
        name = [each for each in house["effects_emitted"] if not each.startswith("sys/")][0]
        for definition in definitions:
            if definition.get("name") == name:
                definition["timeout_ns"] = 3600 * 10**9
            if definition["$kind"] == "manifest":
                definition["effects"] = [{"name": each["name"]} for each in definition["effects"]]
        return name, definitions

    def post(self, path, body, status=200):
        reply = self.client().post(path, body)
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def tell(self, name="a"):
        """Something that a trial can feed again."""
        self.post("/v1/events", {"schema": "test/Tell@1", "value": {"name": name, "count": 0, "letters": 0, "leave": False}})

    def test_the_present_definitions_can_be_applied_again(self):
        self.post(START, INPUT, 201)
        last = self.client().get("/v1/journal").json()["last"]
        applied = self.post("/v1/manifest", {"definitions": self.present})
        self.assertEqual((applied["blocking"], applied["blocking_count"]), ([], 0))
        self.assertEqual((applied["record"], applied["unchanged"]), (None, True))
        self.assertEqual(self.client().get("/v1/journal").json()["last"], last)
        self.assertEqual(self.client().get("/v1/manifest").json()["definitions"], self.present)

    def test_what_blocks_is_said_and_nothing_is_applied(self):
        self.post(START, INPUT, 201)
        last = self.client().get("/v1/journal").json()["last"]
        name, other = self.with_another_effect()
        checked = self.post("/v1/manifest?check=1", {"definitions": other})
        self.assertEqual([(each["workflow"], each["instances"]) for each in checked["blocking_workflows"]], [("test/House@1", 1)])
        self.assertEqual(checked["blocking_workflows"][0]["because"], [name])
        self.assertEqual(checked["blocking"], [{"workflow": "test/House@1", "key": "a", "status": "waiting",
                                                "paused": False, "effects": 1, "mail": 0}])
        self.assertIsNone(checked["record"])
        problem = self.post("/v1/manifest", {"definitions": other}, 409)
        self.assertEqual((problem["code"], problem["blocking"]), ("conflict", checked["blocking"]))
        self.assertEqual(self.client().get("/v1/journal").json()["last"], last)
        self.post(HOUSE + "a/cancel", {})
        self.assertEqual(self.post("/v1/manifest?check=1", {"definitions": other})["blocking_count"], 0)
        self.assertEqual(self.post("/v1/manifest", {"definitions": other})["changed"], [name])

    def test_an_instance_that_keeps_its_version_says_so_and_why_it_does_not_move(self):
        self.post(START, INPUT, 201)
        self.assertNotIn("version", self.client().get(HOUSE + "a/why").json())
        name, other = self.with_another_effect()
        self.post("/v1/manifest?pin=1", {"definitions": other})
        why = f"it waits for '{name}', which the present version has in another form"
        found = self.client().get(HOUSE + "a/why").json()
        self.assertEqual(found["version"]["stays_because"], why)
        before = found["version"]["hash"]
        self.assertNotEqual(found["version"]["present_hash"], before)
        self.assertEqual(found["version"]["sentence"], f"It keeps the version of its workflow that it began with ({before}). "
                                                       f"It cannot move to the present one: {why}.")
        self.post(HOUSE + "a/cancel", {})
        self.assertNotIn("version", self.client().get(HOUSE + "a/why").json())

    def test_what_is_added_is_applied_beside_work(self):
        self.post(START, INPUT, 201)
        more = self.with_another_schema()
        strict = self.post("/v1/manifest?strict=1&check=1", {"definitions": more})
        self.assertEqual([(each["workflow"], each["because"]) for each in strict["blocking_workflows"]], [("test/House@1", [])])
        self.assertEqual(self.post("/v1/manifest?strict=1", {"definitions": more}, 409)["blocking"][0]["key"], "a")
        applied = self.post("/v1/manifest", {"definitions": more})
        self.assertEqual((applied["added"], applied["changed"], applied["removed"]), (["test/More@1"], [], []))
        self.assertEqual(self.client().post("/v1/events", {"schema": "test/More@1", "value": "x"}).status, 200)
        self.post(HOUSE + "a/cancel", {})

    def test_the_server_goes_by_what_was_applied(self):
        event = {"schema": "test/More@1", "value": "x"}
        self.assertEqual(self.client().post("/v1/events", event).status, 404)
        self.post("/v1/manifest", {"definitions": self.with_another_schema()})
        self.assertEqual(self.client().post("/v1/events", event).status, 200)
        names = [definition.get("name") for definition in self.client().get("/v1/manifest").json()["definitions"]]
        self.assertIn("test/More@1", names)
        self.post(START, {**INPUT, "wait": 1}, 202)  # what was there before is still known

    def test_bad_definitions_are_refused(self):
        for definitions, status in (([], 422), ([{"$kind": "nonsense"}], 422), ("x", 422)):
            self.post("/v1/manifest", {"definitions": definitions}, status)
            self.post("/v1/manifest?check=1", {"definitions": definitions}, status)
        self.post("/v1/manifest", {}, 400)
        self.post("/v1/manifest?check=2", {"definitions": self.present}, 400)
        unknown = copy.deepcopy(self.present)
        for definition in unknown:
            if definition.get("executor") == {"kind": "outside"}:
                definition["executor"] = {"kind": "teleport"}
        self.assertIn("teleport", self.post("/v1/manifest", {"definitions": unknown}, 422)["detail"])

    def test_a_proposal_goes_its_way(self):
        self.assertEqual(self.client().get("/v1/proposals").json(), {"proposals": []})
        self.tell()
        proposal = self.post("/v1/proposals", {"definitions": self.with_another_schema(), "description": "more"},
                             201)["proposal"]
        path = f"/v1/proposals/{proposal}"
        early = self.post(path + "/approve", {}, 409)
        self.assertEqual((early["code"], early["detail"]), ("conflict", "the proposal is proposed: it must be tried before"))
        self.assertEqual(self.post(path + "/apply", {}, 409)["detail"], "the proposal is proposed: it must be tried and approved before")
        tried = self.post(path + "/shadow", {})
        self.assertEqual((tried["report"]["instances"], tried["report"]["different"]), (1, 0))
        self.assertEqual(self.post(path + "/apply", {}, 409)["detail"], "the proposal is shadowed: it must be approved before")
        self.post(path + "/approve", {"by": "Ada", "reason": "why not"})
        shown, = self.client().get("/v1/proposals").json()["proposals"]
        self.assertEqual((shown["proposal"], shown["stage"], shown["by"], shown["reason"], shown["report"],
                          shown["description"]), (proposal, "approved", "Ada", "why not", tried["report"], "more"))
        self.assertEqual(shown["manifest"], tried["report"]["tried_manifest"])
        self.assertEqual(shown["base"], tried["report"]["present_manifest"])
        kinds = [each["tick"]["kind"] for each in self.client().get(f"/v1/journal?from={tried['record']}").json()["records"]]
        self.assertEqual(kinds[0], "shadow")
        self.post(START, INPUT, 201)
        applied = self.post(path + "/apply", {})
        self.assertIsNotNone(applied["record"])
        self.assertEqual(applied["added"], ["test/More@1"])
        self.post(HOUSE + "a/cancel", {})
        self.assertEqual(self.client().get("/v1/proposals").json()["proposals"][0]["stage"], "applied")
        self.assertEqual(self.client().post("/v1/events", {"schema": "test/More@1", "value": "x"}).status, 200)

    def test_nobody_says_from_outside_what_a_trial_has_shown(self):
        self.tell()
        proposal = self.post("/v1/proposals", {"definitions": self.with_another_schema()}, 201)["proposal"]
        path = f"/v1/proposals/{proposal}"
        for forged in ({"report": {"lies": True}}, {"report": {}}, {"from": 1, "report": {"instances": 5, "different": 0}}):
            refused = self.post(path + "/shadow", forged, 400)
            self.assertEqual((refused["code"], refused["path"]), ("bad_body", "$.report"))
        shown, = self.client().get("/v1/proposals").json()["proposals"]
        self.assertEqual((shown["stage"], shown["report"]), ("proposed", None))
        self.post(path + "/approve", {}, 409)

    def test_a_trial_feeds_the_stretch_that_was_chosen(self):
        for number in range(3):
            self.tell(f"a-{number}")
            # Begins nothing: it is recorded, and told as unhandled.
            self.post("/v1/events", {"schema": "test/Tell@1", "value": {"name": "b", "count": 0, "letters": 0, "leave": True}}, 404)
        proposal = self.post("/v1/proposals", {"definitions": self.with_another_schema()}, 201)["proposal"]
        path = f"/v1/proposals/{proposal}/shadow"
        for body, status, code, said in (({"from": 0}, 400, "bad_body", "from 1"), ({"to": "x"}, 400, "bad_body", "a number"),
                                         ({"records": 10**9}, 400, "bad_body", "at most 1000000"),
                                         ({"from": 1, "records": 1}, 400, "bad_body", "there is from, too"),
                                         ({"from": 5, "to": 4}, 422, "schema", "behind the end"),
                                         ({"to": proposal + 9}, 404, "not_found", f"the journal has records 1 to {proposal}"),
                                         ({"from": proposal + 9}, 404, "not_found", f"from {proposal + 9}"),
                                         ({"from": proposal, "to": proposal}, 409, "conflict", "nothing has come")):
            refused = self.post(path, body, status)
            self.assertEqual(refused["code"], code, body)
            self.assertIn(said, refused["detail"], body)
        last, some, whole = (self.post(path, body)["report"] for body in ({"records": 3}, {"from": 3, "to": 4}, {}))
        self.assertEqual((last["from"], last["to"], last["fed"]), (proposal - 2, proposal, 2))
        self.assertEqual((some["from"], some["to"], some["fed"]), (3, 4, 2))
        self.assertEqual((whole["from"], whole["to"], whole["fed"]), (1, proposal + 2, 6))
        self.post("/v1/proposals/99999/shadow", {}, 404)

    def test_a_patch_is_applied_only_if_somebody_performs_what_comes_of_it(self):
        made = self.post("/v1/proposals", {"definitions": self.present}, 201)["proposal"]
        base, = [each["base"] for each in self.client().get("/v1/proposals").json()["proposals"] if each["proposal"] == made]
        effect, = [copy.deepcopy(each) for each in self.present if each.get("executor") == {"kind": "outside"}]
        effect["executor"] = {"kind": "teleport"}
        replacement = {"kind": "defeffect", "name": effect["name"], "new_node": effect}
        patch = {"base_manifest_hash": base, "patches": [{"replace_def": replacement}]}
        refused = self.post("/v1/proposals", {"patch": patch}, 422)["detail"]
        replacement["pre_hash"] = re.search(r"sha256:\w+", refused)[0]
        path = f"/v1/proposals/{self.post('/v1/proposals', {'patch': patch}, 201)['proposal']}"
        self.tell()
        self.post(path + "/shadow", {})
        self.post(path + "/approve", {})
        self.assertIn("teleport", self.post(path + "/apply", {}, 422)["detail"])
        self.assertEqual(self.client().get("/v1/manifest").json()["definitions"], self.present)
        self.post("/v1/proposals/99999/apply", {}, 404)

    def test_a_proposal_can_be_rejected_and_only_once(self):
        proposal = self.post("/v1/proposals", {"definitions": self.present}, 201)["proposal"]
        self.post(f"/v1/proposals/{proposal}/reject", {"reason": "no"})
        self.post(f"/v1/proposals/{proposal}/reject", {"reason": "no"}, 409)
        for path in ("x", "99999"):
            self.assertEqual(self.post(f"/v1/proposals/{path}/reject", {}, 404)["code"], "not_found")
        self.post("/v1/proposals", {}, 400)
        self.post("/v1/proposals", {"definitions": [], "patch": {}}, 400)
        self.post("/v1/proposals", {"definitions": []}, 422)

    def test_who_decides_is_whose_token_it_is(self):
        self.kill()
        tokens = {}
        for role in ("admin", "operator"):
            done = self.run_program("token", "add", "--new", "--world", self.world, "--role", role, "--name", f"{role}-Ada")
            tokens[role] = {"Authorization": "Bearer " + done.stdout.strip()}
        self.start()
        client = self.client()
        made = client.post("/v1/proposals", {"definitions": self.present}, **tokens["operator"])
        self.assertEqual(made.status, 201, made.body)
        path = f"/v1/proposals/{made.json()['proposal']}/reject"
        self.assertEqual(client.post(path, {}, **tokens["operator"]).status, 403)
        self.assertEqual(client.post(path, {"by": "Eve"}, **tokens["admin"]).status, 400)
        self.assertEqual(client.post(path, {}, **tokens["admin"]).status, 200)
        shown, = client.get("/v1/proposals", **tokens["admin"]).json()["proposals"]
        self.assertEqual((shown["stage"], shown["by"]), ("rejected", "admin-Ada"))


if __name__ == "__main__":
    unittest.main()
