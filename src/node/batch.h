// SPDX-License-Identifier: Apache-2.0
// Batch: what several ticks came to, which becomes durable together: then those who wait hear their
// answers, and the commands are carried out, both in the order of the ticks.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/bytes.h"
#include "kernel/outcome.h"

namespace holdfast::node {

// Called once, on a thread of the node, when the answer cannot be taken back any more.
using Heard = std::function<void(const kernel::Answer&)>;

// Records one behind the other, in one piece of memory.
class BatchRecords {
 public:
  void add(base::ByteView record) {
    bytes_.insert(bytes_.end(), record.begin(), record.end());
    ends_.push_back(bytes_.size());
  }

  // Keeps its memory, unless there was one record that was very large.
  void clear() {
    if (bytes_.capacity() > kMostKept) bytes_ = {};
    bytes_.clear();
    ends_.clear();
  }

  bool empty() const noexcept { return ends_.empty(); }
  std::size_t size() const noexcept { return ends_.size(); }
  std::size_t bytes() const noexcept { return bytes_.size(); }

  std::vector<base::ByteView> views() const {
    std::vector<base::ByteView> views;
    views.reserve(ends_.size());
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      views.push_back(base::ByteView(bytes_).subspan(begin, end - begin));
      begin = end;
    }
    return views;
  }

 private:
  static constexpr std::size_t kMostKept = std::size_t{1} << 20;

  base::Bytes bytes_;
  std::vector<std::size_t> ends_;
};

struct Batch {
  struct Reply {
    Heard heard;
    kernel::Answer answer;
  };
  BatchRecords records;
  std::vector<Reply> replies;
  std::vector<std::function<void()>> seen;  // to be called for those who asked what there is
  std::vector<kernel::Command> commands;
  bool ends_work = true;  // nothing in it is new work
  bool has_news = false;  // some commands are kernel::WorkNews

  // Keeps its memory for the next one.
  void clear() {
    records.clear();
    replies.clear();
    seen.clear();
    commands.clear();
    ends_work = true;
    has_news = false;
  }

  bool empty() const noexcept {
    return records.empty() && replies.empty() && seen.empty() && commands.empty();
  }
};

}  // namespace holdfast::node
