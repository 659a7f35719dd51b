// SPDX-License-Identifier: Apache-2.0
// Making the index of instances again: beside the old one, which is read until the new one takes
// its place at once.
#pragma once

#include <memory>

#include "store/history_index.h"

namespace holdfast::store {

// An empty index beside the old one. What an earlier attempt left is removed.
base::Result<std::unique_ptr<HistoryIndex>> begin_new_history(WorldFolder& world);

// Closes the new index, and puts it in the place of the old one, which nobody may have open.
base::Result<void> put_in_place(WorldFolder& world, std::unique_ptr<HistoryIndex> built);

}  // namespace holdfast::store
