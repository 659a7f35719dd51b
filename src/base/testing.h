// SPDX-License-Identifier: Apache-2.0
// What the tests of all folders share: where files of the repository and other people's data are.
// For tests only.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace holdfast::base::testing {

// CMake names every file by its full path.
inline std::filesystem::path source_folder() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
}

inline constexpr char kNoVectors[] =
    "the published vectors are not here: set HOLDFAST_VECTORS to their folder";

// A folder of other people's data, which is never copied into the repository; nothing where it is
// not there. A test then says GTEST_SKIP() << kNoVectors.
inline std::optional<std::filesystem::path> vectors(const std::string& below) {
  const char* const given = std::getenv("HOLDFAST_VECTORS");
  const std::filesystem::path root =
      given != nullptr ? given : source_folder().parent_path() / "shared" / "vectors";
  std::error_code ignored;
  if (!std::filesystem::is_directory(root / below, ignored)) return std::nullopt;
  return root / below;
}

inline std::string file_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace holdfast::base::testing
