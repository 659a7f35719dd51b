#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples in the documentation and compares what they print.

A ```console block holds commands behind "$ " and, below each, what it prints (standard output and
standard error together). "[exit N]" ends the output of a command that exits with N; without it
the command must exit with 0. "..." stands for anything on its line, for what is different each
time. Blocks of one file share one temporary folder.

A ```cpp block names the file that it is from, ```cpp examples/survivor/main.cc, and is in it word for word, but for how far
all of its lines are indented.

Usage: run_examples.py PROGRAM_DIR FILE.md...
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

PATIENCE = 200  # seconds, with one command
PR_SET_CHILD_SUBREAPER = 36


def examples(text):
    """Yields (line number, command, expected output, expected exit code)."""
    inside = False
    command, line_number, output = None, 0, []

    def finished():
        code = 0
        if output and output[-1].startswith("[exit "):
            code = int(output[-1][len("[exit "):-1])
            output.pop()
        return line_number, command, "".join(f"{line}\n" for line in output), code

    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            if inside and command is not None:
                yield finished()
            inside, command, output = not inside and line == "```console", None, []
        elif inside and line.startswith("$ "):
            if command is not None:
                yield finished()
            command, line_number, output = line[2:], number, []
        elif inside:
            output.append(line)


def excerpts(text):
    """Yields (line number, file or "", lines) of the blocks of C++."""
    inside, file, begin, lines = False, "", 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif inside:
            if inside == "cpp":
                yield begin, file, lines
            inside = False
        else:
            inside, _, file = (line[3:] or "text").partition(" ")
            begin, lines = number, []


def is_part_of(lines, source):
    """Whether the lines stand in the source, one after the other, perhaps further to the right."""
    source = source.splitlines()
    for begin in range(len(source) - len(lines) + 1):
        indent = len(source[begin]) - len(source[begin].lstrip())
        there = [" " * indent + line if line else "" for line in lines]
        if there == source[begin:begin + len(lines)]:
            return True
    return False


def matches(expected, got):
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, got) is not None


def run(command, **where):
    """Gives what it printed, and its exit code. What earlier commands have left running is waited for meanwhile: a command that
    wants it gone would see it for ever, where the first process of the machine does not look after such."""
    with tempfile.TemporaryFile() as printed, \
            subprocess.Popen(["bash", "-c", command], stdout=printed, stderr=subprocess.STDOUT, **where) as process:
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None:
            if time.monotonic() > deadline:
                process.kill()
                raise subprocess.TimeoutExpired(command, PATIENCE)
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended and ended.si_pid != process.pid:
                os.waitpid(ended.si_pid, 0)
            time.sleep(0.01)
        printed.seek(0)
        return printed.read().decode(), process.returncode


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    programs, files = sys.argv[1], sys.argv[2:]
    root = pathlib.Path(__file__).resolve().parents[2]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    environment["PATH"] = f"{os.path.abspath(programs)}:{os.environ['PATH']}"
    ran = failed = 0
    for file in files:
        for line, source, lines in excerpts(pathlib.Path(file).read_text()):
            ran += 1
            if not source or not is_part_of(lines, (root / source).read_text()):
                failed += 1
                print(f"{file}:{line}: this is not in '{source}':\n" + "\n".join(lines))
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "examples").symlink_to(root / "examples")
            for line, command, expected, code in examples(pathlib.Path(file).read_text()):
                got, ended_with = run(command, cwd=folder, env=environment)
                ran += 1
                if ended_with != code or not matches(expected, got):
                    failed += 1
                    print(f"{file}:{line}: $ {command}\n--- expected (exit {code})\n{expected}"
                          f"--- got (exit {ended_with})\n{got}")
    print(f"{ran - failed} passed, {failed} failed")
    return 1 if failed or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
