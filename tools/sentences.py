# SPDX-License-Identifier: Apache-2.0
"""Tables that name for every requirement the tests that show it: what they name, and
what is there."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]


def tests_in_cpp(*folders):
    """Suite.name of every test in these folders of src."""
    names = set()
    for folder in folders:
        for path in (ROOT / "src" / folder).glob("*_test.cc"):
            names |= {f"{suite}.{name}" for suite, name in
                      re.findall(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", path.read_text())}
    return names


def rows_of(path):
    """The sentences of a table, each with the names of its tests."""
    for line in path.read_text().splitlines():
        if line.startswith("| ") and not line.endswith("| shown by |"):
            _, sentence, tests, _ = line.split("|")
            yield sentence.strip(), [test.strip() for test in tests.split(", ")]


def check(case, path, there, least):
    rows = list(rows_of(path))
    case.assertGreater(len(rows), least)
    for sentence, tests in rows:
        for test in tests:
            case.assertTrue(test in there, f"{test} is not there, for: {sentence}")
