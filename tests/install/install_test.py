#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is installed is enough for a project outside."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ["HOLDFAST_BUILD"])
SURVIVOR = ROOT / "examples" / "survivor" / "main.cc"


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=280)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(dir=".")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name).resolve()
        cls.prefix = cls.folder / "prefix"
        cls.built = cls.folder / "build"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        run("cmake", "-S", HERE, "-B", cls.built, f"-DCMAKE_PREFIX_PATH={cls.prefix}",
            f"-DSURVIVOR={SURVIVOR}")
        run("cmake", "--build", cls.built, "--parallel", "2")

    def test_the_program_runs(self):
        self.assertIn("holdfast", run(self.prefix / "bin" / "holdfast", "version"))

    def test_a_project_outside_has_an_engine_and_the_program_around_it(self):
        world = self.folder / "letters.world"
        self.assertIn("5 letters sent", run(self.built / "survivor", world, "--any-file-system"))
        self.assertIn("replay", run(self.built / "shop", "verify", world))

    def test_every_header_was_included(self):
        listed = re.findall(r'"holdfast/(\w+\.h)"', (self.built / "every_header.h").read_text())
        ours = sorted(path.name for path in (ROOT / "include" / "holdfast").glob("*.h"))
        self.assertGreater(len(ours), 20)
        self.assertEqual(sorted(listed), ours)

    def test_steps_are_durable(self):
        world = self.folder / "approval.world"
        self.assertEqual(run(self.built / "durable", "begin", world),
                         "asks: publish the draft of r-1?\n")
        self.assertEqual(run(self.built / "durable", "answer", world), "ended: published\n")
        self.assertIn("replay", run(self.built / "shop", "verify", world))

    def test_steps_run_in_memory(self):
        self.assertEqual(run(self.built / "in_memory"),
                         "r-1: published\nr-2: given up: step.wait_timed_out\n"
                         "journaled: thrown away\n")

    def test_steps_are_tested(self):
        given_up = "given up: step.wait_timed_out"
        self.assertEqual(run(self.built / "tested"), f"world: {given_up}\nalone: {given_up}\n")

    def test_leases_need_no_engine(self):
        self.assertEqual(run(self.built / "leases", self.folder / "registry"), "swapped to large\n")

    def test_the_readme_names_what_may_be_linked(self):
        exported = re.findall(r"add_library\(holdfast::(\w+) ",
                              next(self.prefix.rglob("holdfast-targets.cmake")).read_text())
        for_others = {name for name in exported if not name.startswith("holdfast_")}
        self.assertEqual(for_others, {"holdfast", "memory", "registry", "worker", "cli"})
        readme = (ROOT / "README.md").read_text()
        rows = set(re.findall(r"^\| `holdfast::(\w+)` \|", readme, re.MULTILINE))
        self.assertEqual(rows, for_others)


if __name__ == "__main__":
    unittest.main()
