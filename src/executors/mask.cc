// SPDX-License-Identifier: Apache-2.0
#include "executors/mask.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace holdfast::executors {

// Where two of them overlap both must go, so all are found before the first is hidden.
void mask(std::span<char> text, const std::vector<Secret>& secrets) {
  const std::string_view all(text.data(), text.size());
  std::vector<std::pair<std::size_t, std::size_t>> found;  // from, to
  for (const Secret& secret : secrets) {
    const std::string_view word = secret.reveal();
    if (word.empty()) continue;
    for (std::size_t at = all.find(word); at != std::string_view::npos;
         at = all.find(word, at + 1)) {
      if (!found.empty() && found.back().first <= at && at <= found.back().second) {
        found.back().second = std::max(found.back().second, at + word.size());
      } else {
        found.emplace_back(at, at + word.size());
      }
    }
  }
  for (const auto& [from, to] : found) std::fill(text.data() + from, text.data() + to, '*');
}

std::size_t longest(const std::vector<Secret>& secrets) {
  std::size_t most = 0;
  for (const Secret& secret : secrets) most = std::max(most, secret.reveal().size());
  return most;
}

}  // namespace holdfast::executors
