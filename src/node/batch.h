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

// Called once, on the thread that reduces, when the answer cannot be taken back any more.
using Heard = std::function<void(const kernel::Answer&)>;

struct Batch {
  struct Reply {
    Heard heard;
    kernel::Answer answer;
  };
  std::vector<base::Bytes> records;
  std::size_t record_bytes = 0;
  std::vector<Reply> replies;
  std::vector<std::function<void()>> seen;  // to be called for those who asked what there is
  std::vector<kernel::Command> commands;
  bool ends_work = true;  // nothing in it is new work

  bool empty() const noexcept {
    return records.empty() && replies.empty() && seen.empty() && commands.empty();
  }
};

}  // namespace holdfast::node
