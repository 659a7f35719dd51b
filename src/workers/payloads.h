// SPDX-License-Identifier: Apache-2.0
// The receipts of sys/task.run@1, as the world takes them.
#pragma once

#include "workers/messages.h"

namespace holdfast::workers {

// sys/TaskRunReceipt@1 around a result: any value, canonical, without tag.
Bytes receipt_of_result(const Bytes& result);

// sys/EffectError@1.
Bytes receipt_of_failure(const TaskFailure& failure);

}  // namespace holdfast::workers
