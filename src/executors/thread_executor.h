// SPDX-License-Identifier: Apache-2.0
// ThreadExecutor: an executor with one thread, however much is under way. A Performer is what
// differs from one kind to the next; it lives on that thread.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>

#include "executors/desk.h"
#include "executors/executor.h"

namespace holdfast::executors {

class Performer {
 public:
  virtual ~Performer() = default;

  // Takes orders and performs them until it is told to end, and then leaves nothing behind. All
  // signals are blocked here: they are for the threads of the program around us.
  virtual void perform(Desk& desk) = 0;

  // From any thread: there are new orders.
  virtual void wake() noexcept = 0;

  virtual bool keeps_time_limits() const { return false; }  // as an Executor
};

struct QueueOptions {
  std::size_t at_once = 64;
  std::size_t waiting = std::size_t{1} << 16;
};

class ThreadExecutor : public Executor {
 public:
  ThreadExecutor(std::unique_ptr<Performer> performer, std::size_t most_waiting);
  ~ThreadExecutor() override;
  ThreadExecutor(const ThreadExecutor&) = delete;
  ThreadExecutor& operator=(const ThreadExecutor&) = delete;

  void start(const kernel::OpenIntent& intent, Reports& reports) override;
  bool has_room(const kernel::OpenIntent& intent) override { return desk_.has_room(intent); }
  bool keeps_time_limits() const override { return performer_->keeps_time_limits(); }
  void stop(const base::Hash& intent) override;
  void shut_down() override;

 private:
  void run() noexcept;

  std::unique_ptr<Performer> performer_;
  Desk desk_;
  std::mutex joining_;
  std::thread thread_;
};

}  // namespace holdfast::executors
