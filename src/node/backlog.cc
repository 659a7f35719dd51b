// SPDX-License-Identifier: Apache-2.0
#include "node/backlog.h"

namespace holdfast::node {
namespace {

// Fewer than these are not worth a walk over the lines.
constexpr std::size_t kFewGone = 1024;

}  // namespace

void Backlog::add(std::string_view line, const base::Hash& intent) {
  lines_.line(line)->second.push_back(intent);
  ++size_;
}

void Backlog::remove(const base::Hash& intent) {
  if (size_ == 0) return;
  removed_.insert(intent);
  if (removed_.size() > kFewGone && removed_.size() > size_ / 2) drop_removed();
}

void Backlog::drop_removed() {
  size_ = 0;
  lines_.visit([this](Line& line) {
    std::erase_if(line, [this](const base::Hash& intent) { return removed_.contains(intent); });
    size_ += line.size();
  });
  removed_.clear();
}

}  // namespace holdfast::node
