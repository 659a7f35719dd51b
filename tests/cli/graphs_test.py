#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands for task graphs, against a real server."""
import contextlib
import json
import os
import shutil
import subprocess
import unittest
import urllib.request

from program import PATIENCE, PROGRAM, main, wait_until
from serving import ServingTest

CHAIN = {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "w"},
         "spec": {"taskType": "echo", "stages": [{"name": "fetch"}, {"name": "check"}]}}


class GraphCommands(ServingTest):
    def setUp(self):
        super().setUp()
        (self.folder / "chain.json").write_text(json.dumps(CHAIN))

    @contextlib.contextmanager
    def server(self, *more, **how):
        """A server whose tasks wait for what the test says."""
        self.verdicts = self.folder / "verdicts"
        self.verdicts.mkdir()
        os.environ["TASK_VERDICTS"] = str(self.verdicts)
        with super().server(*more, program=PROGRAM.parent / "tests" / "task_server", **how) as url:
            yield url

    def settle(self, url, key, verdict):
        """What a worker would do."""
        def open_run():
            with urllib.request.urlopen(f"{url}/v1/instances/sys/Task@1/{key.replace('/', '%2F')}/why",
                                        timeout=PATIENCE) as answer:
                return next((each["intent"] for each in json.load(answer)["reasons"] if each.get("effect")), None)
        intent = wait_until(open_run, f"{key} does not become ready")
        (self.verdicts / "new").write_text(verdict)
        (self.verdicts / "new").rename(self.verdicts / intent.removeprefix("sha256:"))

    def test_a_graph_is_submitted_watched_and_listed(self):
        with self.server() as url:
            submitted = self.ask(url, "submit", "chain.json", "--id", "night-1")
            self.assertEqual(submitted, {"id": "night-1", "tasks": 2, "repeated": False})
            again = self.run_program("submit", "chain.json", "--id", "night-1", "--server", url)
            self.assertEqual((again.stdout, again.returncode), (b"night-1\n", 0))
            watch = subprocess.Popen([PROGRAM, "watch", "night-1", "--server", url, "--interval-ms", "50"],
                                     cwd=self.folder, stdout=subprocess.PIPE, text=True)
            self.addCleanup(watch.stdout.close)
            self.addCleanup(watch.kill)
            self.assertIn("0/2", watch.stdout.readline())
            self.settle(url, "night-1/0", "+1")
            self.assertIn("1/2", watch.stdout.readline())
            table = self.run_program("tasks", "night-1", "--server", url).stdout.decode()
            self.assertRegex(table, r"0 +fetch +echo +DONE")
            self.assertRegex(table, r"1 +check +echo +PENDING +0/3 +waits for a worker")
            drawn = self.run_program("graph", "night-1", "--server", url)
            self.assertEqual(drawn.returncode, 0, drawn.stderr)
            self.assertIn("fetch", drawn.stdout.decode())
            self.assertIn("t0 --> t1", drawn.stdout.decode())
            self.settle(url, "night-1/1", "+2")
            self.assertEqual(watch.wait(timeout=PATIENCE), 0)
            self.assertIn("DONE", watch.stdout.read())
            graphs = wait_until(lambda: self.ask(url, "tasks")["graphs"], "it is not listed")
            self.assertEqual([(graph["id"], graph["status"]) for graph in graphs], [("night-1", "DONE")])
            self.assertIn("night-1", self.run_program("tasks", "--server", url).stdout.decode())

    def test_a_failed_graph_is_run_again(self):
        with self.server() as url:
            self.ask(url, "submit", "chain.json", "--id", "one")
            self.settle(url, "one/0", '+{"kept":true}')
            self.settle(url, "one/1", "!no such file")
            watched = self.run_program("watch", "one", "--server", url)
            self.assertEqual(watched.returncode, 1)
            self.assertIn("first failure: check: no such file", watched.stdout.decode())
            again = self.ask(url, "rerun", "one", "--failed", "--id", "two")
            self.assertEqual(again["id"], "two")
            self.settle(url, "two/1", "+2")
            self.assertEqual(self.run_program("watch", "two", "--server", url).returncode, 0)
            self.assertIn("(conflict)", self.refused(url, "rerun", "two", "--failed"))

    def test_a_graph_is_cancelled_by_its_id(self):
        with self.server() as url:
            self.ask(url, "submit", "chain.json", "--id", "one")
            self.assertEqual(self.ask(url, "cancel", "one", "--reason", "too late"), {})
            self.assertEqual(self.run_program("watch", "one", "--server", url).returncode, 1)
            self.assertIn("CANCELLED", self.run_program("tasks", "one", "--server", url).stdout.decode())
            self.assertIn("(not_found)", self.refused(url, "cancel", "none"))
            self.assertIn("(not_found)", self.refused(url, "watch", "none"))
            self.assertIn("(not_found)", self.refused(url, "tasks", "none"))

    def test_a_document_that_is_wrong_is_refused_with_its_places(self):
        wrong = {**CHAIN, "spec": {"taskType": "echo", "stages": [{"name": "a", "dependsOn": ["b"]}]}}
        (self.folder / "wrong.json").write_text(json.dumps(wrong))
        with self.server() as url:
            self.assertIn("spec.stages[0].dependsOn[0]: there is no node 'b'", self.refused(url, "submit", "wrong.json"))

    @unittest.skipUnless(shutil.which("tmux"), "there is no tmux")
    def test_on_a_terminal_watch_draws_its_table_again_in_its_place(self):
        with self.server() as url:
            self.ask(url, "submit", "chain.json", "--id", "live")
            socket = str(self.folder / "tmux")
            tmux = ["tmux", "-S", socket]
            environment = {**os.environ, "TERM": "xterm"}
            subprocess.run([*tmux, "new-session", "-d", "-x", "100", "-y", "20",
                            f"{PROGRAM} watch live --server {url} --interval-ms 50; echo exit $?; sleep 1000"],
                           check=True, env=environment, timeout=PATIENCE)
            self.addCleanup(subprocess.run, [*tmux, "kill-server"], check=False, timeout=PATIENCE)

            def shown(*texts):
                def look():
                    screen = subprocess.run([*tmux, "capture-pane", "-p"], check=True, stdout=subprocess.PIPE, text=True,
                                            timeout=PATIENCE).stdout
                    return screen if all(text in screen for text in texts) else None
                return wait_until(look, f"{texts} are not shown")
            screen = shown("live  PENDING", "0/2", "fetch", "waits for a worker", "waits for 1 task")
            self.assertEqual(screen.count("fetch"), 1, screen)
            self.settle(url, "live/0", "+1")
            screen = shown("1/2", "1 done")
            self.assertEqual((screen.count("fetch"), screen.count("live  PENDING")), (1, 1), screen)
            self.settle(url, "live/1", "+1")
            screen = shown("live  DONE", "2/2", "exit 0")
            self.assertEqual(screen.count("STATUS"), 1, screen)


if __name__ == "__main__":
    main()
