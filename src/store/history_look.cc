// SPDX-License-Identifier: Apache-2.0
#include "store/history_look.h"

#include "store/history_statements.h"

namespace holdfast::store {

base::Result<std::optional<HistoryCursor>> look_at_history(const WorldPlace& world) {
  const auto look = TRY(DatabaseLook::open(world, kHistoryFile));
  if (!look) return std::optional<HistoryCursor>();
  return read_cursor(look->database(), look->path());
}

}  // namespace holdfast::store
