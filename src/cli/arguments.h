// SPDX-License-Identifier: Apache-2.0
// What arguments must be, for every command alike.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace holdfast::cli {

inline constexpr std::uint64_t kMostRecordNumber = 1'000'000'000'000'000'000;

// An empty word is a mistake of whoever wrote it, as "$ID" where nobody has set ID: it is not the
// same as no word.
inline CLI::Validator not_empty() {
  return CLI::Validator([](std::string& text) { return text.empty() ? "is empty" : std::string(); },
                        "");
}

}  // namespace holdfast::cli
