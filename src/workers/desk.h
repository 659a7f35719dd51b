// SPDX-License-Identifier: Apache-2.0
// Desk: where workers get their work. It keeps sessions, hears of everything that the engine
// records about workers and tasks (WorkFeed), lets the dispatcher choose, has each choice recorded,
// and only then hands it out. It also watches who is alive.
//
// Promises:
//  1. Work is handed out after its lease is durable; a report is answered after it is durable.
//  2. Everything here can be rebuilt from the world: after a restart the desk knows all workers,
//     waiting tasks and leases before the engine is open. Sessions are not kept.
//  3. No call waits. Callbacks come on a thread of the engine or of the desk, or inside the call.
//  4. Nothing grows without bound: what is kept per task, worker and request is small; logs have
//     limits of their own.
//
// docs/worker-protocol.md says what workers see of it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "dispatch/deliveries.h"
#include "dispatch/dispatcher.h"
#include "dispatch/watchdog.h"
#include "env/random.h"
#include "holdfast/engine.h"
#include "holdfast/workers.h"
#include "tasks/limits.h"
#include "workers/log_file.h"
#include "workers/log_store.h"
#include "workers/messages.h"
#include "workers/recorder.h"
#include "workers/task_of.h"

namespace holdfast::workers {

struct DeskOptions {
  dispatch::DispatcherOptions dispatcher = {};
  dispatch::WatchdogOptions watchdog = {};
  LogLimits logs = {};
  std::string log_folder = {};  // keeps logs across restarts; empty: they are in memory only
  std::uint64_t stop_grace_ms = 10'000;  // how long a task that is asked to stop may take
  std::size_t max_result_bytes = tasks::kMaxLargeResultBytes;

  // A clock that never goes back, in ns; without one, the machine's. With a clock of the caller's
  // the desk has no thread: `step` is called instead.
  std::function<std::uint64_t()> now = {};
  std::function<void(std::string_view line)> log = {};

  // The input of a task that reads results of others: `definition` is the field `task` of its
  // params. Without it such tasks wait.
  std::function<void(const std::string& graph, const Bytes& definition, Engine::Then<Bytes> then)>
      render = {};
};

// A worker as operators see it.
struct WorkerState {
  WorkerInfo info = {};
  std::string mode = {};  // "active", "cordoned", ...
  bool is_live = false;
  bool has_session = false;
  std::optional<std::uint64_t> silent_ms =
      {};  // since it was heard; nothing: not since the server began
  std::uint32_t running = 0;
  std::uint32_t slots = 0;
  std::uint32_t want = 0;
  std::optional<dispatch::RecipeState> recipes = {};  // of a worker with a registry
};

struct DeskFigures {
  std::map<std::string, dispatch::QueueFigures, std::less<>> queues = {};
  std::uint64_t live_workers = 0;
  std::uint64_t sessions = 0;
  std::uint64_t syncs = 0;
  std::uint64_t redelivered = 0;  // dispatches that were sent again
  std::uint64_t denied = 0;  // dispatches that were taken back because the worker never had them
  std::uint64_t lost_workers = 0;
  std::uint64_t stale_reports = 0;
  std::uint64_t swapping_workers = 0;
  std::uint64_t swaps = 0;         // of recipes, that were done
  std::uint64_t failed_swaps = 0;  // that were begun and not done
  std::uint64_t yields = 0;        // tasks that were given back to make room
  std::uint64_t log_bytes = 0;
  std::uint64_t dropped_logs = 0;  // reports of lines that could not be written to disk
};

class Desk : public WorkFeed, public std::enable_shared_from_this<Desk> {
 public:
  template <class T>
  using Then = Engine::Then<T>;

  static std::shared_ptr<Desk> make(DeskOptions options);
  ~Desk() override;

  // The engine that this desk is the feed of. Begins to place tasks.
  void start(Engine& engine) { start(recorder_of(engine)); }
  void start(std::shared_ptr<Recorder> recorder);
  // Answers all that wait, and places nothing more. Before the engine is closed.
  void stop();

