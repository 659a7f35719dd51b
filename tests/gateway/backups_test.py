#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/v1/backups: begun by name, listed, one at a time, below one folder."""
import unittest

from server import ServerTest, order, wait_until


class Backups(ServerTest):
    def setUp(self):
        super().setUp()
        (self.folder / "backups").mkdir()

    def listed(self, client, name):
        reply = client.get("/v1/backups")
        self.assertEqual(reply.status, 200, reply.body)
        return {backup["name"]: backup for backup in reply.json()["backups"]}.get(name)

    def finish(self, client, name):
        def is_over():
            found = self.listed(client, name)
            return found if found and found["status"] != "running" else None
        return wait_until(is_over, "the backup does not end")

    def test_one_is_begun_listed_and_brought_up_to_date(self):
        self.start("--backup-folder", self.folder / "backups")
        client = self.client()
        self.assertEqual(client.get("/v1/backups").json(), {"backups": []})
        client.post("/v1/events", order("a"))
        before = client.get("/v1/journal?limit=1").json()["last"]
        reply = client.post("/v1/backups", {"name": "nightly"})
        self.assertEqual((reply.status, reply.json()["status"]), (202, "running"), reply.body)
        made = self.finish(client, "nightly")
        self.assertEqual((made["status"], made["number"], made["first_record"]), ("finished", 1, 1), made)
        self.assertGreaterEqual(made["last_record"], before)
        client.post("/v1/events", order("b"))
        self.assertEqual(client.post("/v1/backups", {"name": "nightly"}).status, 202)
        again = self.finish(client, "nightly")
        self.assertEqual((again["status"], again["number"]), ("finished", 2), again)
        self.assertGreater(again["last_record"], made["last_record"])

    def test_what_fails_is_said_and_the_world_goes_on(self):
        self.start("--backup-folder", self.folder / "backups")
        client = self.client()
        (self.folder / "backups" / "mine").mkdir()
        (self.folder / "backups" / "mine" / "thesis.txt").write_text("mine")
        self.assertEqual(client.post("/v1/backups", {"name": "mine"}).status, 202)
        failed = self.finish(client, "mine")
        self.assertEqual((failed["status"], failed["error"]), ("failed", "is no backup: it holds thesis.txt"))
        self.assertEqual(client.post("/v1/events", order("a")).status, 200)
        self.assertEqual((self.folder / "backups" / "mine" / "thesis.txt").read_text(), "mine")

    def test_bodies_that_are_none_are_refused(self):
        self.start("--backup-folder", self.folder / "backups")
        client = self.client()
        for body in ({}, {"name": 1}, {"name": "a", "folder": "/tmp"}, {"name": "../a"}):
            reply = client.post("/v1/backups", body)
            self.assertEqual((reply.status, reply.code()), (400, "bad_body"), body)

    def test_without_a_folder_there_are_none(self):
        self.start()
        client = self.client()
        self.assertEqual(client.get("/v1/backups").code(), "conflict")
        self.assertEqual(client.post("/v1/backups", {"name": "nightly"}).code(), "conflict")


if __name__ == "__main__":
    unittest.main()
