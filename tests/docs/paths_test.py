#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files that ARCHITECTURE.md and the READMEs of folders name exist."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = re.compile(r"`([\w./*<>]+\.(?:h|cc|md|py|mjs|json|sql))`")


def exists(page, name):
    """A name is relative to its page, the root, src or include/holdfast, or it is the rest of a path in one of these."""
    name = re.sub(r"<\w+>", "*", name)
    return any(any(place.rglob(name)) for place in (page.parent, ROOT / "src", ROOT / "include/holdfast")) or any(ROOT.glob(name))


class Paths(unittest.TestCase):
    def test_every_file_that_is_named_exists(self):
        pages = [ROOT / "ARCHITECTURE.md", *sorted((ROOT / "src").glob("*/README.md"))]
        self.assertGreater(len(pages), 20)
        missing = [f"{page.relative_to(ROOT)}: {name}" for page in pages
                   for name in FILE.findall(page.read_text())
                   if name not in ("workflows.json",) and not exists(page, name)]
        self.assertEqual(missing, [])

    def test_every_folder_of_src_has_a_readme(self):
        folders = [folder for folder in (ROOT / "src").iterdir() if (folder / "CMakeLists.txt").is_file()]
        self.assertEqual([folder.name for folder in folders if not (folder / "README.md").is_file()], [])

    def test_the_architecture_fits_two_pages(self):
        self.assertLessEqual(len((ROOT / "ARCHITECTURE.md").read_text().splitlines()), 150)


if __name__ == "__main__":
    unittest.main()