  // Whether this is the secret of that worker. Takes the same time whatever is wrong with it.
  bool knows(std::string_view worker, std::string_view secret) const;

  void enrol(const EnrolRequest& request, Then<EnrolAnswer> then);
  void begin_session(SessionRequest request, Then<SessionAnswer> then);
  // What it returns is called if nobody waits for the answer any more.
  std::function<void()> sync(SyncRequest request, Then<SyncAnswer> then);
  void leave(const LeaveRequest& request, Then<LeaveAnswer> then);

  // For operators.
  std::vector<WorkerState> list_workers(std::string_view after, std::size_t limit) const;
  std::optional<WorkerState> worker(std::string_view id) const;
  // By id, or by name if only one worker has it.
  std::optional<std::string> find_worker(std::string_view id_or_name) const;
  dispatch::Explanation explain(const Hash& intent) const;
  std::uint64_t now_ns() const;
  DeskFigures figures() const;

  std::optional<LogPage> read_log(std::string_view task, std::uint64_t after,
                                  std::size_t most) const;
  // Calls `then` once when there are more lines, or when an execution of the task has ended: the
  // world knows whether that was the last one. 0: there is something to read already, or too many
  // wait.
  std::uint64_t wait_for_log(const std::string& task, std::uint64_t after,
                             std::function<void()> then);
  void stop_waiting_for_log(std::string_view task, std::uint64_t wait);

  // Time has passed, or something has changed. Only where the caller has the clock.
  void step();

  std::uint64_t ttl_ms() const noexcept { return options_.watchdog.ttl_ns / 1'000'000; }
  std::uint64_t max_wait_ms() const noexcept { return ttl_ms() / 3; }
  std::size_t max_result_bytes() const noexcept { return options_.max_result_bytes; }

  // WorkFeed.
  void worker_changed(const WorkerInfo& worker) override;
  void opened(const WorkView& work) override;
  void leased(const WorkView& work) override;
  void returned(const WorkView& work, std::string_view worker, std::uint64_t dispatch,
                ReturnReason reason) override;
  void stop_asked(const WorkView& work) override;
  void ended(const WorkEnd& end) override;
  void recovered() override;

 private:
  // A sync that was not answered yet.
  struct Pending {
    std::string worker = {};
    Then<SyncAnswer> then = {};
    SyncAnswer answer = {};
    std::size_t open = 0;  // calls of the engine that it waits for
    std::optional<Error> failed = {};
    bool is_newest = false;
    bool has_reports = false;
    std::uint64_t until_ns = 0;
    std::uint64_t number = 0;
  };
  using PendingPtr = std::shared_ptr<Pending>;

  struct Worker {
    WorkerInfo info = {};
    std::string session = {};  // empty: none
    std::string process = {};
    std::uint64_t last_seq = 0;
    dispatch::Deliveries deliveries = {};
    PendingPtr parked = {};
    std::size_t leasing = 0;                         // choices that are being recorded
    std::set<dispatch::Dispatch> sent = {};          // at least once, in this session
    std::set<dispatch::Dispatch> told_to_stop = {};  // in this session
    std::set<std::string> drops = {};                // it holds them, and they do not count
    std::set<std::string> told_to_drop = {};
    std::string told_mode = {};
    std::string told_swap = {};
    std::uint64_t deliver_not_before_ns = 0;  // an input could not be made ready
  };

  struct TaskState {
    std::string log = {};  // "graph/number"
    std::uint64_t attempt = 1;
    std::uint64_t losses = 0;
    std::optional<std::uint64_t> max_attempts = {};
    bool may_run_again = true;
    std::uint64_t time_limit_ns = 0;
    std::vector<std::string> refused_by = {};  // workers that gave it back without trying
  };

