// SPDX-License-Identifier: Apache-2.0
// Clocks that were set, for one program that is started with this preloaded: HOLDFAST_WALL_STEP and
// HOLDFAST_BOOT_STEP are seconds that are added to the time of day and to the time since the
// machine started. The clocks of the machine stay as they are.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace {

time_t step_of(clockid_t id) {
  const char* const name = id == CLOCK_REALTIME   ? "HOLDFAST_WALL_STEP"
                           : id == CLOCK_BOOTTIME ? "HOLDFAST_BOOT_STEP"
                                                  : nullptr;
  const char* const text = name != nullptr ? std::getenv(name) : nullptr;
  return text != nullptr ? static_cast<time_t>(std::strtoll(text, nullptr, 10)) : 0;
}

}  // namespace

extern "C" int clock_gettime(clockid_t id, timespec* into) noexcept {
  const long result = ::syscall(SYS_clock_gettime, id, into);
  if (result == 0) into->tv_sec += step_of(id);
  return static_cast<int>(result);
}
