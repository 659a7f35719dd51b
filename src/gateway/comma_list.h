// SPDX-License-Identifier: Apache-2.0
// Query parameters that have several words, with commas between them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::gateway {

inline std::vector<std::string> words_in(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma != 0) words.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

}  // namespace holdfast::gateway
