# SPDX-License-Identifier: Apache-2.0
import subprocess
import unittest

from tool import ToolTest


class FormatCheck(ToolTest):
    def check(self, code):
        self.copy_tree("Makefile", ".clang-format")
        self.plant("scripts/setup", "#!/bin/sh\n").chmod(0o755)
        self.plant("src/base/x.cc", code)
        return subprocess.run(["make", "-C", self.copy, "format-check"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_formatted_code_passes(self):
        self.assert_passes(self.check("int twice(int n) { return n + n; }\n"))

    def test_other_code_fails(self):
        result = self.check("int twice( int n ){return n+n;}\n")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("clang-format-violations", result.stdout)


if __name__ == "__main__":
    unittest.main()
