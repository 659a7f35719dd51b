// SPDX-License-Identifier: Apache-2.0
// Which instances a ForgetEnded tick names: one flat list, so that replay takes them apart again.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"

namespace holdfast::kernel {

struct ForgetName {
  std::string_view workflow;
  base::ByteView key;             // canonical; empty if the workflow has no key
  std::uint64_t last_record = 0;  // that touched it, as far as whoever names it has seen
};

// [workflow, key, last record, workflow, ...], with the self-describe tag.
void write_forget_list(codec::Buffer& out, const std::vector<ForgetName>& names);

// They borrow from the bytes. Nothing: it is no such list, names nobody, or too many.
std::optional<std::vector<ForgetName>> read_forget_list(base::ByteView list);

}  // namespace holdfast::kernel
