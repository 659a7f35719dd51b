#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands that go through a server, against the real one."""
import json
import re
import subprocess
import time
import urllib.request

from program import PATIENCE, PROGRAM, main, wait_until
from serving import ORDER, ServingTest

WAITS = PROGRAM.parent / "tests" / "waits"


class ServerCommands(ServingTest):
    def test_events_are_sent_and_instances_started_and_waited_for(self):
        with self.server() as url:
            sent = self.ask(url, "send", "demo/OrderPlaced@1", ORDER % ("s-1", "mug"), "--id", "web-1", "--wait", "60000")
            self.assertEqual((sent["deliveries"], sent["repeated"], sent["instance"]["status"]), (1, False, "completed"))
            again = self.ask(url, "send", "demo/OrderPlaced@1", "-", "--id", "web-1", given=ORDER % ("s-1", "mug"))
            self.assertTrue(again["repeated"])
            started = self.ask(url, "start", "demo/Order@1", ORDER % ("s-2", "mug"), "--wait", "60000")
            self.assertEqual(started["instance"]["key"], "s-2")
            failed = self.ask(url, "start", "demo/Order@1", ORDER % ("s-3", "unicorn"), "--wait", "60000", code=1)
            self.assertEqual(failed["instance"]["status"], "failed")
            self.assertIn("(conflict)", self.refused(url, "start", "demo/Order@1", ORDER % ("s-2", "mug")))
            self.assertIn("$.value.cents: ", self.refused(url, "send", "demo/OrderPlaced@1", '{"id":"x","sku":"mug","count":1,"cents":"many"}'))
            self.assertIn("the value: ", self.refused(url, "send", "demo/OrderPlaced@1", '{"id":'))
            self.assertIn("the value: ", self.refused(url, "send", "demo/OrderPlaced@1", '{}, "id": "other"'))

    def test_a_world_behind_a_server_is_looked_at_as_one_in_its_folder(self):
        with self.server() as url:
            for key, sku in (("a-1", "mug"), ("a-2", "unicorn")):
                self.run_program("start", "--server", url, "demo/Order@1", ORDER % (key, sku), "--wait", "60000")
            online = {}
            for command in (("show", "demo/Order@1/a-1"), ("show", "demo/Order@1/a-2"), ("timeline", "demo/Order@1/a-1"),
                            ("why", "demo/Order@1/a-1"), ("diagnose", "demo/Order@1/a-2"), ("manifest",), ("trace", "demo/Order@1/a-1")):
                online[command] = self.ask(url, *command)
            records = self.ask(url, "journal", "--from", "2", "--limit", "3")["records"]
            self.assertEqual([record["record"] for record in records], [2, 3, 4])
            self.assertGreater(self.ask(url, "snapshot", "take")["next_record"], 4)
        done = self.run_program("journal", "world", "--from", "2", "--limit", "3", "--json")
        self.assertEqual(json.loads(done.stdout)["records"], records)
        for command, answer in online.items():
            done = self.run_program(*command, "--world", "world", "--json")
            self.assertEqual((done.stderr.decode(), json.loads(done.stdout)), ("", answer), command)

    def test_what_has_ended_cannot_be_paused_and_takes_no_signals(self):
        with self.server() as url:
            self.ask(url, "start", "demo/Order@1", ORDER % ("p-1", "mug"), "--wait", "60000")
            for command in ("pause", "resume", "cancel"):
                self.assertIn("the instance has ended (conflict)", self.refused(url, command, "demo/Order@1/p-1"))
            late = ("demo/OrderCancelled@1", '{"id":"p-1"}')
            for command in (("signal", "demo/Order@1/p-1", *late), ("send", *late), ("send", *late, "--key", "demo/Order@1/p-1")):
                self.assertIn("demo/Order@1/p-1 has ended (completed) (unhandled)", self.refused(url, *command))
            self.assertEqual(self.run_program("cancel", "demo/Order@1/nobody", "--server", url).returncode, 1)

    def test_characters_that_turn_a_text_around_or_control_a_terminal_are_escaped(self):
        hostile = "a\u202eb\u2066c\u2028d\u009be"
        spelled = "a\\u202eb\\u2066c\\u2028d\\u009be"  # in values
        word = "~a~E2~80~AEb~E2~81~A6c~E2~80~A8d~C2~9Be"  # in names, where the spelled text is another key
        with self.server() as url:
            value = json.dumps({"id": hostile, "sku": hostile, "count": 1, "cents": 5}, ensure_ascii=False)
            self.ask(url, "start", "demo/Order@1", value, "--wait", "60000")
            name = f"demo/Order@1/{hostile}"
            for command in (("ls",), ("show", name), ("timeline", name), ("journal",), ("stream", name), ("why", name), ("trace", name),
                            ("ls", "--json"), ("show", name, "--json"), ("journal", "--json"), ("timeline", name, "--json")):
                done = self.run_program(*command, "--server", url)
                text = done.stdout.decode() + done.stderr.decode()
                self.assertFalse(set("\u202e\u2066\u2028\u009b") & set(text), command)
                if command[0] != "stream" and command[0] != "why":
                    self.assertTrue(spelled in text or word in text, (command, text))
                if "--json" not in command and command[0] in ("ls", "timeline", "journal"):
                    self.assertIn(f"demo/Order@1/{word}", text, command)
            self.ask(url, "start", "demo/Order@1", json.dumps({"id": spelled, "sku": "mug", "count": 1, "cents": 5}), "--wait", "60000")
            for each, key in ((word, hostile), (spelled, spelled)):
                self.assertEqual(self.ask(url, "show", f"demo/Order@1/{each}")["key"], key)
            shown = self.run_program("show", name, "--server", url).stdout.decode()
            state, = re.findall(r"(?m)^state +(.*)$", shown)
            self.assertIn(hostile, json.dumps(json.loads(state), ensure_ascii=False))

    def test_a_key_is_used_again_and_a_failed_instance_begins_again(self):
        with self.server() as url:
            order = ("start", "demo/Order@1", ORDER % ("r-1", "unicorn"), "--wait", "60000")
            failed = self.ask(url, *order, code=1)
            self.assertEqual(failed["instance"]["status"], "failed")
            self.assertIn("(conflict)", self.refused(url, *order))
            returned = self.ask(url, *order[:3], "--if-ended", "return")
            self.assertEqual((returned["repeated"], returned["instance"]["status"]), (True, "failed"))
            before = len(self.ask(url, "timeline", "demo/Order@1/r-1")["records"])
            retried = self.ask(url, "retry", "demo/Order@1/r-1", "--reason", "once more")
            self.assertGreater(retried["record"], retried["from"])
            wait_until(lambda: self.ask(url, "show", "demo/Order@1/r-1")["status"] == "failed")
            records = self.ask(url, "timeline", "demo/Order@1/r-1")["records"]
            self.assertGreater(len(records), before, "what was is still there")
            tick = next(each["tick"] for each in records if each["record"] == retried["record"])
            self.assertEqual((tick["kind"], tick["from"], tick["reason"]), ("reopen", retried["from"], "once more"))
            first = failed["record"]
            restarted = self.ask(url, "restart", "demo/Order@1/r-1", "--from", str(first))
            self.assertEqual(restarted["from"], first)
            wait_until(lambda: self.ask(url, "show", "demo/Order@1/r-1")["status"] == "failed")
            self.assertIn("nothing", self.refused(url, "restart", "demo/Order@1/r-1", "--from", "nothing"))
            again = self.ask(url, "start", "demo/Order@1", ORDER % ("r-1", "mug"), "--wait", "60000", "--if-ended", "again")
            self.assertEqual((again["repeated"], again["instance"]["status"]), (False, "completed"))
            self.assertIn("has completed", self.refused(url, "retry", "demo/Order@1/r-1"))
            self.assertEqual(self.ask(url, "migrate", "demo/Order@1"), {"moved": 0, "stays": 0, "staying": []})
            self.assertIn("nobody/Knows@1", self.refused(url, "migrate", "nobody/Knows@1"))
        self.assertEqual(self.run_program("verify", "world").returncode, 0)

    def test_instances_are_paused_resumed_and_cancelled(self):
        """Of a program whose instances wait for events."""
        with self.server(program=WAITS) as url:
            def status(key):
                shown = self.ask(url, "show", f"waits/ForEvent@1/{key}")
                return shown["status"], shown["paused"]
            for key in ("a", "b"):
                self.ask(url, "start", "waits/ForEvent@1", f'{{"id":"{key}"}}')
            self.assertEqual(status("a"), ("running", False))
            self.assertEqual(self.ask(url, "why", "waits/ForEvent@1/a")["reasons"], [{"kind": "event", "schemas": ["waits/Begin@1"]}])
            self.assertEqual(self.ask(url, "pause", "waits/ForEvent@1/a", "--reason", "lunch"), {})
            self.assertEqual(status("a"), ("running", True))
            self.assertEqual(self.ask(url, "diagnose", "waits/ForEvent@1/a")["verdict"], "paused")
            self.ask(url, "resume", "waits/ForEvent@1/a")
            self.assertEqual(status("a"), ("running", False))
            self.ask(url, "cancel", "waits/ForEvent@1/b", "--reason", "by mistake")
            self.assertEqual(status("b"), ("cancelled", False))
            self.assertEqual(self.ask(url, "diagnose", "waits/ForEvent@1/b")["verdict"], "cancelled")
            ended = [record["tick"]["reason"] for record in self.ask(url, "timeline", "waits/ForEvent@1/b")["records"]
                     if record["tick"]["kind"] == "control"]
            self.assertEqual(ended, ["by mistake"])

    def has_route(self, url, path):
        with urllib.request.urlopen(url + "/openapi.json", timeout=PATIENCE) as answer:
            return path in json.load(answer)["paths"]

    def test_instances_are_listed_and_found_by_a_prefix(self):
        with self.server() as url:
            if not self.has_route(url, "/v1/instances"):
                self.skipTest("the server has no lists")
            for key in ("l-1", "l-22"):
                self.ask(url, "start", "demo/Order@1", ORDER % (key, "mug"), "--wait", "60000")
            for _ in range(100):  # the index may lag a little
                listed = self.ask(url, "ls", "--status", "completed")["instances"]
                if len(listed) == 2:
                    break
                time.sleep(0.1)
            self.assertEqual({row["key"] for row in listed}, {"l-1", "l-22"})
            done = self.run_program("show", "demo/Order@1/l-2", "--server", url, "--json")
            self.assertEqual((json.loads(done.stdout)["key"], done.stderr.decode()),
                             ("l-22", "holdfast: demo/Order@1/l-2 is taken for demo/Order@1/l-22\n"))
            for command in (("cancel",), ("pause",), ("resume",)):
                self.assertIn("(not_found)", self.refused(url, *command, "demo/Order@1/l-2"), "whole names only")
            self.assertIn("(not_found)", self.refused(url, "signal", "demo/Order@1/l-2", "demo/OrderCancelled@1", '{"id":"l-2"}'))
            self.assertIn("expected the whole name of an instance", self.refused(url, "cancel", "demo/Order@1"))
            self.assertIn("several instances begin so: demo/Order@1/l-", self.refused(url, "show", "demo/Order@1/l"))
            self.assertIn("there is no such instance, and none whose name begins so", self.refused(url, "show", "demo/Order@1/x"))
            self.assertEqual(self.ask(url, "why", "--all"), {"instances": []})

    def test_records_are_followed_as_they_come(self):
        with self.server() as url:
            if not self.has_route(url, "/v1/instances/{workflow}/{key}/stream"):
                self.skipTest("the server has no streams")
            self.ask(url, "start", "demo/Order@1", ORDER % ("f-1", "mug"), "--wait", "60000")
            done = self.run_program("tail", "--server", url, "--after", "1", "--count", "4", "--json")
            self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
            self.assertEqual([json.loads(line)["record"] for line in done.stdout.decode().splitlines()], [2, 3, 4, 5])
            wait_until(lambda: self.figure(url, "holdfast_http_streams") == 0)  # the one before has been left
            following = subprocess.Popen([PROGRAM, "tail", "--server", url, "--count", "1"],
                                         cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wait_until(lambda: self.figure(url, "holdfast_http_streams") == 1)  # it follows
            self.refused(url, "signal", "demo/Order@1/f-1", "demo/OrderCancelled@1", '{"id":"f-1"}')  # which is recorded
            out, errors = following.communicate(timeout=PATIENCE)
            self.assertEqual((errors, following.returncode), (b"", 0))
            self.assertRegex(out.decode(), r"\A6  \S+Z  event demo/OrderCancelled@1  demo/Order@1/f-1 completed\n\Z")
            done = self.run_program("stream", "--server", url, "demo/Order@1/f-1")
            self.assertEqual((done.stderr.decode(), done.returncode), ("", 0), "it ends as its instance has")

    def test_definitions_are_proposed_tried_and_applied(self):
        with self.server() as url:
            if not self.has_route(url, "/v1/proposals"):
                self.skipTest("the server has no proposals")
            self.ask(url, "start", "demo/Order@1", ORDER % ("g-1", "mug"), "--wait", "60000")
            definitions = self.ask(url, "manifest")["definitions"]
            for definition in definitions:
                if definition.get("name") == "demo/charge@1":
                    definition["timeout_ns"] = 60 * 10**9
                if definition["$kind"] == "manifest":
                    for entries in definition.values():
                        for entry in entries if isinstance(entries, list) else []:
                            entry.pop("hash", None)
            self.write("bundle.json", json.dumps(definitions))
            self.assertEqual(self.ask(url, "apply", "bundle.json", "--check")["blocking_count"], 0)
            proposal = str(self.ask(url, "gov", "propose", "bundle.json")["proposal"])
            report = self.ask(url, "gov", "shadow", proposal)
            self.assertEqual((report["instances"], report["different"]), (1, 0))
            self.ask(url, "gov", "approve", proposal, "--by", "ada")
            self.assertGreater(self.ask(url, "gov", "apply", proposal)["record"], 0)
            self.assertEqual([(each["stage"], each["by"]) for each in self.ask(url, "gov", "ls")["proposals"]], [("applied", "ada")])

    def test_a_server_that_is_not_there_is_tried_again_later(self):
        self.assertIn("http://127.0.0.1:9: ", self.refused("http://127.0.0.1:9", "show", "demo/Order@1/x", code=75))
        self.assertIn("expected http:// or https://", self.refused("ftp://127.0.0.1", "show", "demo/Order@1/x"))
        done = self.run_program("show", "demo/Order@1/x", "--server", "http://example.com", "--token", "hf_secret")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a token is not sent in the clear to another machine: use https", done.stderr.decode())
        self.assertNotIn("hf_secret", done.stderr.decode())

    def test_tokens_say_who_may(self):
        with self.server():
            pass  # it makes the world
        tokens = {role: self.run_program("token", "add", "--world", "world", "--role", role, "--name", role).stdout.decode().split()[-1]
                  for role in ("viewer", "operator")}
        with self.server() as url:
            self.assertIn("(unauthenticated)", self.refused(url, "manifest"))
            done = self.run_program("send", "--server", url, "demo/OrderPlaced@1", ORDER % ("t-1", "mug"), "--token", tokens["viewer"])
            self.assertIn("(forbidden)", done.stderr.decode())
            done = self.run_program("send", "--server", url, "demo/OrderPlaced@1", ORDER % ("t-1", "mug"),
                                    env={"HOLDFAST_TOKEN": tokens["operator"]})
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_certificates_are_verified(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
                       cwd=self.folder, check=True, capture_output=True)
        with self.server("--tls-certificate", "cert.pem", "--tls-key", "key.pem") as url:
            self.assertTrue(url.startswith("https://"))
            self.assertIn("certificate", self.refused(url, "manifest"))
            done = self.run_program("manifest", "--server", url, "--authorities", "cert.pem")
            self.assertEqual((done.stderr, done.returncode), (b"", 0))


if __name__ == "__main__":
    main()
