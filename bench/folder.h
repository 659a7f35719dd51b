// SPDX-License-Identifier: Apache-2.0
// A folder for a benchmark to write in, gone at the end. HOLDFAST_BENCH_FOLDER names the one it is
// made in; the temporary folder else.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"

namespace holdfast::bench {

class Folder {
 public:
  Folder() {
    const char* const given = std::getenv("HOLDFAST_BENCH_FOLDER");
    path_ = given != nullptr ? std::string(given) : std::filesystem::temp_directory_path().string();
    path_ += "/holdfast-bench-XXXXXX";
    CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace holdfast::bench
