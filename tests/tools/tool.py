# SPDX-License-Identifier: Apache-2.0
"""What the tests of the tools share: running one, and a place to plant violations in."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ToolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.copy = pathlib.Path(folder.name).resolve()

    def copy_tree(self, *names):
        for name in names:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.copy / name)
            else:
                shutil.copy(ROOT / name, self.copy / name)

    def plant(self, name, text):
        path = self.copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_tool(self, name, *arguments):
        return subprocess.run([sys.executable, ROOT / "tools" / name, *arguments],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def assert_passes(self, result):
        self.assertEqual(result.returncode, 0, result.stdout)

    def assert_fails(self, result, *messages):
        self.assertEqual(result.returncode, 1, result.stdout)
        for message in messages:
            self.assertIn(message, result.stdout)
