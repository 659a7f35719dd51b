#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/api.md says what the server says of itself."""
import re
import unittest

from server import ROOT, ServerTest

PAGE = (ROOT / "docs" / "api.md").read_text()


class ApiPage(ServerTest):
    def setUp(self):
        super().setUp()
        self.start()
        self.document = self.client().get("/openapi.json").json()

    def test_the_routes_are_those_of_the_server(self):
        written = set(re.findall(r"^\| ([A-Z]+) \| `([^`]+)` \| (\w+) \|", PAGE, re.M))
        real = {(method.upper(), path, operation["x-role"])
                for path, methods in self.document["paths"].items() for method, operation in methods.items()}
        self.assertEqual(written, real)

    def test_the_problems_are_those_of_the_server(self):
        written = [code for code, _ in re.findall(r"^\| `(\w+)` \| (\d+) \|", PAGE, re.M)]
        schema = self.document["components"]["responses"]["Problem"]["content"]["application/problem+json"]["schema"]
        self.assertEqual(written, schema["properties"]["code"]["enum"])

    def test_the_limits_are_those_of_the_server(self):
        limits = self.client().get("/v1/limits").json()
        self.assertIn(f"Connections {limits['connections']};", PAGE)
        self.assertIn(f"header {limits['header_bytes'] // 1024} KiB", PAGE)
        self.assertIn(f"body {limits['value_bytes'] >> 20} MiB and its envelope", PAGE)


if __name__ == "__main__":
    unittest.main()
