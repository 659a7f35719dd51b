#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast cancel and pause in the folder of a world that does not run: for an instance that ends the program each time."""
import subprocess

from program import PATIENCE, PROGRAM, main
from serving import ServingTest

ENDER = PROGRAM.parent / "tests" / "ender"
FOLDER = ("--world", "world", "--any-file-system")


class Control(ServingTest):
    def serve(self, more=()):
        return subprocess.Popen([ENDER, "serve", "--world", "world", "--listen", "127.0.0.1:0", "--any-file-system", "--apply", *more],
                                cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def begin_what_ends_it(self, key):
        """The server takes the event, and its world's next step ends it."""
        process = self.serve()
        url = process.stdout.readline().decode().split()[-1]
        # The answer may be lost with the server.
        subprocess.run([ENDER, "start", "ender/Ends@1", f'{{"id": "{key}"}}', "--server", url], capture_output=True, timeout=PATIENCE)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 9)

    def assert_ends_each_time(self):
        process = self.serve()
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 9)

    def control(self, *arguments, code=0):
        done = subprocess.run([ENDER, *arguments, *FOLDER], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_an_instance_that_ends_the_program_is_cancelled_in_the_folder(self):
        self.begin_what_ends_it("a")
        self.assert_ends_each_time()
        self.assertEqual(self.control("cancel", "ender/Ends@1/a", "--reason", "it ends us"), "ender/Ends@1/a: cancel\n")
        with self.server(program=ENDER) as url:
            self.assertEqual(self.ask(url, "show", "ender/Ends@1/a")["status"], "cancelled")
            reasons = [record["tick"]["reason"] for record in self.ask(url, "timeline", "ender/Ends@1/a")["records"]
                       if record["tick"]["kind"] == "control"]
            self.assertEqual(reasons, ["it ends us"])
        self.assertIn("the instance has ended", self.control("cancel", "ender/Ends@1/a", code=1))

    def test_one_that_is_paused_keeps_what_came_until_it_is_resumed(self):
        self.begin_what_ends_it("b")
        self.assertEqual(self.control("pause", "ender/Ends@1/b", "--json"), "{}\n")
        with self.server(program=ENDER) as url:
            shown = self.ask(url, "show", "ender/Ends@1/b")
            self.assertEqual((shown["status"], shown["paused"]), ("running", True))
        with self.serving(program=ENDER) as (url, process):
            subprocess.run([ENDER, "resume", "ender/Ends@1/b", "--server", url], capture_output=True, timeout=PATIENCE)
            process.wait(timeout=PATIENCE)
        self.assertEqual(process.returncode, 9)

    def test_a_world_that_is_open_or_not_there_and_an_instance_that_is_not_are_said(self):
        self.assertIn("there is no world", self.control("cancel", "ender/Ends@1/a", code=1))
        self.assertFalse((self.folder / "world").exists())
        with self.server(program=ENDER):
            refused = self.control("cancel", "ender/Ends@1/a", code=1)
            self.assertRegex(refused, r"is held by process \d+ .*, which serves it: say --server http\S+")
        self.assertIn("ender/Ends@1/a: there is no such instance", self.control("cancel", "ender/Ends@1/a", code=1))
        self.assertIn("ender/Other@1", self.control("pause", "ender/Other@1/a", code=1))
        resumed = subprocess.run([ENDER, "resume", "ender/Ends@1/a", "--world", "world"], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((resumed.returncode, resumed.stderr), (2, "holdfast: --world: this command needs a server: say --server URL\n"))


if __name__ == "__main__":
    main()
