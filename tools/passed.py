# SPDX-License-Identifier: Apache-2.0
"""Runs a slow check over many files, and remembers under build/passed which of them passed, so
that the next run looks only at those where the file, a header of ours that it reaches, or the
check itself has changed."""
import concurrent.futures
import hashlib
import os
import re
import sys

INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


class Headers:
    """What a file includes of ours, directly or not."""

    def __init__(self, root):
        self._folders = [root / "src", root / "include", root]
        self._direct = {}

    def reached_from(self, path):
        reached, waiting = {path}, [path]
        while waiting:
            for header in self._included_by(waiting.pop()) - reached:
                reached.add(header)
                waiting.append(header)
        return reached

    def _included_by(self, path):
        if path not in self._direct:
            names = [name.decode() for name in INCLUDE.findall(path.read_bytes())]
            places = [folder / name for folder in self._folders for name in names]
            self._direct[path] = {place for place in places if place.is_file()}
        return self._direct[path]


def fingerprint(path, headers, how):
    digest = hashlib.sha256(how.encode())
    for file in sorted(headers.reached_from(path)):
        digest.update(f"\0{file}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def check_files(root, name, checks):
    """`checks`: (path, how, run) per check, where `how` is text that changes when the check does and
    `run` returns what is wrong, or "". Prints that, and returns the exit code of the program."""
    memory = root / "build" / "passed" / name
    memory.mkdir(parents=True, exist_ok=True)
    headers = Headers(root)
    marks = [(memory / fingerprint(path, headers, how), run) for path, how, run in checks]
    waiting = [(mark, run) for mark, run in marks if not mark.exists()]

    def check(mark, run):
        wrong = run()
        if not wrong:
            mark.touch()
        return wrong

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        for wrong in pool.map(lambda pair: check(*pair), waiting):
            if wrong:
                failures += 1
                print(wrong, flush=True)
    print(f"{name}: {len(marks)} checks, {len(waiting)} of them run, {failures} failed", file=sys.stderr)
    return 1 if failures else 0
