// SPDX-License-Identifier: Apache-2.0
#include "workers/recorder.h"

#include <utility>

namespace holdfast::workers {
namespace {

class EngineRecorder : public Recorder {
 public:
  explicit EngineRecorder(Engine& engine) : engine_(engine) {}

  void enroll_worker(const WorkerEnrolment& enrolment, Then<WorkerInfo> then) override {
    engine_.enroll_worker(enrolment, std::move(then));
  }
  void change_worker(const WorkerChange& change, Then<WorkerChanged> then) override {
    engine_.change_worker(change, std::move(then));
  }
  void lease(std::string_view worker, const std::vector<LeaseRequest>& requests,
             Then<Leased> then) override {
    engine_.lease(worker, requests, std::move(then));
  }
  void give_back(std::string_view worker, const std::vector<WorkReturn>& returns,
                 Then<WorkAnswers> then) override {
    engine_.give_back(worker, returns, std::move(then));
  }
  void settle_work(std::string_view worker, const std::vector<WorkReceipt>& receipts,
                   Then<WorkAnswers> then) override {
    engine_.settle_work(worker, receipts, std::move(then));
  }
  void progress_work(std::string_view worker, const std::vector<WorkProgress>& progress,
                     Then<WorkAnswers> then) override {
    engine_.progress_work(worker, progress, std::move(then));
  }
  void keep_blob(Bytes bytes, Then<Engine::KeptBlob> then) override {
    engine_.keep_blob(std::move(bytes), std::move(then));
  }
  void work(std::vector<Hash> intents, Then<std::vector<Result<WorkInfo>>> then,
            std::size_t most_bytes) override {
    engine_.work(std::move(intents), std::move(then), most_bytes);
  }

 private:
  Engine& engine_;
};

}  // namespace

std::unique_ptr<Recorder> recorder_of(Engine& engine) {
  return std::make_unique<EngineRecorder>(engine);
}

}  // namespace holdfast::workers
