#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of the page, as a browser asks for them, and the overview."""
import gzip
import re
import unittest

from server import ServerTest


def field(reply, name):
    found = re.search(rf"(?im)^{name}: (.*?)\r?$", reply.head.decode())
    return found[1] if found else None


class Page(ServerTest):
    def files(self, client):
        return re.findall(r'(?:src|href)="(ui/[^"]+)"', client.get("/").body.decode())

    def test_the_page_names_its_files_and_all_of_them_are_there(self):
        self.start()
        client = self.client()
        page = client.get("/")
        self.assertEqual((page.status, field(page, "content-type")), (200, "text/html; charset=utf-8"))
        names = self.files(client)
        self.assertEqual(sorted(name.rsplit(".", 1)[1] for name in names), ["css", "js", "svg"])
        for name in names:
            reply = client.get("/" + name)
            self.assertEqual(reply.status, 200, name)
            self.assertEqual(field(reply, "x-content-type-options"), "nosniff")
            self.assertIn("immutable", field(reply, "cache-control"))
        self.assertEqual(client.get("/ui/index.html").code(), "not_found")
        self.assertEqual(client.get("/ui/other.js").code(), "not_found")
        self.assertEqual(client.get("/ui/..%2fsecrets").status, 404)

    def test_nothing_else_may_run_in_it(self):
        self.start()
        policy = field(self.client().get("/"), "content-security-policy")
        for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'",
                     "require-trusted-types-for 'script'"):
            self.assertIn(part, policy)
        self.assertNotIn("unsafe", policy)

    def test_it_is_compressed_for_those_who_can_read_that(self):
        self.start()
        client = self.client()
        for name in ["", *self.files(client)]:
            plain = client.get("/" + name)
            packed = client.get("/" + name, Accept_Encoding="br, gzip")
            self.assertEqual((field(plain, "content-encoding"), field(packed, "content-encoding")), (None, "gzip"))
            self.assertEqual(gzip.decompress(packed.body), plain.body)
            self.assertEqual(field(packed, "vary"), "Accept-Encoding")

    def test_a_browser_that_has_it_is_not_sent_it_again(self):
        self.start()
        client = self.client()
        tag = field(client.get("/"), "etag")
        same = client.get("/", If_None_Match=f'"other", {tag}')
        self.assertEqual((same.status, same.body), (304, b""))
        self.assertEqual(client.get("/", If_None_Match='"other"').status, 200)
        self.assertEqual(client.get("/healthz").status, 200, "the connection goes on after a 304")

    def test_the_page_is_for_anybody_and_what_it_shows_is_not(self):
        self.run_program("token", "add", "--new", "--world", self.world, "--role", "viewer", "--name", "v")
        self.start()
        client = self.client()
        self.assertEqual(client.get("/").status, 200)
        self.assertEqual(client.get("/v1/overview").code(), "unauthenticated")


class Overview(ServerTest):
    def order(self, client, name, sku="mug"):
        event = {"schema": "demo/OrderPlaced@1", "value": {"id": name, "sku": sku, "count": 1, "cents": 5}, "wait": True}
        self.assertEqual(client.post("/v1/events", event).status, 200)

    def test_it_counts_instances_and_names_what_failed(self):
        self.start()
        client = self.client()
        self.assertEqual(client.get("/v1/overview").json()["workflows"], [])
        for number in range(3):
            self.order(client, f"good-{number}")
        self.order(client, "bad", sku="unicorn")
        seen = client.get("/v1/overview").json()
        self.assertEqual(seen["workflows"], [{"workflow": "demo/Order@1", "counts": {"completed": 3, "failed": 1}}])
        [failure] = seen["failures"]
        self.assertEqual((failure["workflow"], failure["code"], failure["count"]), ("demo/Order@1", "not_reserved", 1))
        self.kill()
        self.start()
        self.assertEqual(self.client().get("/v1/overview").json()["workflows"], seen["workflows"])


if __name__ == "__main__":
    unittest.main()
