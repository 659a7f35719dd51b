#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed is enough for a project outside."""
import os
import pathlib
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["HOLDFAST_BUILD"])
SURVIVOR = HERE.parent.parent / "examples" / "survivor" / "main.cc"


def run(*command):
    return subprocess.run(
        [str(part) for part in command], check=True, capture_output=True, text=True, timeout=280).stdout


class Install(unittest.TestCase):
    def test_a_project_outside_builds_and_runs(self):
        with tempfile.TemporaryDirectory(dir=".") as name:
            folder = pathlib.Path(name).resolve()
            prefix = folder / "prefix"
            run("cmake", "--install", BUILD, "--prefix", prefix)
            self.assertIn("holdfast", run(prefix / "bin" / "holdfast", "version"))
            run("cmake", "-S", HERE, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
                f"-DSURVIVOR={SURVIVOR}")
            run("cmake", "--build", folder / "build")
            said = run(folder / "build" / "survivor", folder / "letters.world", "--any-file-system")
            self.assertIn("5 letters sent", said)
            self.assertIn("replay", run(folder / "build" / "shop", "verify", folder / "letters.world"))


if __name__ == "__main__":
    unittest.main()
