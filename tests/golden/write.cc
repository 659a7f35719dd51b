// SPDX-License-Identifier: Apache-2.0
// Writes the golden journals of today's code, see README.md.
//
// usage: golden_write FOLDER VERSION
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/golden/loop_journal.h"
#include "tests/golden/world_journal.h"

using namespace holdfast;

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: golden_write FOLDER VERSION\n"), 2;
  const std::pair<const char*, golden::Lines> files[] = {{"world", golden::write_world_journal()},
                                                         {"loop", golden::write_loop_journal()}};
  for (const auto& [name, lines] : files) {
    const std::string path = std::string(argv[1]) + "/" + name + "-" + argv[2] + ".txt";
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << "# Written by golden_write (tests/golden/README.md), and never again.\n"
         << golden::to_text(lines);
    file.close();
    if (!file) return std::fprintf(stderr, "%s cannot be written\n", path.c_str()), 1;
    std::printf("%s: %zu lines\n", path.c_str(), lines.size());
  }
}
