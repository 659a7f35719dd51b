// SPDX-License-Identifier: Apache-2.0
// The index of instances, for looking at it.
#pragma once

#include <functional>
#include <optional>

#include "store/database_look.h"
#include "store/history_rows.h"

namespace holdfast::store {

// How far it has come, and, if anybody wants them, its rows. Nothing: there is no index, or it has
// seen nothing. kConflict, kCorrupt: it must be made again.
base::Result<std::optional<HistoryCursor>> look_at_history(
    const WorldPlace& world, const std::function<void(const InstanceRow&)>& visit = {});

}  // namespace holdfast::store
