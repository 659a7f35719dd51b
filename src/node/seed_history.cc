// SPDX-License-Identifier: Apache-2.0
#include "node/seed_history.h"

#include <optional>
#include <utility>

#include "kernel/record_view.h"
#include "node/history_changes.h"

namespace holdfast::node {
namespace {

constexpr std::size_t kRowsPerBatch = 4096;

store::InstanceChange change_of(std::string_view workflow, const kernel::Cell& cell) {
  store::InstanceChange change;
  change.workflow = std::string(workflow);
  change.key = cell.key;
  change.record = cell.last_record;
  change.time_ns = cell.last_active_ns;
  change.previous = cell.last_record;  // it does not begin here
  change.status = std::string(kernel::name_of(cell.status()));
  change.paused = cell.paused;
  put_error(change, cell.outcome);
  return change;
}

base::Result<void> seed(store::HistoryIndex& index, store::RecordNumber first,
                        kernel::World& world) {
  store::HistoryBatch batch;
  const auto write = [&]() -> base::Result<void> {
    batch.name([](base::ByteView key) { return kernel::key_text(key); });
    TRY(index.apply(batch, index.cursor().record, {}));
    batch.clear();
    return {};
  };
  std::optional<base::Error> problem;
  TRY(world.visit_instances([&](std::string_view workflow, const kernel::Cell& cell) {
    if (cell.last_record >= first) return true;
    batch.add(change_of(workflow, cell));
    if (batch.entries().size() < kRowsPerBatch) return true;
    if (auto written = write(); !written) problem = std::move(written).error();
    return !problem;
  }));
  if (problem) return std::move(*problem);
  return write();
}

}  // namespace

base::Result<void> begin_history(store::HistoryIndex& index, store::RecordNumber first,
                                 kernel::World* world) {
  index.begin_with(first, world == nullptr ? 0 : world->next_record());
  // Where it begins, before anything is in it.
  TRY(index.apply({}, index.cursor().record, {}));
  return world == nullptr ? base::Result<void>() : seed(index, first, *world);
}

}  // namespace holdfast::node
