// SPDX-License-Identifier: Apache-2.0
// Uuids as text, and out of entropy.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/hash.h"
#include "holdfast/types.h"

namespace holdfast::native {

// 8-4-4-4-12 lower-case hexadecimal digits, which is the canonical form.
bool parse_uuid(std::string_view text, Uuid& uuid);

// A random uuid (version 4) that depends on its arguments alone.
Uuid derive_uuid(const base::Hash& entropy, std::uint64_t index);

}  // namespace holdfast::native
