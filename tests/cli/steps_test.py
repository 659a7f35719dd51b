#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Step workflows on the command line: begun, answered, followed and drawn, through a server and in a folder."""
import json
import subprocess
import urllib.request
import xml.etree.ElementTree

from program import PATIENCE, PROGRAM, main, wait_until
from serving import ServingTest

WORKFLOW = "demo/RefundCase@1"
REFUND = '{"id": "%s", "order": "%s", "cents": %d}'
YES = '{"id": "%s", "by": "manager", "approved": true}'


class Steps(ServingTest):
    def ask_manager(self, url, name):
        self.ask(url, "start", WORKFLOW, REFUND % (name, "o-1", 9900))
        wait_until(lambda: self.ask(url, "show", f"{WORKFLOW}/{name}")["state"]["status"] == "idle")

    def text(self, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0), arguments)
        return done.stdout.decode()

    def test_a_run_is_begun_answered_and_waited_for(self):
        with self.server() as url:
            self.ask_manager(url, "a")
            listed = self.ask(url, "ls", "--workflow", WORKFLOW)["instances"]
            self.assertLessEqual(len(listed), 1)
            self.assertRegex(self.text("why", f"{WORKFLOW}/a", "--server", url),
                             r'\AStep decide waits for demo/RefundDecided@1 whose by is "manager", until \S+Z; and for 1 more reason\.\n'
                             r'Failed: step check, item \d+, attempt 1, \S+Z: bank\.busy: ask again in a moment\n'
                             r'WAITS FOR +EFFECT +BY +SINCE +DUE\n'
                             r'wait       decide: demo/RefundDecided@1 +\S+Z\n'
                             r'timeout +\S+Z\n\Z')
            self.assertEqual(self.ask(url, "diagnose", f"{WORKFLOW}/a")["verdict"], "waiting for an event")
            state = json.loads(self.text("state", f"{WORKFLOW}/a", "--server", url))
            self.assertEqual(state["steps"][0]["waiting"][0]["for"], "demo/RefundDecided@1")
            done = self.ask(url, "send", "demo/RefundDecided@1", YES % "a", "--wait", "60000")
            self.assertEqual(done["instance"]["result"], {"paid_cents": 9900, "note": "paid"})

    def test_a_stream_shows_events_as_values_until_the_end(self):
        with self.server() as url:
            self.ask_manager(url, "s")
            following = subprocess.Popen([PROGRAM, "stream", f"{WORKFLOW}/s", "--server", url], cwd=self.folder,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.ask(url, "signal", f"{WORKFLOW}/s", "demo/RefundDecided@1", YES % "s")
            out, errors = following.communicate(timeout=PATIENCE)
            self.assertEqual((errors, following.returncode), (b"", 0))
            lines = out.decode().splitlines()
            question = [line for line in lines if "demo/RefundQuestion@1" in line]
            self.assertRegex(question[0], r'\A\d+  \{"kind":"event",.*"value":\{"text":"give back 99.00 for order o-1\?"\}\}\Z')
            self.assertRegex(lines[-2], r'\A\d+  \{"kind":"stopped","schema":"demo/RefundClosed@1","value":\{"note":"paid","paid_cents":9900\}\}\Z')
            self.assertRegex(lines[-1], r'\A\d+  end  \{"status":"completed"\}\Z')
            behind = self.text("stream", f"{WORKFLOW}/s", "--server", url, "--after", lines[-3].split()[0])
            self.assertEqual(behind.splitlines(), lines[-2:])

    def test_a_stream_that_is_cut_off_says_where_to_go_on(self):
        with self.serving() as (url, process):
            self.ask_manager(url, "k")
            before = self.text("stream", f"{WORKFLOW}/k", "--server", url, "--count", "3").splitlines()
            following = subprocess.Popen([PROGRAM, "stream", f"{WORKFLOW}/k", "--server", url, "--after", before[-1].split()[0]],
                                         cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            first = following.stdout.readline()  # it is reading
            process.kill()
            lines = [*before, *(first + following.stdout.read()).decode().splitlines()]
            errors = following.stderr.read().decode()
            following.stdout.close()
            following.stderr.close()
            last = lines[-1].split()[0]
            self.assertEqual((errors, following.wait(timeout=PATIENCE)),
                             (f"holdfast: {WORKFLOW}/k: the stream was cut off; it goes on with --after {last}\n", 75))
        with self.server() as url:
            self.ask(url, "send", "demo/RefundDecided@1", YES % "k", "--wait", "60000")
            lines += self.text("stream", f"{WORKFLOW}/k", "--server", url, "--after", last).splitlines()
            self.assertTrue(lines[-1].endswith('end  {"status":"completed"}'), lines[-1])
            self.assertEqual(self.text("stream", f"{WORKFLOW}/k", "--server", url).splitlines(), lines, "nothing twice, nothing missing")

    def test_a_world_in_its_folder_shows_the_same_as_behind_a_server(self):
        with self.server() as url:
            self.ask_manager(url, "w")
            self.run_program("start", WORKFLOW, REFUND % ("x", "lost", 5), "--wait", "60000", "--server", url)
            commands = [("workflows",), ("graph", WORKFLOW)]
            for name in "wx":
                for command in ("graph", "show", "state", "why", "timeline"):
                    commands.append((command, f"{WORKFLOW}/{name}"))
            online = {command: self.ask(url, *command) for command in commands}
            pictures = {(of, form): self.text("graph", of, "--format", form, "--server", url)
                        for of in (WORKFLOW, f"{WORKFLOW}/w", f"{WORKFLOW}/x") for form in ("mermaid", "dot", "svg")}
        for command, answer in online.items():
            offline = json.loads(self.text(*command, "--world", "world", "--json"))
            if command[0] == "state":  # a folder also says as of when
                offline = {name: offline[name] for name in answer}
            self.assertEqual(offline, answer, command)
        for (of, form), picture in pictures.items():
            self.assertEqual(self.text("graph", of, "--format", form, "--world", "world"), picture)
        for of in (WORKFLOW, f"{WORKFLOW}/w"):
            xml.etree.ElementTree.fromstring(pictures[of, "svg"])
        self.assertIn("waits for demo/RefundDecided@1<br/>until ", pictures[f"{WORKFLOW}/w", "mermaid"])
        self.assertNotIn('"broker"', json.dumps(online["show", f"{WORKFLOW}/w"]))

    def test_a_timeline_shows_the_state_behind_each_record(self):
        with self.server() as url:
            self.ask_manager(url, "t")
            online = self.ask(url, "timeline", f"{WORKFLOW}/t")
            shown = self.text("timeline", f"{WORKFLOW}/t", "--server", url)
            for record in online["records"]:
                (run,) = record["instances"]
                at = self.ask(url, "state", f"{WORKFLOW}/t", "--at", str(record["record"]))
                self.assertEqual(run["state"], at["state"], record["record"])
            # As the records have it, for whoever does not ask for more.
            with urllib.request.urlopen(f"{url}/v1/instances/{WORKFLOW}/t/timeline", timeout=PATIENCE) as answer:
                plain = json.load(answer)
        self.assertEqual({run["state"] for record in plain["records"] for run in record["instances"]}, {None})
        header, first, *rest = shown.splitlines()
        place = header.index("STATE")
        self.assertEqual(first[place:place + 27], '{"steps":[{"step":"open","r')
        self.assertTrue(rest[-1][place:].startswith('{"steps":[{"step":"decide",'), rest[-1])
        self.assertEqual(self.text("timeline", f"{WORKFLOW}/t", "--world", "world"), shown)
        self.assertEqual(json.loads(self.text("timeline", f"{WORKFLOW}/t", "--world", "world", "--json")), online)

    def test_a_picture_is_of_the_past_too(self):
        with self.server() as url:
            self.run_program("start", WORKFLOW, REFUND % ("p", "o-1", 5), "--wait", "60000", "--server", url)
        before = json.loads(self.text("state", f"{WORKFLOW}/p", "--at", "2", "--world", "world", "--json"))
        self.assertEqual((before["state"]["status"], before["state"]["steps"][0]["step"]), ("running", "open"))
        self.assertEqual(before["state"]["steps"][0]["running"][0]["value"], {"id": "p", "order": "o-1", "cents": 5})

    def test_definitions_without_graph_stay_good_and_say_what_they_lack(self):
        """As programs made them before graphs were part of definitions."""
        with self.server() as url:
            definitions = self.ask(url, "manifest")["definitions"]
            for definition in definitions:
                definition.pop("graph", None)
                for entries in definition.values() if definition["$kind"] == "manifest" else []:
                    for entry in entries if isinstance(entries, list) else []:
                        entry.pop("hash", None)
            self.write("bundle.json", json.dumps(definitions))
            self.ask(url, "apply", "bundle.json")
            started = self.ask(url, "start", WORKFLOW, REFUND % ("old", "o-1", 5), "--wait", "60000")
            self.assertEqual(started["instance"]["result"], {"paid_cents": 5, "note": "paid"})
            self.assertIn("has no graph: it was made by a program of before; apply it again", self.refused(url, "graph", WORKFLOW))
            self.assertIn("has no graph", self.refused(url, "graph", f"{WORKFLOW}/old"))
            self.assertEqual(set(self.ask(url, "show", f"{WORKFLOW}/old")["state"]), {"broker", "status"})
        with self.server() as url:  # which applies those of today
            self.assertEqual(self.ask(url, "show", f"{WORKFLOW}/old")["state"]["steps"], [])
            execution = self.ask(url, "graph", f"{WORKFLOW}/old")["execution"]
            self.assertEqual((execution["status"], execution["complete"]), ("completed", True))

    def test_a_graph_in_a_bundle_is_checked(self):
        with self.server() as url:
            definitions = self.ask(url, "manifest")["definitions"]
        (case,) = [each for each in definitions if each.get("name") == WORKFLOW]
        for change, error in ((lambda graph: None, None),
                              (lambda graph: graph["steps"][0].update(workers=3), f"{WORKFLOW}: $.graph: the entry point is of another graph"),
                              (lambda graph: graph["types"][0].update(role="king"), f"{WORKFLOW}: $.graph.types[0].role: there is no role 'king'"),
                              (lambda graph: graph["steps"][0].update(accepts=[]), f"{WORKFLOW}: ")):
            kept = json.dumps(case)
            change(case["graph"])
            for each in definitions:
                for entries in each.values() if each["$kind"] == "manifest" else []:
                    for entry in entries if isinstance(entries, list) else []:
                        entry.pop("hash", None)
            self.write("bundle.json", json.dumps(definitions))
            done = self.run_program("defs", "check", "bundle.json")
            self.assertEqual(done.returncode, 1 if error else 0, done.stderr)
            self.assertIn(error or "", done.stderr.decode())
            case.update(json.loads(kept))

    def test_what_cannot_be_drawn_is_refused(self):
        with self.server() as url:
            self.assertIn("'demo/Order@1' is not made of steps", self.refused(url, "graph", "demo/Order@1"))
            self.assertIn("no workflow 'demo/No@1'", self.refused(url, "graph", "demo/No@1"))
            self.assertIn("there is no such instance", self.refused(url, "graph", f"{WORKFLOW}/nobody"))
            self.assertEqual(self.run_program("graph", WORKFLOW, "--format", "png", "--server", url).returncode, 2)
        done = self.run_program("graph", "demo/Order@1", "--world", "world")
        self.assertIn("'demo/Order@1' is not made of steps", done.stderr.decode())
        self.assertEqual((done.stdout, done.returncode), (b"", 1))


if __name__ == "__main__":
    main()
