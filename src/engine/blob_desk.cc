// SPDX-License-Identifier: Apache-2.0
#include "engine/blob_desk.h"

#include <utility>
#include <vector>

#include "base/sha256.h"
#include "env/quiet_thread.h"
#include "errors/translate.h"

namespace holdfast::engine {

void BlobDesk::Job::fail(const Error& error) const { kept ? kept(error) : found(error); }

void BlobDesk::keep(Bytes bytes, Engine::Then<Engine::KeptBlob> then) {
  add({.bytes = std::move(bytes), .kept = std::move(then)});
}

void BlobDesk::read(const base::Hash& hash, Engine::Then<Bytes> then) {
  add({.hash = hash, .found = std::move(then)});
}

void BlobDesk::add(Job job) {
  std::unique_lock lock(mutex_);
  const bool is_full = waiting_.size() >= kMostWaiting ||
                       (!waiting_.empty() && waiting_bytes_ + job.bytes.size() > kMostWaitingBytes);
  if (is_stopped_ || is_full) {
    const Error error = is_stopped_ ? Error{ErrorCode::kEnded, "the engine is closed"}
                                    : Error{ErrorCode::kUnavailable, "too many blobs wait"};
    lock.unlock();
    return job.fail(error);
  }
  waiting_bytes_ += job.bytes.size();
  waiting_.push_back(std::move(job));
  if (!thread_.joinable()) thread_ = env::quiet_thread([this] { run(); });
  changed_.notify_one();
}

void BlobDesk::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void BlobDesk::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_stopped_ || !waiting_.empty(); });
    std::deque<Job> jobs = std::exchange(waiting_, {});
    waiting_bytes_ = 0;
    const bool is_stopped = is_stopped_;
    lock.unlock();
    if (is_stopped) {
      for (const Job& job : jobs) job.fail({ErrorCode::kEnded, "the engine is closed"});
      return;
    }
    do_all(std::move(jobs));
    lock.lock();
  }
}

void BlobDesk::do_all(std::deque<Job> jobs) {
  std::deque<Job> kept;
  for (Job& job : jobs) {
    if (job.kept) {
      kept.push_back(std::move(job));
      continue;
    }
    auto found = blobs_->get(job.hash);
    if (!found) {
      job.found(errors::outside(found.error()));
    } else {
      job.found(std::move(*found));
    }
  }
  if (!kept.empty()) keep_all(kept);
}

// One sync for all of them. One that cannot be kept is no reason to refuse the others.
void BlobDesk::keep_all(std::deque<Job>& jobs) {
  std::vector<base::ByteView> blobs;
  for (const Job& job : jobs) blobs.emplace_back(job.bytes);
  const auto all = blobs_->keep(blobs);
  for (const Job& job : jobs) {
    const Hash hash{base::sha256(job.bytes).bytes};
    if (all) {
      job.kept(Engine::KeptBlob{hash, *all});
      continue;
    }
    const auto pin = blobs_->keep(job.bytes);
    if (!pin) {
      job.fail(errors::outside(pin.error()));
    } else {
      job.kept(Engine::KeptBlob{hash, *pin});
    }
  }
}

}  // namespace holdfast::engine
