// SPDX-License-Identifier: Apache-2.0
#include "store/history_look.h"

#include "store/history_statements.h"

namespace holdfast::store {

base::Result<std::optional<HistoryCursor>> look_at_history(
    const WorldPlace& world, const std::function<void(const InstanceRow&)>& visit) {
  const auto look = TRY(DatabaseLook::open(world, kHistoryFile));
  if (!look) return std::optional<HistoryCursor>();
  const auto cursor = TRY(read_cursor(look->database(), look->path()));
  if (!cursor || !visit) return cursor;
  auto rows =
      TRY(look->database().prepare(std::string("SELECT ") + kRowColumns +
                                   " FROM instances i JOIN workflows w ON w.id = i.workflow"));
  while (TRY(rows.step())) visit(read_row(rows));
  return cursor;
}

}  // namespace holdfast::store
