// SPDX-License-Identifier: Apache-2.0
// Times and durations as people read them: "2026-01-05T10:30:00.000Z", "1h30m". A duration is what
// parse_duration (codec/scalar_text.h) takes.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::codec {

std::string time_text(std::uint64_t time_ns);          // since 1970, to the millisecond
std::string duration_text(std::uint64_t duration_ns);  // exact; "0s" for none

}  // namespace holdfast::codec
