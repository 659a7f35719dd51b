// SPDX-License-Identifier: Apache-2.0
// Record: one journal entry: a tick and what came of it. Canonical CBOR lists, so that equal bytes
// mean equal happenings, and the journal can be read without the code. Byte format:
// docs/formats/record.md.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "kernel/tick.h"

namespace holdfast::kernel {

inline constexpr std::uint64_t kRecordVersion = 1;

// The tick inside a record; it borrows from the record's bytes.
base::Result<Tick> tick_of(base::ByteView record);

}  // namespace holdfast::kernel
