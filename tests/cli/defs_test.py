#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast defs check: the table, the JSON, layers, and every way to be refused."""
import json
import re
import subprocess

from program import PATIENCE, PROGRAM, ROOT, ProgramTest, main

ORDERS = str(ROOT / "examples" / "orders")


def schema(name, schema_type='{"text":{}}'):
    return '{"$kind":"defschema","name":"%s","type":%s}' % (name, schema_type)


class DefsCheck(ProgramTest):
    def test_a_sound_bundle_is_listed(self):
        done = self.run_program("defs", "check", ORDERS)
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        head, *rows = done.stdout.decode().splitlines()
        self.assertRegex(head, r"\ANAME +KIND +HASH\Z")
        self.assertIn("shop/Order@1", [row.split()[0] for row in rows])
        self.assertEqual(rows[-1].split()[0:2], ["manifest", "manifest"])
        for row in rows:
            self.assertEqual(row.index("sha256:"), head.index("HASH"))
            self.assertRegex(row, r"\A\S+ +\S+ +sha256:[0-9a-f]{64}\Z")

    def test_json_has_the_same_rows(self):
        table = [line.split() for line in self.run_program("defs", "check", ORDERS).stdout.decode().splitlines()]
        done = self.run_program("defs", "check", "--json", ORDERS)
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        answer = json.loads(done.stdout)
        self.assertEqual(list(answer), ["definitions", "errors"])
        self.assertEqual(answer["errors"], [])
        self.assertEqual([list(row) for row in answer["definitions"]], [["name", "kind", "hash"]] * (len(table) - 1))
        self.assertEqual([list(row.values()) for row in answer["definitions"]], table[1:])

    def test_errors_are_told_after_what_could_be_read(self):
        self.write("b/a.json", schema("a/A@1", '{"ref":"a/X@1"}'))
        self.write("b/b.yaml", "a: [")
        done = self.run_program("defs", "check", "b")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"a/A@1", done.stdout)
        self.assertEqual(done.stderr.decode(), "holdfast: 2 errors in b\n"
                         "  b.yaml: end of sequence flow not found (line 1, column 1)\n"
                         "  a.json: $.type.ref: there is no defschema named 'a/X@1'\n")
        done = self.run_program("defs", "check", "b", "--json")
        self.assertEqual(done.returncode, 1)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["errors"], [
            {"code": "invalid", "where": "b.yaml", "message": "end of sequence flow not found (line 1, column 1)"},
            {"code": "invalid", "where": "a.json: $.type.ref", "message": "there is no defschema named 'a/X@1'"}])

    def test_what_is_not_there_is_refused(self):
        done = self.run_program("defs", "check", "none")
        self.assertEqual((done.stdout, done.returncode), (b"NAME  KIND  HASH\n", 1))
        self.assertEqual(done.stderr, b"holdfast: 1 error in none\n  none: there is no such file\n")

    def test_a_thousand_errors_are_shown_and_the_rest_is_counted(self):
        fields = ",".join('"f%d":{"ref":"a/X@1"}' % i for i in range(2000))
        self.write("a.json", schema("a/A@1", '{"record":{%s}}' % fields))
        done = self.run_program("defs", "check", "a.json")
        self.assertEqual(done.returncode, 1)
        lines = done.stderr.decode().splitlines()
        self.assertEqual(lines[0], "holdfast: 2000 errors in a.json")
        self.assertEqual((len(lines), lines[-1]), (1002, "  and 1000 more"))

    def test_libraries_lie_below(self):
        self.write("one/a.json", schema("a/A@1"))
        self.write("two/b.json", schema("a/B@1", '{"ref":"a/A@1"}'))
        self.write("top/c.json", schema("a/C@1", '{"record":{"a":{"ref":"a/A@1"},"b":{"ref":"a/B@1"}}}'))
        for arguments in (["top", "--with", "one", "--with", "two"], ["--with", "one", "--with", "two", "top"],
                          ["--with", "one", "top", "--with", "two"]):
            done = self.run_program("defs", "check", *arguments)
            self.assertEqual((done.stderr, done.returncode), (b"", 0), arguments)
            self.assertEqual([line.split()[0] for line in done.stdout.decode().splitlines()], ["NAME", "a/C@1"])
        done = self.run_program("defs", "check", "top", "--with", "one")
        self.assertEqual(done.stderr, b"holdfast: 1 error in top\n"
                         b"  c.json: $.type.record.b.ref: there is no defschema named 'a/B@1'\n")
        self.assertEqual(self.run_program("defs", "check", "top", "--with", "two", "--with", "one").returncode, 1)

    def test_another_system_takes_the_place_of_ours(self):
        self.write("sys/s.json", schema("sys/Mine@1"))
        self.write("a.json", schema("a/A@1", '{"record":{"x":{"ref":"sys/Mine@1"},"y":{"ref":"sys/SecretRef@1"}}}'))
        done = self.run_program("defs", "check", "a.json", "--system", "sys")
        self.assertEqual(done.stderr, b"holdfast: 1 error in a.json\n"
                         b"  a.json: $.type.record.y.ref: the system has no defschema named 'sys/SecretRef@1'\n")
        done = self.run_program("defs", "check", "sys")
        self.assertEqual(done.stderr, b"holdfast: 1 error in sys\n"
                         b"  s.json: $.name: 'sys/Mine@1' is reserved: names under sys/ belong to the system\n")

    def test_a_file_name_that_is_no_text_is_shown_in_hex(self):
        self.write("b/a.json", schema("a/A@1"))
        bad = bytes(self.folder / "b") + b"/\xff\n.json"
        with open(bad, "wb") as file:
            file.write(b"{")
        done = self.run_program("defs", "check", "b", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)["errors"][0]["where"], r"\xff\x0a.json: $")
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertEqual(json.loads(done.stderr)["errors"][0]["where"], r"\xff\x0a.json: $")
        self.assertEqual(self.run_program("defs", "check", "b").stderr.count(b"\n"), 2)

    def test_the_same_definitions_have_the_same_hashes_wherever_they_stand(self):
        self.write("x/a.json", "[%s,%s]" % (schema("a/A@1"), schema("a/B@1")))
        self.write("y/deep/b.yaml", "$kind: defschema\nname: a/B@1\ntype: {text: {}}\n")
        self.write("y/a.yml", "$kind: defschema\nname: a/A@1\ntype: {text: {}}\n$comment: x\n")
        self.assertEqual(self.run_program("defs", "check", "x").stdout, self.run_program("defs", "check", "y").stdout)

    def test_the_commands_of_the_demo_work(self):
        if PROGRAM.parent.name != "build":
            self.skipTest("the demo shows the release build")
        done = subprocess.run([ROOT / "scripts" / "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=2 * PATIENCE)
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        self.assertEqual(len(re.findall(rb"(?m)^\$ ", done.stdout)), 9)
        self.assertIn(b"5 letters sent", done.stdout)


if __name__ == "__main__":
    main()
