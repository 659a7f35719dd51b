// SPDX-License-Identifier: Apache-2.0
// Turns what a user says of a schedule into what is kept, and holds it against the definitions of
// the world: the workflow, its key, the event, the value that a start would have.
#pragma once

#include "base/result.h"
#include "env/disk.h"
#include "holdfast/schedules.h"
#include "schedules/cell.h"

namespace holdfast::engine {

// The rule alone, with its time zone.
base::Result<schedules::Rule> checked_rule(env::Disk& disk, const ScheduleSpec& given);

// `definitions` as Engine::definitions() has them.
base::Result<schedules::Spec> checked_spec(env::Disk& disk, const Bytes& definitions,
                                           const ScheduleSpec& given);

ScheduleSpec spec_outside(const std::string& name, const schedules::Spec& spec);

}  // namespace holdfast::engine
