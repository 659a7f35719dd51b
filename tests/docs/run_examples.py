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
import os
import pathlib
import re
import subprocess
import sys
import tempfile


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


def main():
    programs, files = sys.argv[1], sys.argv[2:]
    root = pathlib.Path(__file__).resolve().parents[2]
    environment = dict(os.environ, PATH=f"{os.path.abspath(programs)}:{os.environ['PATH']}")
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
                done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
                ran += 1
                if done.returncode != code or not matches(expected, done.stdout):
                    failed += 1
                    print(f"{file}:{line}: $ {command}\n--- expected (exit {code})\n{expected}"
                          f"--- got (exit {done.returncode})\n{done.stdout}")
    print(f"{ran - failed} passed, {failed} failed")
    return 1 if failed or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
