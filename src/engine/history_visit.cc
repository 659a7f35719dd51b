// SPDX-License-Identifier: Apache-2.0
#include "engine/history_visit.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "store/folder_backup.h"

namespace holdfast::engine {
namespace {

// Whose turn it is: one step of the visit, then what is between two.
class Turns {
 public:
  enum class Turn : std::uint8_t { kNone, kStep, kEnd };

  // For the visit.
  Turn take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(turn_, Turn::kNone);
  }
  void stepped() {
    const std::lock_guard lock(mutex_);
    has_stepped_ = true;
    changed_.notify_one();
  }
  void end(base::Result<bool> end) {
    const std::lock_guard lock(mutex_);
    if (!end_) end_ = std::move(end);
    changed_.notify_one();
  }

  // For whoever copies. False: it has ended.
  bool wait_for_step() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return has_stepped_ || end_; });
    has_stepped_ = false;
    return !end_;
  }
  void give(Turn turn) {
    const std::lock_guard lock(mutex_);
    turn_ = turn;
  }
  base::Result<bool> wait_for_end() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return end_.has_value(); });
    return std::move(*end_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Turn turn_ = Turn::kStep;
  bool has_stepped_ = false;
  std::optional<base::Result<bool>> end_;
};

// The history lets go of it when it closes the database, or ends.
class HistoryVisit {
 public:
  HistoryVisit(std::shared_ptr<Turns> turns, store::WorldPlace world, std::string name,
               store::BackupSource::Step step, std::function<bool()> stopped)
      : turns_(std::move(turns)),
        world_(std::move(world)),
        name_(std::move(name)),
        step_(std::move(step)),
        stopped_(std::move(stopped)) {}
  ~HistoryVisit() {
    step_ = nullptr;
    turns_->end(base::Error(base::ErrorCode::kUnavailable, "history",
                            "the index was begun anew, or the engine closes"));
  }
  HistoryVisit(const HistoryVisit&) = delete;
  HistoryVisit& operator=(const HistoryVisit&) = delete;

  // False: it is over.
  bool go_on(store::SqliteDatabase* index, store::SqliteDatabase* seals) {
    const Turns::Turn turn = turns_->take();
    if (turn == Turns::Turn::kNone) return true;
    if (turn == Turns::Turn::kEnd) return over(true);
    store::SqliteDatabase* const database = name_ == store::kHistoryFile ? index : seals;
    if (database == nullptr) return over(copy_closed());
    base::Result<bool> more = step_(*database);
    if (!more) return over(std::move(more).error());
    if (!*more) return over(true);
    turns_->stepped();
    return true;
  }

 private:
  bool over(base::Result<bool> end) {
    step_ = nullptr;
    turns_->end(std::move(end));
    return false;
  }
  base::Result<bool> copy_closed() {
    return store::visit_closed_database(
        world_, name_, std::move(step_), [this]() -> base::Result<void> {
          if (!stopped_()) return {};
          return base::Error(base::ErrorCode::kEnded, "the engine closes");
        });
  }

  const std::shared_ptr<Turns> turns_;
  const store::WorldPlace world_;
  const std::string name_;
  store::BackupSource::Step step_;
  const std::function<bool()> stopped_;
};

}  // namespace

base::Result<bool> visit_history(node::History& history, const store::WorldPlace& world,
                                 const std::string& name, store::BackupSource::Step step,
                                 const store::BackupSource::Between& between,
                                 const std::function<bool()>& stopped) {
  const auto turns = std::make_shared<Turns>();
  auto visit = std::make_shared<HistoryVisit>(turns, world, name, std::move(step), stopped);
  TRY(history.visit(
      [visit = std::move(visit)](store::SqliteDatabase* index, store::SqliteDatabase* seals) {
        return visit->go_on(index, seals);
      }));
  while (turns->wait_for_step()) {
    if (auto waited = between(); !waited) {
      turns->give(Turns::Turn::kEnd);
      static_cast<void>(turns->wait_for_end().has_value());
      return std::move(waited).error();
    }
    turns->give(Turns::Turn::kStep);
  }
  return turns->wait_for_end();
}

}  // namespace holdfast::engine
