#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Version, help, wrong command lines, and output that cannot be written."""
import os
import re
import subprocess

from program import PROGRAM, ROOT, ProgramTest, main


class General(ProgramTest):
    def test_the_version_is_that_of_the_project(self):
        version = re.search(r"VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text().split("project(")[1])
        self.assert_prints(f"holdfast {version[1]}\n", "version")

    def test_the_version_is_asked_for_with_a_flag_too(self):
        self.assert_prints(self.run_program("version").stdout.decode(), "--version")

    def test_help_is_asked_for_with_a_word_too(self):
        for words in ([], ["gov"], ["gov", "propose"], ["verify"]):
            self.assert_prints(self.run_program(*words, "--help").stdout.decode(), "help", *words)
        self.assert_misused("there is no command 'gov nonsense'; see holdfast gov --help", "help", "gov", "nonsense")

    def test_help_says_nothing_that_is_empty(self):
        self.assertNotIn(b"Excludes:", self.run_program("demo", "--help").stdout)

    def test_help_is_printed_at_every_level(self):
        for command in ([], ["version"], ["cbor"], ["cbor", "encode"], ["cbor", "decode"],
                        ["cbor", "hash"], ["defs"], ["defs", "check"], ["validate"], ["gc"], ["journal"], ["reindex"], ["salvage"],
                        ["snapshot"], ["snapshot", "ls"], ["snapshot", "rm"], ["verify"],
                        ["registry"], *(["registry", each] for each in ("ls", "register", "renew", "release", "hold", "doctor")),
                        ["swap"], *(["swap", each] for each in ("status", "run", "begin")),
                        ["preempt"], *(["preempt", each] for each in ("request", "poll", "clear")),
                        ["serve"], ["dev"], ["graph"], ["workflows"], ["token"], ["token", "add"], ["token", "ls"], ["token", "revoke"]):
            for flag in ("-h", "--help"):
                done = self.run_program(*command, flag)
                self.assertEqual((done.stderr, done.returncode), (b"", 0), command)
                self.assertIn(b"Usage:", done.stdout)

    def test_a_wrong_command_line_is_misuse(self):
        self.assert_misused("A subcommand is required")
        self.assert_misused("A subcommand is required", "cbor")
        self.assert_misused("A subcommand is required", "defs")
        self.assert_misused("bundle is required", "defs", "check")
        self.assert_misused("say --world DIR, or set HOLDFAST_WORLD", "gc")
        self.assert_misused("A subcommand is required", "snapshot")
        self.assert_misused("say --world DIR, or set HOLDFAST_WORLD", "snapshot", "ls")
        self.assert_misused("say --world DIR, or set HOLDFAST_WORLD", "snapshot", "rm", "1200")
        self.assert_misused("record is required", "snapshot", "rm")
        self.assert_misused("say --world DIR, or set HOLDFAST_WORLD", "verify")
        self.assert_misused("A subcommand is required", "registry")
        self.assert_misused("name is required", "registry", "register", "--recipe", "llama")
        self.assert_misused("command is required", "registry", "hold", "--recipe", "llama")
        self.assert_misused("--recipe is required", "swap", "run", "--", "true")
        self.assert_misused("A subcommand is required", "preempt")
        self.assert_misused("new is required", "salvage")
        self.assert_misused("say --world DIR, or set HOLDFAST_WORLD", "salvage", "new")
        self.assert_misused("--world is required", "serve")
        self.assert_misused("A subcommand is required", "token")
        self.assert_misused("say --world DIR, or set HOLDFAST_WORLD", "token", "ls")
        self.assert_misused("there is no command 'nonsense'; see holdfast --help", "nonsense")
        self.assert_misused("there is no command 'nonsense'; see holdfast --help", "nonsense", "--json-like")
        self.assert_misused("there is no command 'gov nonsense'; see holdfast gov --help", "gov", "nonsense")
        self.assert_misused("there is no command 'b\\x1b[31m'; see holdfast --help", "b\x1b[31m")
        self.assert_misused("The following argument was not expected: more", "version", "more")
        self.assert_misused("The following argument was not expected: --colour", "version", "--colour")
        self.assert_misused("--from: xml not in {json,cbor}", "cbor", "encode", "--from", "xml")
        self.assert_misused("The following argument was not expected: b", "defs", "check", "a", "b")
        self.assert_misused("The following argument was not expected: b\\x1b[31m", "version", "b\x1b[31m")

    def test_output_to_a_full_disk_is_a_refusal_and_to_a_closed_pipe_is_one_without_a_word(self):
        for command in (["version"], ["cbor", "encode"], ["defs", "check", ROOT / "examples" / "orders"]):
            with open("/dev/full", "wb") as full:
                done = self.run_program(*command, given="1", stdout=full)
            self.assertEqual((done.stderr, done.returncode),
                             (b"holdfast: the output could not be written\n", 1), command)
            reader, writer = os.pipe()
            os.close(reader)
            try:
                done = self.run_program(*command, given="1", stdout=writer)
            finally:
                os.close(writer)
            self.assertEqual((done.stderr, done.returncode), (b"", 1), command)

    def test_closed_standard_streams_do_no_harm(self):
        done = subprocess.run(["bash", "-c", 'exec "$0" version >&-', str(PROGRAM)], stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        done = subprocess.run(["bash", "-c", 'exec "$0" cbor encode <&-', str(PROGRAM)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertEqual(done.stderr, b"holdfast: standard input: Bad file descriptor\n")


if __name__ == "__main__":
    main()
