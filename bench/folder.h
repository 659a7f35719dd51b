// SPDX-License-Identifier: Apache-2.0
// A folder for a benchmark to write in, gone at the end. HOLDFAST_BENCH_FOLDER names the one it is
// made in; the temporary folder else.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "cli/bench_folder.h"

namespace holdfast::bench {

class Folder {
 public:
  Folder() : folder_(cli::BenchFolder::make(parent()).take()) {}
  const std::string& path() const { return folder_.path(); }

 private:
  static std::string parent() {
    const char* const given = std::getenv("HOLDFAST_BENCH_FOLDER");
    return given != nullptr ? std::string(given) : std::filesystem::temp_directory_path().string();
  }

  cli::BenchFolder folder_;
};

}  // namespace holdfast::bench
