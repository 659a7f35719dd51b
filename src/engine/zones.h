// SPDX-License-Identifier: Apache-2.0
// Time zones of this machine: the compiled files of the tz database (Debian's package tzdata). They
// are read when they are asked for, so that an update of the package holds without a restart.
#pragma once

#include <string>

#include "base/result.h"
#include "env/disk.h"
#include "schedules/zone.h"

namespace holdfast::engine {

// kNotFound: there is no such zone here. "UTC" needs no file.
base::Result<schedules::Zone> load_zone(env::Disk& disk, const std::string& name);

}  // namespace holdfast::engine
