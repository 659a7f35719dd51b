#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the includes of src/ and include/ with the table below, which ARCHITECTURE.md mirrors.

What the table does not name is refused, so that a new folder or a new dependency is a decision
somebody writes down here. tests/, sim/, fuzz/ and bench/ may include anything and are not read.
Tests beside the code (x_test.cc, and testing.h or testing_x.h which they share) may use what they
like of other people; nothing else may include what they share.

usage: check_layers.py [--root DIR]
"""
import argparse
import pathlib
import re
import sys

# folder -> the folders of ours it may include, besides itself. `holdfast` is include/holdfast; `demo`
# stands beside src.
LAYERS = {
    "base": "",
    "errors": "holdfast base",
    "codec": "base",
    "defs": "base codec",
    "kernel": "base codec defs",
    "steps": "base codec defs kernel",
    "tasks": "base codec defs kernel",
    "schedules": "base codec defs kernel",
    "flows": "base codec defs kernel tasks",
    "dispatch": "base codec defs kernel tasks",
    "native": "holdfast base codec defs kernel steps tasks flows schedules",
    "adapters": "holdfast base errors codec defs kernel steps native",
    "env": "base",
    "bundle": "base codec defs env",
    "store": "base codec env",
    "executors": "base codec defs kernel env",
    "registry": "holdfast base errors codec env",
    "node": "holdfast base errors codec defs kernel native steps tasks env bundle store executors",
    "engine": "holdfast base errors codec defs kernel native steps tasks schedules env bundle store"
              " executors node",
    "workers": "holdfast base errors codec tasks dispatch env engine",
    "cursors": "holdfast base errors codec defs tasks env engine",
    "page": "",
    "gateway": "holdfast base errors codec defs steps tasks dispatch env engine workers cursors page",
    "postgres": "holdfast base errors codec defs steps flows env executors engine gateway",
    "worker": "holdfast base errors codec kernel env executors",
    "cli": "holdfast base errors codec defs kernel native steps tasks env bundle store executors"
           " adapters registry node engine postgres dispatch workers gateway worker demo",
    "demo": "holdfast",
}

# These compute, and do nothing else: no clock, chance, file, network or thread.
PURE = {"codec", "defs", "dispatch", "flows", "kernel", "native", "schedules", "steps", "tasks"}

# Headers of other people -> the folders that may include them.
FOREIGN = {
    "boost/": "gateway",
    "CLI/": "cli",
    "curl/": "cli executors worker",
    "libpq-fe.h": "postgres",
    "openssl/": "base executors gateway node",
    "sqlite3.h": "store",
    "yaml-cpp/": "bundle",
}

# The processor's instructions compute and are for everybody.
PROCESSOR_HEADER = re.compile(r"[a-z]+mmintrin\.h")

# The operating system, and what the processor says of itself: for every folder that is not pure.
SYSTEM_PREFIXES = ("sys/", "linux/", "net/", "netinet/", "arpa/")
SYSTEM_HEADERS = set(
    "cpuid.h dirent.h dlfcn.h errno.h fcntl.h malloc.h netdb.h poll.h pthread.h pwd.h sched.h signal.h spawn.h"
    " syslog.h termios.h time.h unistd.h".split())

# Standard headers the pure folders must not include: what is in them can only be an effect.
# <chrono> is not among them, because durations are values; its clocks are looked for by name.
IMPURE_STANDARD = set(
    "atomic barrier condition_variable csignal cstdio ctime execution filesystem fstream future"
    " iostream istream latch locale mutex ostream print random semaphore shared_mutex sstream"
    " stop_token syncstream thread".split())
CLOCK = re.compile(r"\b(?:system|steady|high_resolution|utc|tai|gps|file)_clock\b")

INCLUDE = re.compile(r'\s*#\s*include\b\s*(?:<([^>]+)>|"([^"]+)"|(.*))')
TEST = re.compile(r"_test\.cc$|/testing(_\w+)?\.h$")
SUFFIXES = {".h", ".cc", ".hpp", ".cpp", ".inc"}


def check_own(owner, name):
    """Why `owner` may not have #include "name", or None."""
    folder, slash, _ = name.partition("/")
    if not slash or folder.startswith("."):
        return f'name "{name}" from the include root, as in "base/bytes.h"'
    if folder not in LAYERS and folder != "holdfast":
        return f"{folder} is not in the include table"
    if folder != owner and folder not in LAYERS.get(owner, "").split():
        place = "include/holdfast" if owner == "holdfast" else f"src/{owner}"
        return f"{place} may not include {folder}"
    return None


def check_foreign(owner, name):
    """Why `owner` may not have #include <name>, or None."""
    place = "include/holdfast" if owner == "holdfast" else f"src/{owner}"
    folder = name.partition("/")[0]
    if folder in LAYERS or folder == "holdfast":
        return f'<{name}> is ours: write "{name}"'
    if PROCESSOR_HEADER.fullmatch(name):
        return None
    if "/" not in name and "." not in name:
        if owner in PURE and name in IMPURE_STANDARD:
            return f"{place} is pure and may not include <{name}>"
        return None
    if name.startswith(SYSTEM_PREFIXES) or name in SYSTEM_HEADERS:
        if owner in PURE or owner == "holdfast":
            return f"{place} may not include the system header <{name}>"
        return None
    for prefix, owners in FOREIGN.items():
        if name.startswith(prefix):
            return None if owner in owners.split() else f"{place} may not include <{name}>"
    return f"<{name}> is not among the known headers"


def check_file(path, owner):
    """Yields (line, why) for each finding."""
    is_test = bool(TEST.search(path.as_posix()))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            foreign, own, other = match.groups()
            if own:
                why = check_own(owner, own)
                if TEST.search(own) and not is_test:
                    why = f"{own} is for tests"
            elif foreign:
                folder = foreign.partition("/")[0]
                why = None if is_test and folder not in LAYERS else check_foreign(owner, foreign)
            else:
                why = f"cannot read the include of {other}"
            if why:
                yield number, why
        elif owner in PURE and not is_test and CLOCK.search(line.partition("//")[0]):
            yield number, f"src/{owner} is pure and may not name a clock"


def check_tree(root):
    findings = []
    for top in ("src", "include"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            place = path.relative_to(root)
            owner = place.parts[1] if len(place.parts) > 2 else ""
            if owner not in (LAYERS if top == "src" else {"holdfast"}):
                findings.append(f"{place}:1: {place.parent} is not in the include table")
                continue
            findings += [f"{place}:{line}: {why}" for line, why in check_file(path, owner)]
    return findings


def main():
    parser = argparse.ArgumentParser(description="Checks the includes against the include table.")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[1])
    findings = check_tree(parser.parse_args().root)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
