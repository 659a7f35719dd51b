// SPDX-License-Identifier: Apache-2.0
// The value that so many of all do not exceed: 0.5 is the median.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace holdfast::cli {

// It changes their order. Of none it is 0.
inline double at_share(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto index = std::min(values.size() - 1,
                              static_cast<std::size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index),
                   values.end());
  return values[index];
}

}  // namespace holdfast::cli
