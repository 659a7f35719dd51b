# SPDX-License-Identifier: Apache-2.0
import json
import unittest

from tool import ToolTest


class CheckCompiles(ToolTest):
    def check(self, *sources):
        self.list_commands("build-single", sources)
        return self.run_tool("check_compiles.py", "--root", self.copy, "build-single")

    def check_together(self, *sources):
        batch = self.plant("build-whole/Unity/unity_0_cxx.cxx",
                           "".join(f'#include "{source}"\n' for source in sources))
        self.list_commands("build-whole", [batch])
        return self.run_tool("check_compiles.py", "--root", self.copy, "build-whole")

    def list_commands(self, folder, sources):
        self.plant(f"{folder}/compile_commands.json", json.dumps([{
            "directory": str(self.copy / folder), "file": str(source),
            "command": f"c++ -std=c++20 -o x.o -c {source}"} for source in sources]))

    def test_good_sources_pass_are_not_compiled_again_and_leave_no_object(self):
        good = self.plant("src/base/good.cc", "int twice(int n) { return n + n; }\n")
        self.assert_passes(self.check(good))
        self.assertIn("0 of them run", self.check(good).stdout)
        self.assertFalse((self.copy / "build-single/x.o").exists())

    def test_a_source_that_needs_an_include_of_another_fails(self):
        first = self.plant("src/base/a.cc", "#include <string>\n")
        second = self.plant("src/base/b.cc", "std::string name() { return {}; }\n")
        self.assert_passes(self.check_together(first, second))
        self.assert_fails(self.check(first, second), "b.cc")

    def test_a_name_in_two_sources_fails_also_after_a_run_that_passed(self):
        first = self.plant("src/base/a.cc", "namespace { constexpr int kMost = 1; }\n")
        second = self.plant("src/base/b.cc", "namespace { constexpr int kLeast = 2; }\n")
        self.assert_passes(self.check_together(first, second))
        second = self.plant("src/base/b.cc", "namespace { constexpr int kMost = 2; }\n")
        self.assert_passes(self.check(first, second))
        self.assert_fails(self.check_together(first, second), "kMost")


if __name__ == "__main__":
    unittest.main()
