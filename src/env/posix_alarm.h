// SPDX-License-Identifier: Apache-2.0
// The machine's own alarm: two timers of the kernel, one that follows the wall clock wherever it is
// set, and one that goes by the time since boot; and a thread that sleeps until one of them is due.
#pragma once

#include <functional>
#include <memory>

#include "env/clock.h"

namespace holdfast::env {

base::Result<std::unique_ptr<Alarm>> posix_alarm(std::function<void()> ring);

}  // namespace holdfast::env
