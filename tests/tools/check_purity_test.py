# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import subprocess
import unittest

from tool import ROOT, ToolTest


class CheckPurity(ToolTest):
    def archive(self, code, *flags):
        """An archive as the build would make it, of one file with this code."""
        source = self.plant("planted.cc", code)
        archive = self.copy / "libplanted.a"
        archive.unlink(missing_ok=True)
        subprocess.run(["c++", "-std=c++20", "-O2", "-fno-exceptions", "-fno-rtti", *flags, "-I", ROOT / "src",
                        "-c", source, "-o", self.copy / "planted.o"], check=True)
        subprocess.run(["ar", "rc", archive, self.copy / "planted.o"], check=True)
        return archive

    def assert_pure(self, code):
        self.assert_passes(self.run_tool("check_purity.py", self.archive(code)))

    def assert_impure(self, code, *messages, flags=()):
        self.assert_fails(self.run_tool("check_purity.py", self.archive(code, *flags)), *messages)

    def test_the_pure_folders_are_pure(self):
        archives = pathlib.Path(os.environ["HOLDFAST_BUILD"], "pure_archives.txt").read_text().split()
        self.assertTrue(archives)
        self.assert_passes(self.run_tool("check_purity.py", *archives))

    def test_values_and_containers_are_pure(self):
        self.assert_pure("""
            #include <charconv>
            #include <map>
            #include <memory>
            #include <string>
            #include <unordered_map>
            #include <variant>
            #include <vector>
            #include "base/result.h"
            #include "base/hex.h"
            namespace holdfast::codec {
            constexpr const char* kWords[] = {"a", "b"};
            struct Shape { virtual ~Shape() = default; virtual int sides() const { return 0; } };
            std::shared_ptr<Shape> shape() { return std::make_shared<Shape>(); }
            int find(const std::map<std::string, int>& map, const std::string& key) { return map.at(key); }
            int hash(std::unordered_map<std::string, int>& map, std::string key) { return map[key + "x"]++; }
            int get(std::variant<int, std::string> v) { return std::get<int>(v); }
            std::vector<std::string> words(int n) { return std::vector<std::string>(n, kWords[n & 1]); }
            char* text(double d, char* p) { return std::to_chars(p, p + 40, d).ptr; }
            base::Result<int> checked(int n) { CHECK(n > 0); return base::invalid("$", base::to_hex({})); }
            }""")

    def test_a_clock_is_named(self):
        self.assert_impure("#include <chrono>\nauto f() { return std::chrono::system_clock::now(); }",
                           "libplanted.a(planted.o): imports std::chrono", "[clock]")
        self.assert_impure("#include <ctime>\nlong f() { return time(nullptr); }", "imports time [clock]")

    def test_chance_is_named(self):
        self.assert_impure("#include <cstdlib>\nint f() { return rand(); }", "imports rand [random]")

    def test_a_file_is_named(self):
        self.assert_impure("#include <fcntl.h>\nint f() { return open(\"x\", 0); }", "imports open [file]")
        self.assert_impure("#include <cstdio>\nvoid f(int n) { std::printf(\"%d\", n); }", "[file]")
        self.assert_impure("#include <iostream>\nvoid f() { std::cout << 1; }", "imports std::cout [file]")

    def test_a_socket_is_named(self):
        self.assert_impure("#include <sys/socket.h>\nint f() { return socket(1, 1, 0); }", "imports socket [socket]")

    def test_a_thread_is_named(self):
        self.assert_impure("#include <mutex>\nvoid f(std::mutex& m) { m.lock(); }", "[thread]")
        self.assert_impure("#include <thread>\nvoid f() { std::thread([] {}).join(); }", "[thread]")

    def test_the_environment_is_named(self):
        self.assert_impure("#include <cstdlib>\nchar* f() { return getenv(\"HOME\"); }", "imports getenv [environment]")

    def test_arithmetic_that_is_not_exact_is_named(self):
        self.assert_impure("#include <cmath>\ndouble f(double x) { return std::pow(x, 1.5); }", "imports pow", "last bit")

    def test_an_impure_folder_of_ours_is_named(self):
        self.assert_impure("namespace holdfast::env { long now(); }\nlong f() { return holdfast::env::now(); }",
                           "imports holdfast::env::now() [impure folder of ours]")

    def test_a_symbol_nobody_thought_of_is_refused(self):
        self.assert_impure("extern \"C\" int surprise();\nint f() { return surprise(); }",
                           "imports surprise [not on the allow-list]")

    def test_exceptions_are_named(self):
        self.assert_impure("void f() { throw 1; }", "imports __cxa_throw [exception]", flags=["-fexceptions", "-frtti"])

    def test_writable_globals_are_refused(self):
        for code in ("int counter = 1; int f() { return ++counter; }",
                     "static int counter; int f() { return ++counter; }",
                     "inline int counter = 0; int f() { return ++counter; }",
                     "int f() { static int counter = 0; return ++counter; }",
                     "int make(); int f() { static const int counter = make(); return counter; } int make() { return 1; }",
                     "thread_local int counter; int f() { return ++counter; }"):
            with self.subTest(code):
                self.assert_impure(code, "libplanted.a(planted.o): holds the writable global", "counter")

    def test_constant_globals_are_accepted(self):
        self.assert_pure("extern const int kTable[2]; const int kTable[2] = {1, 2};")

    def test_a_sanitizer_build_is_refused(self):
        self.assert_impure("int f(int* p) { return *p; }", "is built with a sanitizer", flags=["-fsanitize=address"])

    def test_no_archive_is_no_success(self):
        self.assertEqual(self.run_tool("check_purity.py").returncode, 2)


if __name__ == "__main__":
    unittest.main()
