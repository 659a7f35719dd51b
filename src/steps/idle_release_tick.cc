// SPDX-License-Identifier: Apache-2.0
// Whoever holds the run in memory lets go of it. Never of one that is busy.
#include "steps/work.h"

namespace holdfast::steps {

void reduce_idle_release(Work& work) {
  if (work.state.is_idle()) work.emit(CompleteRun{std::nullopt});
}

}  // namespace holdfast::steps
