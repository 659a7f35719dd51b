#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy with the checks of .clang-tidy over what build-single/compile_commands.json lists: a
configured build with HOLDFAST_UNITY=OFF, where every source is compiled alone. A source that needs an
include of another fails here.

usage: check_tidy.py [--root DIR]
"""
import argparse
import json
import pathlib
import subprocess
import sys

import passed

# The commands are gcc's; clang does not know all of its warnings, and has one of its own about TRY.
EXTRA = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-gnu-statement-expression"]

# Following every path through a test doubles the time, and tests are run under sanitizers anyway;
# how fast a test is does not matter.
NOT_FOR_TESTS = "--checks=-clang-analyzer-*,-performance-*"


def tidy(root, path, extra):
    result = subprocess.run(["clang-tidy", "--quiet", "-p", root / "build-single", *extra, path],
                            text=True, capture_output=True)
    return "" if result.returncode == 0 else result.stdout + result.stderr


def main():
    parser = argparse.ArgumentParser(description="Runs clang-tidy over all sources.")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[1])
    root = parser.parse_args().root.resolve()
    how = (subprocess.check_output(["clang-tidy", "--version"], text=True)
           + (root / ".clang-tidy").read_text())
    checks = []
    for entry in json.loads((root / "build-single" / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["directory"], entry["file"])
        is_test = path.name.endswith("_test.cc") or path.is_relative_to(root / "bench")
        extra = EXTRA + [NOT_FOR_TESTS] * is_test
        checks.append((path, f"{how} {entry['command']} {extra}",
                       lambda p=path, e=extra: tidy(root, p, e)))
    return passed.check_files(root, "tidy", checks)


if __name__ == "__main__":
    sys.exit(main())