  // What is done when the lock is let go of.
  using Actions = std::vector<std::function<void()>>;
  static void run(const Actions& actions);
  friend class Delivery;

  explicit Desk(DeskOptions options);

  void open_log_file();
  void loop();
  // Places, expires and watches once. True: there is more to do at once.
  bool turn(Actions& actions);
  void watch(std::uint64_t now, Actions& actions);
  void expire(std::uint64_t now, Actions& actions);
  void place(std::uint64_t now, Actions& actions);
  void lease(const std::string& worker, const std::vector<dispatch::Choice>& choices,
             Actions& actions);
  void leases_answered(const std::string& worker, const std::vector<Hash>& intents,
                       const Result<Leased>& answer);
  void changed();  // the desk has something to look at

  // How long a dispatch is sent to a worker that does not list it.
  std::uint64_t sent_for_ns() const noexcept {
    return options_.watchdog.ttl_ns + options_.watchdog.grace_ns;
  }
  std::string mode_text(const Worker& worker) const;
  dispatch::Dispatch dispatch_of(const Hash& intent, std::uint64_t number) const {
    return {number, {intent.bytes}};
  }
  bool put_task(const WorkView& work);
  void begin_lease(const WorkView& work);
  void end_lease(std::string_view worker, const Hash& intent, std::uint64_t dispatch);
  WorkerState state_of(const Worker& worker) const;

  void take_logs(const SyncRequest& request, SyncAnswer& answer);
  void take_recipes(const std::string& worker, std::optional<dispatch::RecipeState> state);
  // The recipe that it is asked to swap to; empty: none.
  std::string swap_of(const Worker& worker) const;
  void report(const PendingPtr& pending, const SyncRequest& request, Actions& actions);
  void settle_large(const PendingPtr& pending, std::size_t place, WorkReceipt receipt,
                    const Bytes& result, Actions& actions);
  void one_answered(const PendingPtr& pending);
  void reports_answered(const PendingPtr& pending, const std::vector<std::size_t>& places,
                        const Result<WorkAnswers>& answers);
  // Answers, or keeps it until there is something to say.
  void finish(const PendingPtr& pending, Actions& actions);
  bool has_news(const Worker& worker, const Pending& pending, std::uint64_t now) const;
  void look_at_parked(Worker& worker, std::uint64_t now, Actions& actions);
  void answer(Worker& worker, const PendingPtr& pending, Actions& actions);
  void unpark(Worker& worker);
  void delay_delivery(const std::string& worker);
  void end_session(Worker& worker, Actions& actions);
  void session_ready(const std::shared_ptr<SessionRequest>& request,
                     const Then<SessionAnswer>& then);
  void wake_readers(Actions& actions);
  void log(std::string_view line) const {
    if (options_.log) options_.log(line);
  }

  DeskOptions options_;
  std::unique_ptr<env::Random> random_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool has_changed_ = false;
  bool is_stopped_ = false;
  bool is_recovered_ = false;
  std::shared_ptr<Recorder> recorder_;
  Recorder* engine_ = nullptr;  // the same; null: before the start, and after the stop
  dispatch::Dispatcher dispatcher_;
  dispatch::Watchdog watchdog_;
  LogStore logs_;
  std::unique_ptr<LogFile> log_file_;
  std::map<std::string, Worker, std::less<>> workers_;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> by_name_;  // node and name
  std::unordered_map<base::Hash, TaskState, base::HashOfHash> tasks_;             // looked up only
  std::set<std::pair<std::uint64_t, std::string>> parked_until_;
  std::set<std::string> touched_;  // workers whose parked request may have something to hear
  std::set<std::pair<std::uint64_t, std::string>> delayed_;  // when to touch them
  std::uint64_t place_not_before_ns_ = 0;
  std::uint64_t last_slow_ns_ = 0;  // when graces and denials were last looked at
  DeskFigures totals_;
  std::thread thread_;
};

}  // namespace holdfast::workers
