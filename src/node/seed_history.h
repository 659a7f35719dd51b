// SPDX-License-Identifier: Apache-2.0
// Seeding the index of instances: a journal that does not begin with the first record, because of
// trimming or because the world is a fork, says nothing of instances that were not touched since.
// A snapshot knows them, and the index begins with those.
#pragma once

#include "kernel/world.h"
#include "store/history_index.h"

namespace holdfast::node {

// Begins a new index of a journal whose first record this is. `world`: as a snapshot has it that is
// behind that record; null: there is none. Of an instance that comes from there a row says when it
// was touched last, its status and its error, unless that is a large one; not when it began, nor
// what it put out.
base::Result<void> begin_history(store::HistoryIndex& index, store::RecordNumber first,
                                 kernel::World* world);

}  // namespace holdfast::node
