// SPDX-License-Identifier: Apache-2.0
// CHECK: stops the process when our own code is wrong. Always on, also in release builds:
// the journal makes a restart safe, and going on with a broken invariant does not.
// Bad input and a failing world are not our mistakes; those are Result (base/result.h).
#pragma once

namespace holdfast::base {

[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace holdfast::base

#define CHECK(condition)                             \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::holdfast::base::check_failed(#condition, __FILE__, __LINE__))
