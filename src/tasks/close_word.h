// SPDX-License-Identifier: Apache-2.0
// CloseWord: finds the word that the author of a document probably meant. A word is close if at
// most two letters differ (one, in short words): added, left out, exchanged or swapped.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace holdfast::tasks {

class CloseWord {
 public:
  explicit CloseWord(std::string_view word) noexcept;

  // Looks at one more candidate. After kMostCompared of them it ignores the others.
  void consider(std::string_view candidate);

  // "; did you mean 'x'?", or nothing.
  std::string question() const;

 private:
  static constexpr std::size_t kMostCompared = 2000;
  static constexpr std::size_t kLongest = 64;

  std::string_view word_;
  std::size_t most_;  // letters that may differ
  std::size_t compared_ = 0;
  std::size_t distance_ = std::numeric_limits<std::size_t>::max();
  std::string closest_;
};

// The same for a list of words.
template <class Words>
std::string did_you_mean(std::string_view word, const Words& candidates) {
  CloseWord close(word);
  for (const auto& candidate : candidates) close.consider(candidate);
  return close.question();
}

}  // namespace holdfast::tasks
