// SPDX-License-Identifier: Apache-2.0
// Recorder: what the desk has recorded in a world. Each answer comes once, when what it says is
// durable and the feed has told it; it may come inside the call or later, on any thread.
//
// A server records with its engine. A simulated world records with nothing but a kernel.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "holdfast/engine.h"
#include "holdfast/workers.h"

namespace holdfast::workers {

class Recorder {
 public:
  template <class T>
  using Then = Engine::Then<T>;

  virtual ~Recorder() = default;

  // As the calls of Engine with these names.
  virtual void enroll_worker(const WorkerEnrolment& enrolment, Then<WorkerInfo> then) = 0;
  virtual void change_worker(const WorkerChange& change, Then<WorkerChanged> then) = 0;
  virtual void lease(std::string_view worker, const std::vector<LeaseRequest>& requests,
                     Then<Leased> then) = 0;
  virtual void give_back(std::string_view worker, const std::vector<WorkReturn>& returns,
                         Then<WorkAnswers> then) = 0;
  virtual void settle_work(std::string_view worker, const std::vector<WorkReceipt>& receipts,
                           Then<WorkAnswers> then) = 0;
  virtual void progress_work(std::string_view worker, const std::vector<WorkProgress>& progress,
                             Then<WorkAnswers> then) = 0;
  virtual void keep_blob(Bytes bytes, Then<Engine::KeptBlob> then) = 0;
  virtual void work(std::vector<Hash> intents, Then<std::vector<Result<WorkInfo>>> then,
                    std::size_t most_bytes) = 0;
};

// The engine must outlive it.
std::unique_ptr<Recorder> recorder_of(Engine& engine);

}  // namespace holdfast::workers
