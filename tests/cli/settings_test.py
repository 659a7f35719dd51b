#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast config, init and completion."""
import json
import re
import subprocess

from program import PATIENCE, PROGRAM, ROOT, ProgramTest, main


class Settings(ProgramTest):
    def config(self, *arguments, **environment):
        done = self.run_program("config", "--json", *arguments, env=environment)
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))
        return json.loads(done.stdout)

    def test_flags_go_before_the_environment_and_that_before_the_file(self):
        self.assertEqual(self.config(), {})
        self.write("holdfast.yaml", "world: from-file\nlisten: 127.0.0.1:1\n")
        self.assertEqual(self.config(), {"world": {"value": "from-file", "from": "holdfast.yaml"},
                                         "listen": {"value": "127.0.0.1:1", "from": "holdfast.yaml"}})
        self.assertEqual(self.config(HOLDFAST_WORLD="from-environment")["world"],
                         {"value": "from-environment", "from": "HOLDFAST_WORLD"})
        self.assertEqual(self.config("--world", "from-flag", HOLDFAST_WORLD="from-environment")["world"],
                         {"value": "from-flag", "from": "--world"})
        table = self.run_program("config", env={}).stdout.decode()
        self.assertRegex(table, r"world +from-file +holdfast\.yaml\n")

    def test_a_token_is_not_shown(self):
        done = self.run_program("config", env={"HOLDFAST_TOKEN": "hf_secret"})
        self.assertNotIn(b"hf_secret", done.stdout)
        self.assertEqual(self.config(HOLDFAST_TOKEN="hf_secret")["token"], {"value": "(not shown)", "from": "HOLDFAST_TOKEN"})

    def test_a_key_that_nobody_knows_is_an_error_for_every_command(self):
        self.write("holdfast.yaml", "word: x\n")
        done = self.run_program("config")
        self.assertIn("holdfast.yaml: word: there is no such setting; there are world, server, ", done.stderr.decode())
        for command in (("config",), ("ls",), ("serve",), ("dev",), ("send", "a/B@1"), ("gov", "ls"), ("tail",), ("fork", "--at", "1", "x")):
            self.assertEqual(self.run_program(*command).returncode, 2, command)
        self.write("holdfast.yaml", "world: [a]\n")
        self.assertIn(b"holdfast.yaml: world: expected a text", self.run_program("config").stderr)

    def test_a_file_that_cannot_be_read_is_named(self):
        for text, told in (("a: b: c\n", "holdfast.yaml: illegal map value (line 1, column 5)"), ("", "holdfast.yaml: the YAML has no document"),
                           ("- a\n", "holdfast.yaml: expected keys and values"), ("a: &b c\n", "holdfast.yaml: ")):
            self.write("holdfast.yaml", text)
            for command in ("config", "ls", "serve", "dev"):
                done = self.run_program(command)
                self.assertTrue(done.stderr.decode().startswith("holdfast: " + told), done.stderr)
                self.assertEqual((done.stdout, done.returncode), (b"", 2), command)
        (self.folder / "holdfast.yaml").unlink()
        (self.folder / "holdfast.yaml").mkdir()
        self.assert_misused("holdfast.yaml: cannot be read: Is a directory", "config")

    def test_a_variable_that_nobody_knows_is_an_error(self):
        for command in (("config",), ("ls", "--world", "w"), ("serve", "--world", "w"), ("dev", "w"), ("cancel", "a/B@1/c", "--server", "http://127.0.0.1:1")):
            done = self.run_program(*command, env={"HOLDFAST_SEVER": "http://127.0.0.1:1"})
            self.assertEqual((done.stdout, done.stderr.decode(), done.returncode),
                             (b"", "holdfast: HOLDFAST_SEVER: there is no such setting; holdfast config --help names all of them\n", 2), command)
            self.assertFalse((self.folder / "w").exists())
        self.assertEqual(self.run_program("config", env={"HOLD": "x", "XHOLDFAST_A": "x", "HOLDFAST_PREEMPT_PATH": "x"}).returncode, 0)

    def test_the_variables_of_the_tests_are_known(self):
        names = set()
        for folder in ("tests", "bench", "scripts", "src"):
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix in (".py", ".sh", ".cc", ".h"):
                    names |= set(re.findall(r"""(?:getenv\(|environ\.get\(|environ\[|environ\.setdefault\()\s*['"](HOLDFAST_\w+)""", path.read_text()))
        self.assertIn("HOLDFAST_BUILD", names)
        done = self.run_program("config", env={name: "x" for name in names})
        self.assertEqual((done.stderr.decode(), done.returncode), ("", 0))

    def test_two_places_at_once_are_refused(self):
        done = self.run_program("ls", env={"HOLDFAST_WORLD": "w", "HOLDFAST_SERVER": "http://127.0.0.1:1"})
        self.assertEqual((done.stderr.decode(), done.returncode),
                         ("holdfast: both a world and a server are set, by HOLDFAST_WORLD and HOLDFAST_SERVER: "
                          "say --world or --server\n", 2))

    def test_init_makes_a_folder_to_begin_in(self):
        done = self.run_program("init", "shop", "--any-file-system")
        self.assertEqual((done.stdout, done.stderr, done.returncode), (b"shop has a world and holdfast.yaml\n", b"", 0))
        listed = subprocess.run([PROGRAM, "ls", "--json"], cwd=self.folder / "shop", capture_output=True, timeout=PATIENCE)
        self.assertEqual((json.loads(listed.stdout), listed.returncode), ({"instances": [], "next": None}, 0))
        done = self.run_program("init", "shop", "--any-file-system")
        self.assertEqual((done.stderr.decode(), done.returncode), ("holdfast: shop/holdfast.yaml: is there already\n", 1))

    def test_shells_complete_every_command(self):
        script = self.run_program("completion", "bash")
        self.assertEqual(script.returncode, 0)
        self.write("complete.bash", script.stdout)
        asks = """
source complete.bash
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _holdfast; echo "${COMPREPLY[@]}"; }
ask holdfast tim
ask holdfast gov pro
ask holdfast gov propose --desc
ask holdfast timeline --fr
"""
        done = subprocess.run(["bash", "-c", asks], cwd=self.folder, capture_output=True, timeout=PATIENCE)
        self.assertEqual((done.stdout.decode(), done.stderr), ("timeline\npropose\n--description\n--from\n", b""))
        for shell in ("zsh", "fish"):
            self.assertIn(b"timeline", self.run_program("completion", shell).stdout)
        self.assertEqual(self.run_program("completion", "tcsh").returncode, 2)


if __name__ == "__main__":
    main()
