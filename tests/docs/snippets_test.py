#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C++ that docs/steps.md shows stands, line for line, in a test that is run."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def lines_of(text):
    """Lines without what indents them: a page shows a part of a file further left."""
    return [line.strip() for line in text.strip("\n").splitlines()]


class Snippets(unittest.TestCase):
    def test_every_block_of_the_page_is_in_its_test(self):
        page = (ROOT / "docs/steps.md").read_text()
        code = "\n".join(lines_of((ROOT / "src/engine/steps_page_test.cc").read_text()))
        blocks = re.findall(r"^```cpp\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 3)
        for block in blocks:
            self.assertIn("\n" + "\n".join(lines_of(block)) + "\n", code, block)


if __name__ == "__main__":
    unittest.main()
