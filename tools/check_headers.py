#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every header of src/ and include/ alone, twice in one file, with gcc and clang: a header
brings what it needs, and may be included again.

usage: check_headers.py [--root DIR]
"""
import argparse
import pathlib
import subprocess
import sys

import passed

COMPILERS = ("g++", "clang++")
FLAGS = ["-std=c++20", "-fsyntax-only", "-Isrc", "-Iinclude", "-x", "c++", "-"]


def compile_alone(root, compiler, name):
    source = f'#include "{name}"\n' * 2
    result = subprocess.run([compiler, *FLAGS], cwd=root, input=source, text=True, capture_output=True)
    return "" if result.returncode == 0 else f"{name} alone, {compiler}:\n{result.stderr}"


def main():
    parser = argparse.ArgumentParser(description="Compiles every header alone.")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[1])
    root = parser.parse_args().root.resolve()
    versions = {compiler: subprocess.check_output([compiler, "--version"], text=True)
                for compiler in COMPILERS}
    checks = []
    for top in (root / "src", root / "include"):
        for path in sorted(top.rglob("*.h")):
            name = path.relative_to(top).as_posix()
            for compiler in COMPILERS:
                checks.append((path, f"{versions[compiler]} {FLAGS}",
                               lambda c=compiler, n=name: compile_alone(root, c, n)))
    return passed.check_files(root, "headers", checks)


if __name__ == "__main__":
    sys.exit(main())
