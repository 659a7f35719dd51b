// SPDX-License-Identifier: Apache-2.0
// The files of the page in ui/, compressed, as they were when the program was built.
#pragma once

#include <span>
#include <string_view>

namespace holdfast::page {

struct File {
  std::string_view name;   // "main-5XK2.js"
  std::string_view type;   // its media type
  std::string_view tag;    // a strong entity tag, with its quotes
  std::string_view plain;  // the content
  std::string_view gzip;   // the same, compressed
};

inline constexpr std::string_view kIndex = "index.html";

std::span<const File> files() noexcept;

// Null: there is no such file.
const File* find(std::string_view name) noexcept;

}  // namespace holdfast::page
