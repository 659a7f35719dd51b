# SPDX-License-Identifier: Apache-2.0
import unittest

from tool import ToolTest


class CheckLayers(ToolTest):
    def check(self):
        return self.run_tool("check_layers.py", "--root", self.copy)

    def assert_refused(self, name, line, why):
        """A file with this second line is refused, and is the only finding."""
        self.plant(name, f"#pragma once\n{line}\n")
        result = self.check()
        self.assert_fails(result, f"{name}:2: {why}")
        self.assertEqual(len(result.stdout.splitlines()), 1, result.stdout)

    def assert_accepted(self, name, line):
        self.plant(name, f"#pragma once\n{line}\n")
        self.assert_passes(self.check())

    def test_the_tree_is_clean(self):
        self.assert_passes(self.run_tool("check_layers.py"))

    def test_a_violation_in_a_copy_of_the_tree_is_found(self):
        self.copy_tree("src")
        self.assert_refused("src/base/planted.h", '#include "codec/view.h"', "src/base may not include codec")

    def test_an_arrow_down_is_refused(self):
        self.assert_refused("src/base/x.h", '#include "codec/view.h"', "src/base may not include codec")

    def test_an_arrow_that_the_table_lacks_is_refused(self):
        self.assert_refused("src/kernel/x.h", '#include "env/clock.h"', "src/kernel may not include env")

    def test_an_arrow_of_the_table_is_accepted(self):
        self.assert_accepted("src/kernel/x.h", '#include "defs/manifest.h"')
        self.assert_accepted("src/bundle/x.cc", "#include <yaml-cpp/yaml.h>")

    def test_tests_obey_the_table_too(self):
        self.assert_refused("src/base/x_test.cc", '#include "codec/view.h"', "src/base may not include codec")

    def test_tests_may_use_what_they_like_of_others(self):
        self.assert_accepted("src/codec/x_test.cc", "#include <gtest/gtest.h>\n#include <fstream>")
        self.assert_accepted("src/kernel/testing.h", "#include <gtest/gtest.h>")
        self.assert_accepted("src/kernel/testing_disk.h", '#include <fstream>\n#include "kernel/testing.h"')
        self.assert_accepted("src/kernel/x_test.cc", '#include "kernel/testing_disk.h"')

    def test_what_tests_share_stays_among_them(self):
        self.assert_refused("src/kernel/x.h", '#include "codec/testing.h"', "codec/testing.h is for tests")
        self.assert_refused("src/kernel/x.h", '#include "codec/testing_a.h"', "codec/testing_a.h is for tests")

    def test_an_unknown_folder_is_refused(self):
        self.plant("src/misc/x.h", "#pragma once\n")
        self.assert_fails(self.check(), "src/misc/x.h:1: src/misc is not in the include table")

    def test_a_file_outside_every_folder_is_refused(self):
        self.plant("src/x.h", "#pragma once\n")
        self.assert_fails(self.check(), "src/x.h:1: src is not in the include table")

    def test_including_an_unknown_folder_is_refused(self):
        self.assert_refused("src/base/x.h", '#include "misc/x.h"', "misc is not in the include table")

    def test_our_headers_in_angle_brackets_are_refused(self):
        self.assert_refused("src/codec/x.h", "#include <base/bytes.h>", "<base/bytes.h> is ours")

    def test_relative_paths_are_refused(self):
        for name in ("../base/bytes.h", "./x.h", "item.h"):
            self.assert_refused("src/codec/x.h", f'#include "{name}"', f'name "{name}" from the include root')

    def test_an_include_by_macro_is_refused(self):
        self.assert_refused("src/codec/x.h", "#include HEADER", "cannot read the include")

    def test_third_party_headers_have_their_folders(self):
        self.assert_refused("src/kernel/x.h", "#include <yaml-cpp/yaml.h>", "src/kernel may not include")
        (self.copy / "src/kernel/x.h").unlink()
        self.assert_refused("src/base/x.h", "#include <CLI/CLI.hpp>", "src/base may not include")
        self.assert_refused("src/base/x.h", "#include <sqlite3.h>", "src/base may not include <sqlite3.h>")
        self.assert_refused("src/base/x.h", "#include <zlib.h>", "<zlib.h> is not among the known headers")

    def test_the_public_headers_show_nothing_of_others(self):
        self.assert_refused("include/holdfast/x.h", "#include <openssl/evp.h>", "include/holdfast may not include")
        self.assert_refused("include/holdfast/x.h", '#include "base/bytes.h"', "include/holdfast may not include base")
        self.assert_accepted("include/holdfast/x.h", '#include "holdfast/y.h"')

    def test_pure_folders_have_no_effects(self):
        for folder in ("codec", "defs", "kernel", "native", "steps", "tasks"):
            name = f"src/{folder}/x.h"
            for header in ("iostream", "thread", "mutex", "random", "filesystem", "fstream"):
                self.assert_refused(name, f"# include <{header}>", f"src/{folder} is pure and may not include <{header}>")
            self.assert_refused(name, "#include <unistd.h>", f"src/{folder} may not include the system header")
            (self.copy / name).unlink()

    def test_pure_folders_may_count_time_but_not_read_it(self):
        self.assert_accepted("src/kernel/x.h", "#include <chrono>\nusing Ms = std::chrono::milliseconds;")
        self.assert_accepted("src/kernel/x.h", "// no system_clock here")
        self.assert_refused("src/kernel/x.h", "auto t = std::chrono::steady_clock::now();", "src/kernel is pure")

    def test_other_folders_may_use_the_system(self):
        self.assert_accepted("src/env/x.cc", "#include <sys/stat.h>\n#include <thread>")


if __name__ == "__main__":
    unittest.main()
