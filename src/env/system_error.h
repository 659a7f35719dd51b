// SPDX-License-Identifier: Apache-2.0
// What an errno means to us, and calls that a signal may interrupt.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>

#include "base/error.h"

namespace holdfast::env {

// "call: what the system says", at `where`.
base::Error system_error(std::string where, std::string_view call, int number = errno);

// Calls again as long as a signal interrupts. Not for syncs: what an interrupted one did is
// unknown.
template <class Call>
auto again_after_signals(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace holdfast::env
