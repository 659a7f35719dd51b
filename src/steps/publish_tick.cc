// SPDX-License-Identifier: Apache-2.0
// A step that is still running puts something out.
#include "steps/work.h"

namespace holdfast::steps {

void reduce_publish(Work& work, const Publish& tick) { work.publish({.event = tick.event}); }

}  // namespace holdfast::steps
