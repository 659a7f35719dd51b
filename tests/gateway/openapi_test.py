#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/openapi.json is sound: every schema has a name and is used, examples fit. Where they are installed, a linter finds no error
(`npm install --global @redocly/cli`) and a fuzzer no server error (`pip install schemathesis`)."""
import json
import os
import re
import shutil
import subprocess
import unittest

# Read before they are taken from the environment, where the program would take them for settings.
REDOCLY = os.environ.get("HOLDFAST_REDOCLY")
SCHEMATHESIS = os.environ.get("HOLDFAST_SCHEMATHESIS")
FUZZ_EXAMPLES = os.environ.get("HOLDFAST_FUZZ_EXAMPLES", "10")  # for each route

from server import PATIENCE, ServerTest


def fits(value, schema, schemas, place="$"):
    """Gives what does not fit, for the part of JSON schema that the document uses."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
    wanted = schema.get("type")
    if wanted:
        names = [wanted] if isinstance(wanted, str) else wanted
        if not any(isinstance(value, kinds[name]) and not (name == "integer" and isinstance(value, bool)) for name in names):
            return [f"{place} is no {wanted}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{place} is none of {schema['enum']}"]
    wrong = []
    if isinstance(value, dict):
        wrong += [f"{place} has no {name}" for name in schema.get("required", []) if name not in value]
        for name, each in value.items():
            inner = schema.get("properties", {}).get(name)
            if inner is None and schema.get("additionalProperties") is False:
                wrong.append(f"{place}.{name} is unknown")
            elif inner is not None:
                wrong += fits(each, inner, schemas, f"{place}.{name}")
    if isinstance(value, list) and "items" in schema:
        for index, each in enumerate(value):
            wrong += fits(each, schema["items"], schemas, f"{place}[{index}]")
    return wrong


class OpenApi(ServerTest):
    def setUp(self):
        super().setUp()
        self.start()
        self.text = self.client().get("/openapi.json").body.decode()
        self.document = json.loads(self.text)
        self.schemas = self.document["components"]["schemas"]

    def test_every_reference_leads_to_a_schema_and_every_schema_is_used(self):
        used = set(re.findall(r'"\$ref":"#/components/schemas/(\w+)"', self.text))
        self.assertEqual(used, set(self.schemas))

    def test_what_a_client_must_be_ready_for_is_named(self):
        def statuses(path, method):
            return set(self.document["paths"][path][method]["responses"])
        self.assertLessEqual({"200", "202", "404", "409"}, statuses("/v1/events", "post"))
        self.assertLessEqual({"200", "204", "404", "409"}, statuses("/v1/instances/{workflow}/{key}/stream", "get"))

    def test_bodies_and_answers_have_names(self):
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                parts = [operation.get("requestBody", {}), *operation["responses"].values()]
                for part in parts:
                    for media, content in part.get("content", {}).items():
                        if media in ("application/json", "application/cbor"):
                            self.assertIn("$ref", content["schema"], (method, path))

    def test_integers_have_64_bits(self):
        def look(value, place):
            if isinstance(value, dict):
                kind = value.get("type")
                if kind == "integer" or isinstance(kind, list) and "integer" in kind:
                    self.assertEqual(value.get("format"), "int64", place)
                for name, each in value.items():
                    look(each, f"{place}.{name}")
            elif isinstance(value, list):
                for each in value:
                    look(each, place)
        look({name: schema for name, schema in self.schemas.items() if name != "Problem"}, "schemas")
        look(self.document["paths"], "paths")

    def test_examples_fit_their_schemas(self):
        count = 0
        for name, schema in self.schemas.items():
            for example in schema.get("examples", []):
                self.assertEqual(fits(example, schema, self.schemas), [], name)
                count += 1
        self.assertGreater(count, 15)

    def test_problems_of_every_route_are_named(self):
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                answers = set(operation["responses"])
                self.assertLessEqual({"200", "400", "default"}, answers, (method, path))
                if operation["x-role"] != "anybody":
                    self.assertLessEqual({"401", "403"}, answers, (method, path))
                if "{" in path:
                    self.assertIn("404", answers, (method, path))

    def test_it_says_where_it_is_and_under_which_licence(self):
        self.assertEqual(self.document["servers"][0]["url"], "/")
        self.assertEqual(self.document["info"]["license"]["identifier"], "Apache-2.0")

    def test_a_schema_fuzzer_finds_no_server_error(self):
        program = SCHEMATHESIS or shutil.which("schemathesis")
        if not program:
            self.skipTest("schemathesis is not installed (pip install schemathesis), and HOLDFAST_SCHEMATHESIS does not name it")
        document = json.loads(self.text)
        document["servers"] = [{"url": f"http://127.0.0.1:{self.port}"}]
        for path in document["paths"].values():
            for operation in path.values():
                # It writes JSON only.
                operation.get("requestBody", {}).get("content", {}).pop("application/cbor", None)
        # Streams do not end, and a kill ends everything.
        for path in ("/v1/watch", "/v1/dev/kill", "/v1/instances/{workflow}/{key}/stream"):
            document["paths"].pop(path)
        file = self.folder / "openapi.json"
        file.write_text(json.dumps(document))
        done = subprocess.run([program, "run", file, "--url", f"http://127.0.0.1:{self.port}", "--checks", "not_a_server_error", "--max-examples", FUZZ_EXAMPLES,
                               "--phases", "examples,coverage,fuzzing", "--request-timeout", "30", "--no-color"],
                              capture_output=True, text=True, timeout=1000, check=False, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])
        self.assertRegex(done.stdout, r"\d{3,} passed")

    def test_a_linter_finds_no_error(self):
        redocly = REDOCLY or shutil.which("redocly")
        if not redocly:
            self.skipTest("redocly is not installed (npm install @redocly/cli), and HOLDFAST_REDOCLY does not name it")
        file = self.folder / "openapi.json"
        file.write_text(self.text)
        done = subprocess.run([redocly, "lint", file], capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
