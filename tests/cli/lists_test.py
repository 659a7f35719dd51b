#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists of instances: a folder has the order of a server, with an index, behind one that lags, and without."""
import json

from program import PATIENCE, main, wait_until
from serving import ServingTest

CASE = "demo/RefundCase@1"
FOLDER = ("--world", "world")


class Lists(ServingTest):
    def begin(self, server, name):
        """A run that waits for the manager, or for the bank."""
        self.ask_at(server, "start", CASE, json.dumps({"id": name, "order": "o-1", "cents": 9900}))

    def settle(self, server, names):
        """All of them wait for the manager, and the index knows it."""
        wait_until(lambda: {self.ask_at(server, "show", f"{CASE}/{name}")["state"]["status"] for name in names} == {"idle"})
        self.caught_up(server)

    def caught_up(self, server):
        wait_until(lambda: self.ask_at(server, "ls", "--limit", "1")["lag"] == 0)

    def answer(self, server, name):
        self.ask_at(server, "send", "demo/RefundDecided@1", json.dumps({"id": name, "by": "manager", "approved": True}), "--wait", "60000")

    def printed(self, place, *command):
        done = self.run_program(*command, *place)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0), command)
        return done.stdout.decode()

    def all_lists(self, place):
        """What is printed, and, page by page, who is in it."""
        printed = {command: self.printed(place, *command)
                   for command in (("ls",), ("ls", "--limit", "2"), ("ls", "--status", "waiting"), ("cells", CASE),
                                   ("ls", "--where", "status=completed"), ("ls", "--workflow", "demo/Order@1"))}
        keys, after = [], ()
        while True:
            page = self.ask_at(place, "ls", "--limit", "2", *after)
            keys.append([row["key"] for row in page["instances"]])
            if page["next"] is None:
                return printed, keys
            after = ("--after", str(page["next"]))

    def test_a_folder_lists_in_the_order_of_a_server(self):
        names = ["c", "a", "e", "b", "d"]
        with self.serving() as (url, process):
            server = ("--server", url)
            for name in names:
                self.begin(server, name)
            self.settle(server, names)
            self.answer(server, "c")  # begun first, touched last
            self.answer(server, "b")
            self.caught_up(server)
            online = self.all_lists(server)
            self.assertEqual(online[1], [["d", "b"], ["e", "a"], ["c"]])
            self.assertIn("There are more: --after 4\n", online[0]["ls", "--limit", "2"])
            process.kill()  # so that nothing is tidied up, and the journal stays as it is
            process.wait(timeout=PATIENCE)
        self.assertEqual(self.all_lists(FOLDER), online)
        done = self.run_program("ls", "--after", "four", *FOLDER)
        self.assertEqual((done.stdout, done.stderr, done.returncode), (b"", b"holdfast: after: 'four' is no place in a list\n", 1))

        # The index is only a short cut.
        index = self.folder / "world" / "history.db"
        kept = {path: path.read_bytes() for path in index.parent.glob("history.db*")}
        for path in kept:
            path.unlink()
        self.assertEqual(self.all_lists(FOLDER), online)
        index.write_bytes(b"no database at all" * 1000)
        done = self.run_program("ls", *FOLDER)
        self.assertEqual(done.stdout.decode(), online[0][("ls",)])
        self.assertIn("the order is that of the records, as the index of instances cannot be used", done.stderr.decode())
        for path, data in kept.items():
            path.write_bytes(data)

    def test_what_the_index_has_not_seen_is_in_its_place(self):
        with self.server() as url:
            self.begin(("--server", url), "first")
            self.settle(("--server", url), ["first"])
        behind = {path: path.read_bytes() for path in (self.folder / "world").glob("history.db*")}
        with self.server() as url:
            server = ("--server", url)
            self.begin(server, "then")
            self.settle(server, ["first", "then"])
            self.answer(server, "first")
            self.caught_up(server)
            online = self.all_lists(server)
        for path in (self.folder / "world").glob("history.db*"):
            path.unlink()
        for path, data in behind.items():
            path.write_bytes(data)
        self.assertEqual(self.all_lists(FOLDER), online)
        self.assertEqual(online[1], [["then", "first"]])


if __name__ == "__main__":
    main()
