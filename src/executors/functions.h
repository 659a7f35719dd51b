// SPDX-License-Identifier: Apache-2.0
// Functions: effects that are performed by functions of this program, on threads of this executor.
// A function may wait for whatever it likes. It is called again after a crash, unless its receipt
// was durable.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "executors/desk.h"
#include "executors/executor.h"
#include "executors/live_progress.h"

namespace holdfast::executors {

// Becomes true when nobody waits for the effect any more.
using StopFlag = std::atomic<bool>;

// What it throws becomes an error receipt. What it puts out while it runs is heard at once.
using Function = std::function<Receipt(const kernel::OpenIntent& intent, const StopFlag& stopped,
                                       Progress& progress)>;

struct FunctionOptions {
  std::size_t threads = 4;
  std::size_t waiting = std::size_t{1} << 12;  // the node holds back what is more
};

class Functions : public Executor {
 public:
  // By the names of effects. What has no function gets an error receipt.
  Functions(std::map<std::string, Function, std::less<>> functions, const FunctionOptions& options);
  ~Functions() override;
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;

  void start(const kernel::OpenIntent& intent, Reports& reports) override;
  bool has_room(const kernel::OpenIntent& intent) override { return desk_.has_room(intent); }
  void stop(const base::Hash& intent) override;

  // Of its threads, those that run something.
  std::size_t threads() const noexcept { return threads_.size(); }
  std::size_t busy_threads();
  // Whether no thread runs it yet, and all of them are busy.
  bool waits_for_thread(const base::Hash& intent);

  // Waits for the functions that are under way; they can see that they should end.
  void shut_down() override;

 private:
  struct Job {
    kernel::OpenIntent intent;
    std::shared_ptr<StopFlag> stopped;
  };
  void run();
  void wake_one(std::unique_lock<std::mutex> lock);
  std::optional<Job> next_job(const std::optional<Job>& before);
  Receipt perform(const Job& job);
  Receipt call(const kernel::OpenIntent& intent, const StopFlag& stopped, Progress& progress) const;

  const std::map<std::string, Function, std::less<>> functions_;
  Desk desk_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t orders_ = 0;  // that may wait at the desk
  std::size_t idle_ = 0;    // threads
  bool is_waking_ = false;  // one of them
  bool ended_ = false;
  struct Running {
    std::shared_ptr<StopFlag> stopped;
    std::shared_ptr<LiveProgress> progress;  // null until it begins
    void stop() const {
      *stopped = true;
      if (progress != nullptr) progress->close();
    }
  };
  std::shared_ptr<LiveProgress> begin(const kernel::OpenIntent& intent);

  ProgressRetries retries_;
  std::unordered_map<base::Hash, Running, base::HashOfHash> running_;
  std::mutex joining_;
  std::vector<std::thread> threads_;
};

}  // namespace holdfast::executors
