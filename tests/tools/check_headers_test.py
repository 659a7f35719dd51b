# SPDX-License-Identifier: Apache-2.0
import unittest

from tool import ToolTest


class CheckHeaders(ToolTest):
    def check(self):
        return self.run_tool("check_headers.py", "--root", self.copy)

    def test_a_header_that_brings_what_it_needs_passes(self):
        self.plant("src/base/good.h", "#pragma once\n#include <string>\ninline std::string f() { return {}; }\n")
        self.plant("include/holdfast/good.h", "#pragma once\n#include \"base/good.h\"\n")
        self.assert_passes(self.check())

    def test_a_header_that_leans_on_its_includers_fails(self):
        self.plant("src/base/leaning.h", "#pragma once\ninline std::string f() { return {}; }\n")
        self.assert_fails(self.check(), "base/leaning.h alone, g++", "base/leaning.h alone, clang++")

    def test_a_header_without_a_guard_fails(self):
        self.plant("src/base/unguarded.h", "struct Twice {};\n")
        self.assert_fails(self.check(), "base/unguarded.h alone, g++")

    def test_what_passed_is_not_compiled_again(self):
        self.plant("src/base/good.h", "#pragma once\n")
        self.assertIn("2 of them run", self.check().stdout)
        self.assertIn("0 of them run", self.check().stdout)

    def test_what_failed_is_compiled_again(self):
        self.plant("src/base/bad.h", "#error no\n")
        self.assert_fails(self.check())
        self.assert_fails(self.check(), "2 of them run")

    def test_a_changed_header_is_felt_by_those_who_reach_it(self):
        self.plant("src/base/a.h", "#pragma once\nusing Number = int;\n")
        self.plant("src/base/b.h", "#pragma once\n#include \"base/a.h\"\n")
        self.plant("src/base/c.h", "#pragma once\n#include \"base/b.h\"\ninline Number f() { return 1; }\n")
        self.assert_passes(self.check())
        self.plant("src/base/a.h", "#pragma once\n")
        self.assert_fails(self.check(), "base/c.h alone", "6 of them run")


if __name__ == "__main__":
    unittest.main()
