// SPDX-License-Identifier: Apache-2.0
// What performs sys/schedule.next@1: finds the due times of a rule, with the time zones of this
// machine. It changes nothing, so it may be done again.
#pragma once

#include <memory>

#include "env/disk.h"
#include "executors/executor.h"

namespace holdfast::engine {

std::unique_ptr<executors::Executor> schedule_next_executor(env::Disk& disk);

}  // namespace holdfast::engine
