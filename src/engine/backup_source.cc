// SPDX-License-Identifier: Apache-2.0
#include "engine/backup_source.h"

#include <future>
#include <optional>
#include <utility>

#include "store/folder_backup.h"

namespace holdfast::engine {
namespace {

using Step = store::BackupSource::Step;

// Under what keeps others from the database, also when the step goes.
template <class With>
base::Result<void> visit_with(With&& with, Step step, const store::BackupSource::Between& between) {
  base::Result<bool> more = true;
  while (more && *more) {
    with([&](store::SqliteDatabase& database) { more = step(database); });
    if (!more || !*more) break;
    if (auto waited = between(); !waited) more = std::move(waited).error();
  }
  with([&](store::SqliteDatabase&) { step = nullptr; });
  if (!more) return std::move(more).error();
  return {};
}

// What came of a visit to the history: it is told when the visit ends, or is let go of.
class VisitEnd {
 public:
  ~VisitEnd() {
    if (!is_told_) {
      end_.set_value(base::Error(base::ErrorCode::kUnavailable, "history",
                                 "the index was begun anew, or the engine closes"));
    }
  }
  void tell(base::Result<void> end) {
    is_told_ = true;
    end_.set_value(std::move(end));
  }
  std::future<base::Result<void>> future() { return end_.get_future(); }

 private:
  std::promise<base::Result<void>> end_;
  bool is_told_ = false;
};

}  // namespace

base::Result<void> RunningBackup::visit_database(const std::string& name, Step step,
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
  if (history_ != nullptr) return visit_history(name, std::move(step), between);
  return store::visit_closed_database(store::WorldPlace::of(world_.folder()), name, std::move(step),
                                      between);
}

// On the thread of the history, which has the databases to itself. The seals are few, and are
// copied at once; so is what is not open.
base::Result<void> RunningBackup::visit_history(const std::string& name, Step step,
                                                const Between& between) {
  const bool is_index = name == store::kHistoryFile;
  auto end = std::make_shared<VisitEnd>();
  auto told = end->future();
  auto visit = [this, name, is_index, step = std::move(step), end = std::move(end)](
                   store::SqliteDatabase* index, store::SqliteDatabase* seals) mutable {
    store::SqliteDatabase* const database = is_index ? index : seals;
    if (database == nullptr) {
      end->tell(store::visit_closed_database(store::WorldPlace::of(world_.folder()), name,
                                             std::move(step), [] { return base::Result<void>(); }));
      return false;
    }
    base::Result<bool> more = step(*database);
    while (!is_index && more && *more) more = step(*database);
    if (more && *more) return true;
    step = nullptr;
    end->tell(more ? base::Result<void>() : std::move(more).error());
    return false;
  };
  TRY(history_->visit(std::move(visit)));
  TRY(told.get());
  return between();
}

base::Result<void> RunningBackup::check() {
  if (records_->holds()) return {};
  return base::Error(base::ErrorCode::kTooLarge, path(),
                     "the backup takes too long: the journal cannot hold the records from " +
                         std::to_string(records_->first()) + " on any longer");
}

}  // namespace holdfast::engine
