// SPDX-License-Identifier: Apache-2.0
// The tick inside a record, read; kernel/record.cc writes it. Internal to the kernel.
#pragma once

#include "kernel/list_reader.h"
#include "kernel/tick.h"

namespace holdfast::kernel {

// The elements of the list that is the tick. False: they are none. What it gives borrows from them.
bool read_input(ListReader& list, Tick& tick);

}  // namespace holdfast::kernel
