#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast validate: the plan as a table, as JSON and as a picture, and every error with its place."""
import json

from program import ROOT, ProgramTest, main

DIGEST = str(ROOT / "examples" / "tasks" / "digest.yaml")


def document(nodes, **more):
    return json.dumps({"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": {"name": "w"},
                       "spec": {"taskType": "echo", "graph": {"nodes": nodes}}, **more})


class Validate(ProgramTest):
    def test_a_sound_document_is_shown(self):
        done = self.run_program("validate", DIGEST)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        self.assertEqual(done.stdout.decode(), "digest: 4 tasks, 4 dependencies\n"
                         "NODE   TYPE    TASKS  EPOCH  DEPENDS ON\n"
                         "fetch  http    2      -      -\n"
                         "check  python  1      -      fetch\n"
                         "send   http    1      -      check\n")

    def test_json_has_the_whole_plan(self):
        done = self.run_program("validate", "--json", DIGEST)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        answer = json.loads(done.stdout)
        self.assertEqual(answer["errors"], [])
        self.assertEqual({name: answer["plan"][name] for name in ("name", "tasks", "dependencies", "epochs")},
                         {"name": "digest", "tasks": 4, "dependencies": 4, "epochs": 0})
        self.assertEqual(answer["plan"]["nodes"][1],
                         {"name": "check", "type": "python", "tasks": 1, "epoch": None, "dependsOn": ["fetch"]})

    def test_errors_name_their_places(self):
        self.write("a.json", document([{"name": "a", "depends": []}, {"name": "b", "dependsOn": ["c"]}]))
        done = self.run_program("validate", "a.json")
        self.assertEqual((done.stdout, done.returncode), (b"", 1))
        self.assertEqual(done.stderr.decode(), "holdfast: 2 errors in a.json\n"
                         "  spec.graph.nodes[0].depends: unknown key 'depends'; did you mean 'dependsOn'?\n"
                         "  spec.graph.nodes[1].dependsOn[0]: there is no node 'c'\n")
        done = self.run_program("validate", "a.json", "--json")
        self.assertEqual(done.returncode, 1)
        answer = json.loads(done.stdout)
        self.assertIsNone(answer["plan"])
        self.assertEqual(answer["errors"][0], {"code": "invalid", "where": "spec.graph.nodes[0].depends",
                                               "message": "unknown key 'depends'; did you mean 'dependsOn'?"})
        self.assertEqual(json.loads(done.stderr)["errors"], answer["errors"])

    def test_files_that_are_no_documents_are_refused(self):
        self.write("a.yaml", "a: [")
        self.write("b.json", "{")
        self.write("c.yaml", "a: 1\n---\nb: 2\n")
        self.assertIn(b"there is no such file", self.run_program("validate", "none.yaml").stderr)
        self.assertIn(b"line 1, column 1", self.run_program("validate", "a.yaml").stderr)
        self.assertEqual(self.run_program("validate", "b.json").returncode, 1)
        self.assertIn(b"expected a mapping, got a list", self.run_program("validate", "c.yaml").stderr)

    def test_a_wrong_command_line_is_misuse(self):
        for arguments in ([], [DIGEST, "extra"], [DIGEST, "--draw", "png"], [DIGEST, "--max-tasks", "0"],
                          [DIGEST, "--json", "--draw", "svg"], [""]):
            self.assertEqual(self.run_program("validate", *arguments).returncode, 2, arguments)

    def test_the_types_that_exist_can_be_given(self):
        self.assertEqual(self.run_program("validate", "--type", "http", "--type", "python", DIGEST).returncode, 0)
        done = self.run_program("validate", DIGEST, "--type", "http", "--type", "node")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"spec.graph.nodes[1].spec.taskType: unknown task type 'python'; allowed: http, node", done.stderr)

    def test_a_graph_is_drawn(self):
        done = self.run_program("validate", DIGEST, "--draw", "mermaid")
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        for word in (b"fetch", b"check", b"send", b"-->"):
            self.assertIn(word, done.stdout)
        self.assertTrue(self.run_program("validate", DIGEST, "--draw", "svg").stdout.startswith(b"<svg"))

    def test_a_large_graph_is_shown_in_part_and_counted(self):
        nodes = [{"name": f"n{i}", "dependsOn": [f"n{i - 1}"] if i else []} for i in range(100_000)]
        self.write("large.json", document(nodes))
        done = self.run_program("validate", "large.json")
        self.assertEqual((done.stderr, done.returncode), (b"", 0))
        lines = done.stdout.decode().splitlines()
        self.assertEqual((lines[0], lines[-1], len(lines)),
                         ("w: 100000 tasks, 99999 dependencies", "and 99950 nodes more; --json lists all", 53))
        done = self.run_program("validate", "large.json", "--max-tasks", "99999")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"spec.graph.nodes: there are 100000 of them; a graph has at most 99999 tasks", done.stderr)

    def test_many_errors_are_cut(self):
        self.write("a.json", document([{"oops": 1}] * 100))
        lines = self.run_program("validate", "a.json").stderr.decode().splitlines()
        self.assertEqual((lines[0], lines[-1], len(lines)),
                         ("holdfast: more than 20 errors in a.json", "  and 80 more errors", 22))


if __name__ == "__main__":
    main()
