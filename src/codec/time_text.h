// SPDX-License-Identifier: Apache-2.0
// A time as people read it, to the millisecond: "2026-01-05T10:30:00.000Z".
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::codec {

std::string time_text(std::uint64_t time_ns);  // since 1970

}  // namespace holdfast::codec
