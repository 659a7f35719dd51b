// SPDX-License-Identifier: Apache-2.0
// An event came for an instance that was not there, and did not begin it. The record then names the
// instance as deleted; this tells it from one that began and was deleted. The rule is the one by
// which the kernel counts Accepted::unhandled, for every kind of record.
#pragma once

#include <string_view>

#include "base/result.h"
#include "kernel/record_view.h"
#include "store/history_index.h"
#include "store/journal.h"

namespace holdfast::node {

bool is_unhandled(const kernel::RecordView& record, const kernel::InstanceView& instance);

// As people read it: `unhandled` instead of `deleted`.
std::string_view status_of(const kernel::RecordView& record, const kernel::InstanceView& instance);

// The same of a row of the index: its record decides. Where the journal does not have that record
// any more, the entries do.
base::Result<bool> is_unhandled(store::Journal& journal, store::HistoryIndex& index,
                                const store::InstanceRow& row);

}  // namespace holdfast::node
