// SPDX-License-Identifier: Apache-2.0
// Why an instance has not ended, for people and programs: {"sentence", "reasons"}.
#pragma once

#include <string>
#include <vector>

#include "codec/buffer.h"
#include "holdfast/engine.h"

namespace holdfast::gateway {

void put_why(codec::Buffer& out, const std::vector<WaitReason>& reasons);

// One sentence: a reason, rather no timer than one, and how many more there are.
std::string sentence_of(const std::vector<WaitReason>& reasons);

// "2026-01-05T10:30:00.000Z"
std::string time_text(std::uint64_t time_ns);

}  // namespace holdfast::gateway
