// SPDX-License-Identifier: Apache-2.0
// What a record says of instances, as the index of instances takes it.
#pragma once

#include <vector>

#include "kernel/record_view.h"
#include "store/history_rows.h"

namespace holdfast::node {

// In the order of the record; the texts of the keys are left out.
std::vector<store::InstanceChange> changes_of(const kernel::RecordView& record);

// What an instance ended with, if its status says that it is an error. Empty: it is not known here.
void put_error(store::InstanceChange& change, base::ByteView outcome);

}  // namespace holdfast::node
