// SPDX-License-Identifier: Apache-2.0
// Colours, few of them: how an instance ended stands out in a table. Only on a terminal, and not
// where NO_COLOR is set (no-color.org).
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

// Whether standard output shows colours.
bool shows_colours();

// A status as a table shows it, "failed" or "waiting, paused", in its colour.
std::string painted_status(std::string_view status);

}  // namespace holdfast::cli
