// SPDX-License-Identifier: Apache-2.0
#include "engine/backup_source.h"

#include <utility>

#include "engine/history_visit.h"
#include "store/folder_backup.h"

namespace holdfast::engine {
namespace {

using Step = store::BackupSource::Step;

// Under what keeps others from the database, also when the step goes.
template <class With>
base::Result<bool> visit_with(With&& with, Step step, const store::BackupSource::Between& between) {
  base::Result<bool> more = true;
  while (more && *more) {
    with([&](store::SqliteDatabase& database) { more = step(database); });
    if (!more || !*more) break;
    if (auto waited = between(); !waited) more = std::move(waited).error();
  }
  with([&](store::SqliteDatabase&) { step = nullptr; });
  if (!more) return std::move(more).error();
  return true;
}

}  // namespace

base::Result<bool> RunningBackup::visit_database(const std::string& name, Step step,
                                                 const Between& between) {
  if (name == store::kKernelBlobs) {
    return visit_with(
        [this](const auto& work) {
          world_.kernel_blobs().with_store([&] { work(world_.blobs().database()); });
        },
        std::move(step), between);
  }
  if (name == store::kEffectBlobs) {
    return visit_with([this](const auto& work) { blobs_.with_database(work); }, std::move(step),
                      between);
  }
  const auto place = store::WorldPlace::of(world_.folder());
  if (history_ != nullptr)
    return visit_history(*history_, place, name, std::move(step), between, stopped_);
  return store::visit_closed_database(place, name, std::move(step), between);
}

base::Result<void> RunningBackup::check() {
  if (records_->holds()) return {};
  return base::Error(base::ErrorCode::kTooLarge, path(),
                     "the backup takes too long: the journal cannot hold the records from " +
                         std::to_string(records_->first()) + " on any longer");
}

}  // namespace holdfast::engine
