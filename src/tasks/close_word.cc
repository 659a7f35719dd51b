// SPDX-License-Identifier: Apache-2.0
#include "tasks/close_word.h"

#include <algorithm>
#include <array>

namespace holdfast::tasks {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Damerau's distance between two words of at most 64 letters, where case does not count.
std::size_t letters_between(std::string_view a, std::string_view b) {
  std::array<std::array<std::size_t, 65>, 3> rows{};
  auto* before_last = &rows[0];
  auto* last = &rows[1];
  auto* now = &rows[2];
  for (std::size_t j = 0; j <= b.size(); ++j) (*last)[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    (*now)[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      (*now)[j] = std::min({(*last)[j] + 1, (*now)[j - 1] + 1, (*last)[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) (*now)[j] = std::min((*now)[j], (*before_last)[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, now);
  }
  return (*last)[b.size()];
}

}  // namespace

CloseWord::CloseWord(std::string_view word) noexcept
    : word_(word), most_(word.size() <= 4 ? 1 : 2) {}

void CloseWord::consider(std::string_view candidate) {
  if (++compared_ > kMostCompared) return;
  if (word_.empty() || word_.size() > kLongest || candidate.size() > kLongest) return;
  if (word_.size() > candidate.size() + most_ || candidate.size() > word_.size() + most_) return;
  const std::size_t distance = letters_between(word_, candidate);
  // A word of which nothing is left is not close.
  if (distance > most_ || distance >= distance_ || distance >= word_.size()) return;
  distance_ = distance;
  closest_ = candidate;
}

std::string CloseWord::question() const {
  return closest_.empty() ? std::string() : "; did you mean '" + closest_ + "'?";
}

}  // namespace holdfast::tasks
