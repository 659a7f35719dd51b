// SPDX-License-Identifier: Apache-2.0
#include "gateway/board/batches.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::gateway {
namespace {

constexpr std::size_t kControlledAtOnce = 32;
constexpr std::size_t kListedForBatch = 200;
constexpr std::size_t kErrorsKept = 10;

// An engine that has no room for this long ends the batch.
constexpr std::chrono::milliseconds kPause{200};
constexpr std::size_t kMostPauses = 300;

std::uint64_t wall_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

std::shared_ptr<const Batch> Batches::begin(Batch batch) {
  const auto runs = [](const auto& each) { return each->status == Batch::Status::kRunning; };
  if (std::ranges::count_if(batches_, runs) >= static_cast<std::ptrdiff_t>(kMostRunning))
    return nullptr;
  batch.begun_ns = wall_ns();
  // Ids grow with time, also over restarts.
  std::uint64_t number = batch.begun_ns / 1'000'000;
  while (find("b" + std::to_string(number))) ++number;
  batch.id = "b" + std::to_string(number);
  batches_.push_front(std::make_shared<Batch>(std::move(batch)));
  forget_old();
  const auto begun = batches_.front();
  go_on(begun);
  return begun;
}

void Batches::forget_old() {
  for (std::size_t i = batches_.size(); i-- > 0 && batches_.size() > kMostKept;) {
    if (batches_[i]->status != Batch::Status::kRunning)
      batches_.erase(batches_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

std::shared_ptr<const Batch> Batches::find(const std::string& id) const {
  const auto found =
      std::ranges::find_if(batches_, [&](const auto& each) { return each->id == id; });
  return found == batches_.end() ? nullptr : *found;
}

bool Batches::abort(const std::string& id) {
  const auto found =
      std::ranges::find_if(batches_, [&](const auto& each) { return each->id == id; });
  if (found == batches_.end() || (*found)->status != Batch::Status::kRunning) return false;
  end(**found, Batch::Status::kAborted);
  return true;
}

void Batches::end(Batch& batch, Batch::Status status) {
  batch.status = status;
  batch.ended_ns = wall_ns();
  batch.names.clear();
}

void Batches::go_on(const std::shared_ptr<Batch>& batch) {
  if (batch->status != Batch::Status::kRunning) return;
  while (batch->under_way < kControlledAtOnce && !batch->names.empty()) {
    Engine::RawName name = std::move(batch->names.front());
    batch->names.pop_front();
    control(batch, std::move(name));
  }
  if (!batch->names.empty() || batch->is_listing) return;
  if (batch->has_filter && !batch->is_listed) return list_more(batch);
  if (batch->under_way == 0) end(*batch, Batch::Status::kFinished);
}

void Batches::list_more(const std::shared_ptr<Batch>& batch) {
  batch->is_listing = true;
  ListOptions options = batch->filter;
  options.limit = kListedForBatch;
  engine_.list_raw(std::move(options), [this, batch, wake = wake_](Result<InstanceList> list) {
    wake->post([this, batch, list = std::move(list)] {
      batch->is_listing = false;
      if (batch->status != Batch::Status::kRunning) return;
      if (!list) {
        batch->errors.push_back({{}, list.error().message});
        return end(*batch, Batch::Status::kFailed);
      }
      for (const ListedInstance& row : list->instances)
        batch->names.push_back({row.workflow, row.key});
      batch->filter.after = list->next;
      batch->is_listed = list->next == 0;
      go_on(batch);
    });
  });
}

void Batches::control(const std::shared_ptr<Batch>& batch, Engine::RawName name) {
  ++batch->under_way;
  const std::string workflow = name.workflow;
  Bytes key = name.key;
  engine_.control_raw(
      batch->action, workflow, std::move(key), batch->reason,
      [this, batch, wake = wake_, name = std::move(name)](Result<Done> done) mutable {
        wake->post([this, batch, name = std::move(name), done = std::move(done)]() mutable {
          take_result(batch, std::move(name), done);
        });
      },
      batch->by);
}

void Batches::take_result(const std::shared_ptr<Batch>& batch, Engine::RawName name,
                          const Result<Done>& done) {
  --batch->under_way;
  if (done) {
    ++batch->done;
    batch->pauses = 0;
    return go_on(batch);
  }
  const ErrorCode code = done.error().code;
  if (code == ErrorCode::kConflict || code == ErrorCode::kNotFound) {
    ++batch->unchanged;
    return go_on(batch);
  }
  if (code == ErrorCode::kUnavailable && batch->pauses < kMostPauses &&
      batch->status == Batch::Status::kRunning) {
    ++batch->pauses;
    batch->names.push_front(std::move(name));
    timers_.add(std::chrono::steady_clock::now() + kPause, [this, batch] { go_on(batch); });
    return;
  }
  ++batch->failed;
  if (batch->errors.size() < kErrorsKept)
    batch->errors.push_back({std::move(name), done.error().message});
  if (code == ErrorCode::kUnavailable || code == ErrorCode::kEnded) {
    if (batch->status == Batch::Status::kRunning) end(*batch, Batch::Status::kFailed);
    return;
  }
  go_on(batch);
}

}  // namespace holdfast::gateway
