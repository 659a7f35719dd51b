// SPDX-License-Identifier: Apache-2.0
// The desk's life, and what operators ask it.
#include "workers/desk.h"

#include <chrono>
#include <utility>

#include "env/posix_disk.h"
#include "env/quiet_thread.h"
#include "workers/identity.h"
#include "workers/task_of.h"

namespace holdfast::workers {

std::shared_ptr<Desk> Desk::make(DeskOptions options) {
  return std::shared_ptr<Desk>(new Desk(std::move(options)));
}

Desk::Desk(DeskOptions options)
    : options_(std::move(options)),
      random_(env::posix_random()),
      dispatcher_(options_.dispatcher),
      watchdog_(options_.watchdog),
      logs_(options_.logs) {}

Desk::~Desk() { stop(); }

std::uint64_t Desk::now_ns() const {
  if (options_.now) return options_.now();
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

void Desk::start(std::shared_ptr<Recorder> recorder) {
  {
    const std::lock_guard lock(mutex_);
    recorder_ = std::move(recorder);
    engine_ = recorder_.get();
    if (!options_.log_folder.empty()) open_log_file();
    changed();
  }
  if (!options_.now) thread_ = env::quiet_thread([this] { loop(); });
}

// The world is open by now, so the folder is ours. Tasks run without it, too.
void Desk::open_log_file() {
  auto file = LogFile::open(
      env::posix_disk(), options_.log_folder, {}, [this](const LogReportOfTask& report) {
        logs_.append(report.task, report.dispatch, report.attempt, report.from, report.lines);
      });
  if (file) {
    log_file_ = std::move(*file);
  } else {
    log("logs of tasks are kept in memory only: " + file.error().to_string());
  }
}

void Desk::stop() {
  Actions actions;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    for (auto& [id, worker] : workers_) {
      if (const PendingPtr pending = worker.parked) {
        unpark(worker);
        actions.push_back([pending] { pending->then(std::move(pending->answer)); });
      }
    }
    changed_.notify_all();
  }
  run(actions);
  if (thread_.joinable()) thread_.join();
  std::unique_ptr<LogFile> file;  // it is written to its end after the lock is let go of
  const std::lock_guard lock(mutex_);
  file = std::move(log_file_);
  engine_ = nullptr;
}

void Desk::run(const Actions& actions) {
  for (const auto& action : actions) action();
}

void Desk::changed() {
  has_changed_ = true;
  changed_.notify_one();
}

void Desk::wake_readers(Actions& actions) {
  for (auto& reader : logs_.take_woken()) actions.push_back(std::move(reader));
}

bool Desk::knows(std::string_view worker, std::string_view secret) const {
  const base::Hash shown = secret_hash(secret);
  const std::lock_guard lock(mutex_);
  const auto at = workers_.find(worker);
  const base::Hash known =
      at == workers_.end() ? base::Hash() : base::Hash{at->second.info.secret.bytes};
  return same_hash(shown, known);
}

std::string Desk::mode_text(const Worker& worker) const {
  if (worker.info.mode == WorkerMode::kActive && worker.info.is_cordoned) return "cordoned";
  return std::string(name_of(worker.info.mode));
}

WorkerState Desk::state_of(const Worker& worker) const {
  WorkerState state;
  state.info = worker.info;
  state.info.leases = worker.deliveries.size();
  state.mode = mode_text(worker);
  state.is_live = watchdog_.is_live(worker.info.worker);
  state.has_session = !worker.session.empty();
  if (const auto heard = watchdog_.heard_ns(worker.info.worker))
    state.silent_ms = (now_ns() - *heard) / 1'000'000;
  if (const auto index = dispatcher_.fleet().find(worker.info.worker)) {
    const dispatch::Candidate& candidate = dispatcher_.fleet().at(*index);
    state.running = candidate.used_slots;
    state.slots = candidate.offer.slots;
    state.want = candidate.want;
    state.recipes = candidate.recipes;
  }
  return state;
}

std::vector<WorkerState> Desk::list_workers(std::string_view after, std::size_t limit) const {
  const std::lock_guard lock(mutex_);
  std::vector<WorkerState> states;
  for (auto at = workers_.upper_bound(after); at != workers_.end() && states.size() < limit; ++at)
    states.push_back(state_of(at->second));
  return states;
}

std::optional<WorkerState> Desk::worker(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto at = workers_.find(id);
  if (at == workers_.end()) return std::nullopt;
  return state_of(at->second);
}

std::optional<std::string> Desk::find_worker(std::string_view id_or_name) const {
  const std::lock_guard lock(mutex_);
  if (workers_.contains(id_or_name)) return std::string(id_or_name);
  std::optional<std::string> found;
  for (const auto& [id, worker] : workers_) {
    if (worker.info.name != id_or_name || worker.info.mode == WorkerMode::kLeft ||
        worker.info.mode == WorkerMode::kLost)
      continue;
    if (found) return std::nullopt;
    found = id;
  }
  return found;
}

dispatch::Explanation Desk::explain(const Hash& intent) const {
  const std::lock_guard lock(mutex_);
  return dispatcher_.explain({intent.bytes});
}

DeskFigures Desk::figures() const {
  const std::lock_guard lock(mutex_);
  DeskFigures figures = totals_;
  figures.queues = dispatcher_.queues();
  figures.queues.try_emplace(std::string(tasks::kDefaultQueue));  // it is there without a task, too
  figures.log_bytes = logs_.bytes();
  if (log_file_) figures.dropped_logs = log_file_->dropped();
  for (const auto& [id, worker] : workers_) {
    if (watchdog_.is_live(id)) ++figures.live_workers;
    if (!worker.session.empty()) ++figures.sessions;
    const auto index = dispatcher_.fleet().find(id);
    const auto& recipes = index ? dispatcher_.fleet().at(*index).recipes : std::nullopt;
    if (watchdog_.is_live(id) && recipes && !recipes->swapping.empty()) ++figures.swapping_workers;
  }
  return figures;
}

std::optional<LogPage> Desk::read_log(std::string_view task, std::uint64_t after,
                                      std::size_t most) const {
  const std::lock_guard lock(mutex_);
  return logs_.read(task, after, most);
}

std::uint64_t Desk::wait_for_log(const std::string& task, std::uint64_t after,
                                 std::function<void()> then) {
  const std::lock_guard lock(mutex_);
  return logs_.wait(task, after, std::move(then));
}

void Desk::stop_waiting_for_log(std::string_view task, std::uint64_t wait) {
  const std::lock_guard lock(mutex_);
  logs_.stop_waiting(task, wait);
}

}  // namespace holdfast::workers
