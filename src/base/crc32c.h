// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), which finds torn and rotten bytes in files. It is no defence against
// somebody who changes bytes on purpose; that is what base/sha256.h is for.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace holdfast::base {

// crc32c(b, crc32c(a)) is the checksum of a followed by b.
std::uint32_t crc32c(ByteView bytes, std::uint32_t before = 0) noexcept;

// The two ways in which crc32c does it, for tests and benchmarks. The processor's own instruction
// may be used only where it has one.
namespace crc32c_ways {
bool has_instruction() noexcept;
std::uint32_t by_instruction(ByteView bytes, std::uint32_t before) noexcept;
std::uint32_t by_table(ByteView bytes, std::uint32_t before) noexcept;
}  // namespace crc32c_ways

}  // namespace holdfast::base
