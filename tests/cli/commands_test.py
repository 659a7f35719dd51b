#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command that `holdfast --help` knows has a test that runs the real program with it (COMMANDS.md names it), an example in its
help, is in docs/cli.md, and is completed by every shell."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from order_worlds import OrderWorldTest
from program import PATIENCE, PROGRAM, ROOT, ProgramTest, main

TABLE = pathlib.Path(__file__).with_name("COMMANDS.md")

# What they print is for a shell, or for whoever reads along, or is the value itself; or they print nothing, or run a program.
WITHOUT_JSON = {"serve", "worker", "dev", "demo", "help", "completion", "cbor encode", "cbor decode", "cbor hash", "registry hold", "swap run"}

# Runs the real program, and notes what it was called with.
SPY = """#!/usr/bin/env python3
import json, os, sys
with open({log!r}, "a") as log:
    log.write(json.dumps([word.encode(errors="surrogateescape").decode(errors="replace") for word in sys.argv[1:]]) + "\\n")
os.execv({program!r}, [{program!r}, *sys.argv[1:]])
"""


def help_of(path):
    return subprocess.run([PROGRAM, *path, "--help"], capture_output=True, text=True, check=True, timeout=PATIENCE).stdout


def groups_below(path=()):
    """{heading: commands}, as the help lists them."""
    sections = re.findall(r"^(\w+):\n((?:  .*\n)+)", help_of(path), re.MULTILINE)
    return {heading: re.findall(r"^  (\S+)", lines, re.MULTILINE) for heading, lines in sections
            if heading not in ("Options", "Positionals")}


def commands_below(path=()):
    """All commands, those that only hold others left out."""
    names = [name for names in groups_below(path).values() for name in names]
    if not names:
        return [path]
    return [command for name in names for command in commands_below((*path, name))]


def table():
    """{command: (file, test)}"""
    rows = re.findall(r"^\| `([^`]+)` \| (\S+): (\S+) \|$", TABLE.read_text(), re.MULTILINE)
    return {command: (file, test) for command, file, test in rows}


