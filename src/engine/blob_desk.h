// SPDX-License-Identifier: Apache-2.0
// BlobDesk: keeps and reads blobs for callers that must not wait for the disk, on a thread of its
// own. Blobs that wait to be kept are made durable together. The thread is there from the first
// call on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>

#include "base/hash.h"
#include "executors/effect_blobs.h"
#include "holdfast/engine.h"

namespace holdfast::engine {

class BlobDesk {
 public:
  // What waits at most: calls, and bytes that are to be kept.
  static constexpr std::size_t kMostWaiting = 1024;
  static constexpr std::size_t kMostWaitingBytes = std::size_t{64} << 20;

  BlobDesk() = default;
  ~BlobDesk() { stop(); }
  BlobDesk(const BlobDesk&) = delete;
  BlobDesk& operator=(const BlobDesk&) = delete;

  // Before anything else; they must outlive it.
  void use(executors::EffectBlobs& blobs) noexcept { blobs_ = &blobs; }

  // `then` is called once, on the thread of the desk or inside the call. kUnavailable: too many
  // wait. kEnded: it was stopped.
  void keep(Bytes bytes, Engine::Then<Engine::KeptBlob> then);
  void read(const base::Hash& hash, Engine::Then<Bytes> then);

  // What waits is told kEnded.
  void stop();

 private:
  struct Job {
    Bytes bytes = {};  // to keep
    Engine::Then<Engine::KeptBlob> kept = {};
    base::Hash hash = {};  // to read
    Engine::Then<Bytes> found = {};

    void fail(const Error& error) const;
  };

  void add(Job job);
  void run();
  void do_all(std::deque<Job> jobs);
  void keep_all(std::deque<Job>& jobs);

  executors::EffectBlobs* blobs_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace holdfast::engine
