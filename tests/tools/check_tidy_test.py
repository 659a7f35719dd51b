# SPDX-License-Identifier: Apache-2.0
import json
import unittest

from tool import ToolTest


class CheckTidy(ToolTest):
    def check(self, code):
        self.copy_tree(".clang-tidy")
        source = self.plant("src/base/x.cc", code)
        self.plant("build-single/compile_commands.json", json.dumps([{
            "directory": str(self.copy / "build-single"), "file": str(source),
            "command": f"c++ -std=c++20 -Wno-restrict -I{self.copy}/src -c {source}"}]))
        return self.run_tool("check_tidy.py", "--root", self.copy)

    def test_good_code_passes_and_is_not_read_again(self):
        good = "int twice(int n) { return n + n; }\n"
        self.assert_passes(self.check(good))
        self.assertIn("0 of them run", self.check(good).stdout)

    def test_use_after_move_fails(self):
        self.assert_fails(self.check(
            "#include <string>\n#include <utility>\nvoid take(std::string);\n"
            "auto f(std::string s) { take(std::move(s)); return s.size(); }\n"), "bugprone-use-after-move")

    def test_a_source_that_does_not_compile_alone_fails(self):
        self.assert_fails(self.check("std::string name() { return {}; }\n"), "undeclared identifier 'std'")

    def test_a_mistake_in_a_header_of_ours_fails(self):
        self.plant("src/base/x.h", "#pragma once\nstruct Number {\n  Number(int) {}\n};\n")
        self.assert_fails(self.check('#include "base/x.h"\nNumber one = 1;\n'), "google-explicit-constructor")


if __name__ == "__main__":
    unittest.main()