class Commands(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.all = [" ".join(path) for path in commands_below()]

    def test_every_command_is_in_the_table_and_nothing_else_is(self):
        self.assertGreater(len(self.all), 40)
        self.assertEqual(sorted(table()), sorted(self.all))

    def test_the_tests_that_the_table_names_run_their_commands(self):
        build = self.folder / "build"
        build.mkdir()
        log = self.folder / "log"
        for entry in PROGRAM.parent.iterdir():
            if entry.name != PROGRAM.name:
                (build / entry.name).symlink_to(entry.resolve())
        (build / PROGRAM.name).write_text(SPY.format(log=str(log), program=str(PROGRAM.resolve())))
        (build / PROGRAM.name).chmod(0o755)
        by_test = collections.defaultdict(list)
        for command, place in table().items():
            by_test[place].append(command)
        for (file, test), commands in sorted(by_test.items()):
            log.write_text("")
            done = subprocess.run([sys.executable, ROOT / "tests" / file, test], cwd=self.folder, capture_output=True, text=True, timeout=2 * PATIENCE,
                                  env=dict(os.environ, HOLDFAST_BUILD=str(build), PYTHONDONTWRITEBYTECODE="1"))
            self.assertEqual(done.returncode, 0, (file, test, done.stderr))
            self.assertNotIn("skipped", done.stderr, (file, test))
            calls = [json.loads(line) for line in log.read_text().splitlines()]
            ran = {" ".join(call[:words]) for call in calls for words in (1, 2) if not {"--help", "-h"} & set(call)}
            self.assertLessEqual(set(commands), ran, (file, test))

    def test_every_help_has_an_example_of_the_command_itself(self):
        groups = {" ".join(command.split()[:-1]) for command in self.all} - {""}
        for command in [*self.all, *groups]:
            text = help_of(command.split())
            found = re.search(r"^Example: .*", text, re.MULTILINE)
            self.assertTrue(found, command)
            example = found[0]
            self.assertRegex(example, rf"\bholdfast {command}\b", command)

    def test_commands_that_print_documents_do_so_as_json(self):
        without = {command for command in self.all if not re.search(r"^  --json\b", help_of(command.split()), re.MULTILINE)}
        self.assertEqual(without, WITHOUT_JSON)

    def test_every_command_is_documented(self):
        text = (ROOT / "docs/cli.md").read_text()
        for command in self.all:
            first, *rest = command.split()
            self.assertRegex(text, rf"`{first}\b[^`]*", command)
            for word in rest:
                self.assertTrue(re.search(rf"`{first} [^`]*\b{word}\b", text), command)

    def test_the_help_lists_them_in_the_groups_and_the_order_of_the_page(self):
        page = (ROOT / "docs/cli.md").read_text()
        begins = {"Looking": page.index("| looking |"), "Acting": page.index("| acting |"), "Others": page.index("Others:")}
        groups = groups_below()
        self.assertEqual(list(groups), list(begins))
        for heading, names in groups.items():
            end = min([begin for begin in begins.values() if begin > begins[heading]], default=len(page))
            section = page[begins[heading]:end]
            said = [re.search(rf"`{name}\b", section) for name in names]
            self.assertTrue(all(said), (heading, [name for name, found in zip(names, said) if not found]))
            self.assertEqual([found.start() for found in said], sorted(found.start() for found in said), heading)

    def test_shells_complete_every_command(self):
        for shell, pattern in (("bash", '["{} "]='), ("zsh", '["{} "]=')):
            text = self.run_program("completion", shell).stdout.decode()
            for command in self.all:
                self.assertIn(pattern.format(command), text, (shell, command))
        script = self.write("completion.bash", self.run_program("completion", "bash").stdout)
        for line, expected in (("holdfast gov ", {"propose", "shadow", "approve", "reject", "apply", "ls"}), ("holdfast tim", {"timeline"}),
                               ("holdfast ls --wh", {"--where"}), ("holdfast registry re", {"register", "renew", "release"}),
                               ("holdfast ls --status ", {"running", "waiting", "completed", "failed", "cancelled"}),
                               ("holdfast graph --format ", {"mermaid", "dot", "svg"}), ("holdfast journal --kind de", {"decide"}),
                               ("holdfast token add --role ", {"viewer", "operator", "admin", "worker"}),
                               ("holdfast completion ", {"bash", "zsh", "fish"}), ("holdfast registry hold --signal US", {"USR1", "USR2"})):
            words = line.split(" ")
            done = subprocess.run(["bash", "-c", f'source {script}; COMP_WORDS=("$@"); COMP_CWORD={len(words) - 1}; _holdfast; '
                                   'printf "%s\\n" "${COMPREPLY[@]}"', "bash", *words], capture_output=True, text=True, check=True, timeout=PATIENCE)
            found = set(done.stdout.split())
            self.assertLessEqual(expected, found, line)
            if words[-2].startswith("--"):
                self.assertEqual(expected, found, "behind an option stands nothing else")
        fish = self.run_program("completion", "fish").stdout.decode()
        self.assertRegex(fish, r"(?m)\^holdfast why.* -a '\(holdfast ls --limit 200 ")
        for command in self.all:
            self.assertRegex(fish, rf"(?m) -a {command.split()[-1]}$", command)
        self.assertRegex(fish, r"(?m) -l role -x -a \"[a-z ]*operator[a-z ]*\"$")
        self.assertRegex(fish, r"(?m)\^holdfast completion.* -a fish$")
        for shell, checks in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
            if shutil.which(shell) is None:
                continue
            path = self.write(f"completion.{shell}", self.run_program("completion", shell).stdout)
            self.assertEqual(subprocess.run([*checks, path], capture_output=True, timeout=PATIENCE).returncode, 0, shell)
        self.assertEqual(self.run_program("completion", "csh").returncode, 2)


class Instances(OrderWorldTest):
    def test_shells_complete_instances(self):
        """Also where bash takes a name apart."""
        self.make_world(orders=2)
        script = self.write("completion.bash", self.run_program("completion", "bash").stdout)
        for line, words, expected in ((None, ["show", "demo/Order@1/o-"], {"demo/Order@1/o-1", "demo/Order@1/o-2"}),
                                      ("show demo/Order@1/o-", ["show", "demo/Order", "@", "1/o-"], {"1/o-1", "1/o-2"}),
                                      (None, ["why", "demo/O"], {"demo/Order@1/o-1", "demo/Order@1/o-2"})):
            setting = f'COMP_LINE="$0 {line}"; COMP_POINT=${{#COMP_LINE}};' if line else "COMP_WORDBREAKS=' ';"
            done = subprocess.run(["bash", "-c", f'source {script}; COMP_WORDS=("$0" "$@"); COMP_CWORD={len(words)}; {setting} _holdfast; '
                                   'printf "%s\\n" "${COMPREPLY[@]}"', PROGRAM, *words], capture_output=True, text=True, check=True,
                                  timeout=PATIENCE, cwd=self.folder, env={**os.environ, "HOLDFAST_WORLD": "world"})
            self.assertEqual(set(done.stdout.split()), expected, words)


if __name__ == "__main__":
    main()
