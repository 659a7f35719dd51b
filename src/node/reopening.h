// SPDX-License-Identifier: Apache-2.0
// Where an instance that has failed or was cancelled begins again: a moment of its past, read from
// the journal and from a world of that time. What is found stands whole in the tick that reopens
// the instance, so nobody has to look for it again.
#pragma once

#include <string>
#include <string_view>

#include "kernel/instance_image.h"
#include "node/past_world.h"

namespace holdfast::node {

struct ReopenPoint {
  store::RecordNumber record = 0;  // as it was behind this one; 0: as `step` says
  // As it was when this step, or the effect of this name, was last begun; empty: before the step
  // that failed it.
  std::string step = {};
};

struct Reopening {
  kernel::InstanceImage image;
  store::RecordNumber from = 0;  // the record that it is of
};

// `last` is the last record that touched the instance, which has ended by then. kNotFound: the
// journal has not, or not any more, the records. kConflict: there is no such moment. kTooLarge: it
// passes the limits, or the instance is too large. Other errors are those of PastWorld.
base::Result<Reopening> find_reopening(const PastSource& source,
                                       const kernel::MachineSource& machines,
                                       std::string_view workflow, base::ByteView key,
                                       store::RecordNumber last, const ReopenPoint& point,
                                       const PastLimits& limits);

}  // namespace holdfast::node
