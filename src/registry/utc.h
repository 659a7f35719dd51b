// SPDX-License-Identifier: Apache-2.0
// Wall times as people and other programs read them: 2026-01-05T10:30:00.250Z.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::registry {

// In milliseconds; what is before 1970 is shown as its beginning.
std::string to_utc(std::int64_t wall_ns);

// Nothing: that is no time.
std::optional<std::int64_t> from_utc(std::string_view text);

}  // namespace holdfast::registry
