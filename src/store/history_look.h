// SPDX-License-Identifier: Apache-2.0
// How far the index of instances has come, for looking at it.
#pragma once

#include "store/database_look.h"
#include "store/history_rows.h"

namespace holdfast::store {

// Nothing: there is no index, or it has seen nothing. kConflict, kCorrupt: it must be made again.
base::Result<std::optional<HistoryCursor>> look_at_history(const WorldPlace& world);

}  // namespace holdfast::store
