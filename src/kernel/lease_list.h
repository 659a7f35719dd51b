// SPDX-License-Identifier: Apache-2.0
// What a Leased or a Returned tick names: flat lists, so that replay takes them apart again. What
// they hold borrows from the bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/buffer.h"
#include "kernel/work.h"

namespace holdfast::kernel {

struct LeaseItem {
  base::Hash intent;
  base::ByteView detail = {};
  std::optional<std::uint64_t> time_limit_ns = {};
  bool fails_if_lost = false;
};

struct ReturnItem {
  base::Hash intent;
  std::uint64_t dispatch = 0;
  ReturnReason reason = ReturnReason::kDrain;
  base::ByteView resume = {};
};

// [intent, detail, time limit or null, fails if lost, intent, ...], with the self-describe tag.
void write_lease_list(codec::Buffer& out, const std::vector<LeaseItem>& items);

// [intent, dispatch, reason, resume, intent, ...], with the self-describe tag.
void write_return_list(codec::Buffer& out, const std::vector<ReturnItem>& items);

// Nothing: it is no such list, is empty, or is too long.
std::optional<std::vector<LeaseItem>> read_lease_list(base::ByteView list);
std::optional<std::vector<ReturnItem>> read_return_list(base::ByteView list);

}  // namespace holdfast::kernel
