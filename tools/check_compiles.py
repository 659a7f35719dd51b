#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles what FOLDER/compile_commands.json lists, without writing objects. The build compiles sources
in batches, and which sources share a batch changes with every new file. Two configured builds find what
a batch may hide:

  build-single   HOLDFAST_UNITY=OFF       a source that needs an include of another one
  build-whole    HOLDFAST_UNITY_BATCH=0   a name that two sources of a folder use for different things

usage: check_compiles.py [--root DIR] FOLDER
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys

import passed


def compile_only(entry):
    command = [*shlex.split(entry["command"]), "-fsyntax-only"]
    result = subprocess.run(command, cwd=entry["directory"], text=True, capture_output=True)
    return "" if result.returncode == 0 else f"{entry['file']}:\n{result.stderr}"


def main():
    parser = argparse.ArgumentParser(description="Compiles what a build folder lists.")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[1])
    parser.add_argument("folder")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    version = subprocess.check_output(["c++", "--version"], text=True)
    checks = [(pathlib.Path(entry["directory"], entry["file"]), f"{version} {entry['command']}",
               lambda e=entry: compile_only(e))
              for entry in json.loads((root / arguments.folder / "compile_commands.json").read_text())]
    return passed.check_files(root, arguments.folder, checks)


if __name__ == "__main__":
    sys.exit(main())
