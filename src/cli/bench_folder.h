// SPDX-License-Identifier: Apache-2.0
// A folder for a benchmark to write in, gone at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/result.h"

namespace holdfast::cli {

class BenchFolder {
 public:
  // Inside `parent`.
  static base::Result<BenchFolder> make(const std::string& parent) {
    std::string path = parent + "/holdfast-bench-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr)
      return base::Error(base::ErrorCode::kIo, parent, "no folder can be made here");
    return BenchFolder(std::move(path));
  }
  ~BenchFolder() {
    std::error_code ignored;  // what is left is a folder that says whose it was
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  BenchFolder(BenchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  BenchFolder& operator=(BenchFolder&&) = delete;

  const std::string& path() const noexcept { return path_; }

 private:
  explicit BenchFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace holdfast::cli
