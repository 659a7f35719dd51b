// SPDX-License-Identifier: Apache-2.0
#include "tasks/task_definition.h"

#include <algorithm>

namespace holdfast::tasks {

std::uint64_t task_count(const TaskRanges& ranges) noexcept {
  std::uint64_t count = 0;
  for (const TaskRange& range : ranges) count += range.count;
  return count;
}

void tidy(TaskRanges& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const TaskRange& a, const TaskRange& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].count == 0) continue;
    if (kept > 0 && ranges[i].first <= ranges[kept - 1].end()) {
      TaskRange& last = ranges[kept - 1];
      last.count = std::max(last.end(), ranges[i].end()) - last.first;
    } else {
      ranges[kept++] = ranges[i];
    }
  }
  ranges.resize(kept);
}

}  // namespace holdfast::tasks
