// SPDX-License-Identifier: Apache-2.0
// Many runs: who is where, who has something to do, who is due.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "adapters/memory_run.h"
#include "adapters/step_program.h"
#include "base/hex.h"

namespace holdfast::detail {

using Run = adapters::MemoryRun;
using SharedRun = std::shared_ptr<Run>;

namespace {

// Loops of runs that are over, or have left memory.
constexpr std::size_t kSpareLoops = 64;

using SteadyTime = std::chrono::steady_clock::time_point;

// Longer than anybody waits.
constexpr Duration kLongestLimit = std::chrono::hours(24 * 365);

// That this thread runs something of a host, be it for another one inside: whoever does cannot
// wait until nothing is run.
class Inside {
 public:
  explicit Inside(const adapters::RunHost& host) : host_(&host), outer_(innermost) {
    innermost = this;
  }
  ~Inside() { innermost = outer_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  static bool is(const adapters::RunHost& host) {
    const Inside* at = innermost;
    while (at != nullptr && at->host_ != &host) at = at->outer_;
    return at != nullptr;
  }

 private:
  static thread_local const Inside* innermost;
  const adapters::RunHost* host_;
  const Inside* outer_;
};
thread_local const Inside* Inside::innermost = nullptr;

}  // namespace

struct MemoryHost::Body : public adapters::RunHost {
  Body(StepProgram the_program, MemoryOptions the_options)
      : program(std::move(the_program)), given(std::move(the_options)), own_now(given.begin) {
    if (given.threads == 0) return;
    for (std::size_t i = 0; i < given.threads; ++i) threads.emplace_back([this] { work(true); });
    threads.emplace_back([this] { work(false); });
  }
  ~Body() override {
    {
      const std::lock_guard lock(mutex);
      is_closing = true;
      for (const Running& one : running) *one.job->stopped = true;
    }
    wake_all();
    for (std::thread& thread : threads) thread.join();
  }

  // A body of a run.
  struct Job {
    SharedRun run;
    StepJob job;
  };
  struct Running {
    const StepJob* job = nullptr;
    std::optional<SteadyTime> late_at;  // then it has had the time that it may take
  };

  const MemoryOptions& options() const override { return given; }
  Time now() const override {
    return given.machine_clock ? std::chrono::system_clock::now() : own_now.load();
  }
  std::unique_ptr<StepLoop> take_loop(StepAdapter& adapter, const Bytes& key,
                                      const std::string& id) override {
    std::unique_ptr<StepLoop> loop;
    {
      const std::lock_guard lock(mutex);
      if (!spare_loops.empty()) {
        loop = std::move(spare_loops.back());
        spare_loops.pop_back();
      }
    }
    if (!loop) return std::make_unique<StepLoop>(program, adapter, key, id);
    loop->begin_anew(adapter, key, id);
    return loop;
  }
  void give_loop(std::unique_ptr<StepLoop> loop) override {
    const std::lock_guard lock(mutex);
    if (spare_loops.size() < kSpareLoops) spare_loops.push_back(std::move(loop));
  }
  void schedule(const SharedRun& run) override {
    {
      const std::lock_guard lock(mutex);
      loops.push_back(run);
    }
    wake_one();
  }
  void hand_over(const SharedRun& run, StepJob job) override {
    {
      const std::lock_guard lock(mutex);
      jobs.push_back({run, std::move(job)});
    }
    for_bodies.notify_one();
  }
  void wake_one() {
    if (given.threads == 0) return;
    for_loops.notify_one();
    for_bodies.notify_one();
  }
  void wake_all() {
    for_loops.notify_all();
    for_bodies.notify_all();
  }

  // The first to do, without the lock.
  bool run_loop(std::unique_lock<std::mutex>& lock) {
    if (loops.empty()) return false;
    SharedRun run = std::move(loops.front());
    loops.pop_front();
    ++active;
    lock.unlock();
    {
      const Inside inside(*this);
      step(run);
    }
    run.reset();
    lock.lock();
    --active;
    tell_rest();
    return true;
  }
  bool run_body(std::unique_lock<std::mutex>& lock) {
    if (jobs.empty()) return false;
    std::optional<Job> job = std::move(jobs.front());
    jobs.pop_front();
    ++active;
    Running& one = running.emplace_back();
    one.job = &job->job;
    if (job->job.limit)
      one.late_at = std::chrono::steady_clock::now() + std::min(*job->job.limit, kLongestLimit);
    tell_rest();  // there may be nobody left to run the others
    lock.unlock();
    {
      const Inside inside(*this);
      StepMessage result = job->job.run();
      static_cast<void>(job->run->deliver(result));  // one that has ended needs it no more
    }
    lock.lock();
    std::erase_if(running, [&](const Running& each) { return each.job == &job->job; });
    lock.unlock();
    job.reset();
    lock.lock();
    --active;
    tell_rest();
    return true;
  }

  void step(const SharedRun& run) {
    const Run::Left left = run->run();
    if (left == Run::Left::kToDo) return schedule(run);
    if (left == Run::Left::kNothing) return;
    const bool has_run_ended = left == Run::Left::kEnded;
    if (has_run_ended && given.ended) tell(*run);
    const std::lock_guard lock(mutex);
    if (has_run_ended) has_ended.notify_all();
    if (has_run_ended && !given.ended) return;
    forget(run);
  }

  // What it throws is not for whoever happens to be here: a thread of ours, or a call about another
  // run.
  void tell(const Run& run) {
    try {
      given.ended(run.key, *run.look().outcome);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  }
  void throw_what_was_thrown() {
    if (Inside::is(*this)) return;
    std::unique_lock lock(mutex);
    const std::exception_ptr first = std::exchange(thrown, nullptr);
    lock.unlock();
    if (first) std::rethrow_exception(first);
  }

  void forget(const SharedRun& run) {
    const auto found = runs.find(text_of(run->key));
    if (found != runs.end() && found->second == run && run->forget()) runs.erase(found);
  }

  void set_timer(const SharedRun& run, std::optional<Time> at) override {
    const std::lock_guard lock(mutex);
    set_timer_here(run, at);
    if (at && given.machine_clock) wake_one();  // it may be the first now
  }
  void set_timer_here(const SharedRun& run, std::optional<Time> at) {
    if (run->has_timer && at && run->timer->first == *at) return;
    if (run->has_timer.exchange(false)) timers.erase(run->timer);
    if (!at) return;
    run->timer = timers.emplace(*at, run);
    run->has_timer = true;
  }

  // Those that are due by then. They find out themselves what is.
  void ring(Time until) {
    while (!timers.empty() && timers.begin()->first <= until) {
      const SharedRun run = timers.begin()->second;
      set_timer_here(run, std::nullopt);
      if (!run->wake()) continue;
      loops.push_back(run);
      wake_one();
    }
  }

  // One thread runs no bodies: whatever they do, events are taken and time limits are kept.
  void work(bool runs_bodies) {
    std::condition_variable& woken = runs_bodies ? for_bodies : for_loops;
    std::unique_lock lock(mutex);
    while (!is_closing) {
      if (given.machine_clock) ring(now());
      if (runs_bodies && run_body(lock)) continue;
      if (run_loop(lock)) continue;
      if (given.machine_clock && !timers.empty()) {
        const Time next = timers.begin()->first;  // a copy: the timer may go while this waits
        woken.wait_until(lock, next);
      } else {
        woken.wait(lock);
      }
    }
  }

  bool is_at_rest() const { return active == 0 && loops.empty() && jobs.empty(); }

  // With a clock that stands still, a body that has had the time that it may take is not waited
  // for: it may well end only when that clock moves. Nothing: something else is to be done before.
  std::optional<SteadyTime> all_late_at() const {
    if (given.machine_clock || !loops.empty() || active != running.size()) return std::nullopt;
    if (!jobs.empty() && running.size() < given.threads) return std::nullopt;
    SteadyTime latest = {};
    for (const Running& one : running) {
      if (!one.late_at) return std::nullopt;
      if (!jobs.empty() && *one.job->stopped) return std::nullopt;  // it makes room for another
      latest = std::max(latest, *one.late_at);
    }
    return latest;
  }

  void tell_rest() {
    if (is_at_rest() || all_late_at()) settled.notify_all();
  }

  // What somebody else runs is waited for, unless that is us.
  void settle() {
    if (Inside::is(*this)) return;
    std::unique_lock lock(mutex);
    while (!is_at_rest()) {
      if (given.threads == 0 && run_loop(lock)) continue;
      const auto late_at = all_late_at();
      if (!late_at) {
        settled.wait(lock);
      } else if (*late_at > std::chrono::steady_clock::now()) {
        settled.wait_until(lock, *late_at);
      } else {
        return;
      }
    }
  }

  static std::string text_of(const Bytes& key) { return {key.begin(), key.end()}; }

  SharedRun find(const Bytes& key) const {
    const std::lock_guard lock(mutex);
    const auto found = runs.find(text_of(key));
    return found == runs.end() ? nullptr : found->second;
  }

  // A new one, if there is none.
  SharedRun run_of(const Bytes& key) {
    const std::lock_guard lock(mutex);
    const auto found = runs.find(text_of(key));
    if (found != runs.end()) return found->second;
    if (runs.size() >= given.max_runs) return nullptr;
    // One that had the same key, and is forgotten, was another.
    auto run = std::make_shared<Run>(
        *this, key,
        program.body()->workflow + "/" + base::to_hex(key) + "/" + std::to_string(++last_run));
    runs.emplace(text_of(key), run);
    return run;
  }

  const StepProgram program;
  const MemoryOptions given;
  std::atomic<Time> own_now;
  mutable std::mutex mutex;
  std::condition_variable for_loops;
  std::condition_variable for_bodies;
  std::condition_variable settled;
  mutable std::condition_variable has_ended;
  std::unordered_map<std::string, SharedRun> runs;
  std::vector<std::unique_ptr<StepLoop>> spare_loops;
  std::deque<SharedRun> loops;  // that have to be run
  std::deque<Job> jobs;
  std::multimap<Time, SharedRun> timers;
  std::uint64_t last_run = 0;
  std::exception_ptr thrown;  // by whoever is told of ends, and nobody has seen it
  std::size_t active = 0;
  std::vector<Running> running;  // of the active
  bool is_closing = false;
  std::vector<std::thread> threads;
};

namespace {

Result<Done> said(Run::Delivered delivered) {
  switch (delivered) {
    case Run::Delivered::kYes: return Done{};
    case Run::Delivered::kFull:
      return Error{ErrorCode::kUnavailable, "max_mail: too many events wait in this run"};
    case Run::Delivered::kEnded: return Error{ErrorCode::kConflict, "the run has ended"};
    case Run::Delivered::kForgotten: return Error{ErrorCode::kNotFound, "there is no such run"};
  }
  return Done{};
}

}  // namespace

MemoryHost::MemoryHost(std::unique_ptr<Body> body) : body_(std::move(body)) {}
MemoryHost::~MemoryHost() = default;

Result<std::unique_ptr<MemoryHost>> MemoryHost::open(StepProgram program, MemoryOptions options) {
  if (options.machine_clock && options.threads == 0)
    return Error{ErrorCode::kInvalid, "machine_clock: it needs a thread that waits for timers"};
  if (options.max_mail == 0 || options.max_runs == 0)
    return Error{ErrorCode::kInvalid, "max_mail, max_runs: without room nothing can come"};
  return std::unique_ptr<MemoryHost>(
      new MemoryHost(std::make_unique<Body>(std::move(program), std::move(options))));
}

Result<Done> MemoryHost::post(const Bytes& key, std::string_view schema, Bytes value) {
  // Here the sender hears of it; in the loop it would be the end of the run.
  steps::Arena scratch;
  const auto good = body_->program.body()->event_of(schema, value, scratch);
  if (!good) return good.error();
  StepMessage message;
  message.schema = schema;
  message.value = std::move(value);
  while (true) {
    const SharedRun run = body_->run_of(key);
    if (!run) return Error{ErrorCode::kUnavailable, "max_runs: there are as many runs as may be"};
    // One that was forgotten meanwhile is not found again.
    const Run::Delivered delivered = run->deliver(message);
    if (delivered != Run::Delivered::kForgotten) return said(delivered);
  }
}

Result<Done> MemoryHost::cancel(const Bytes& key, std::string_view reason) {
  const SharedRun run = body_->find(key);
  if (!run) return Error{ErrorCode::kNotFound, "there is no such run"};
  StepMessage message;
  message.kind = StepInput::Kind::kCancel;
  message.message = reason;
  return said(run->deliver(message));
}

void MemoryHost::settle() {
  body_->settle();
  body_->throw_what_was_thrown();
}

Result<Done> MemoryHost::advance(Duration by) {
  if (body_->given.machine_clock)
    return Error{ErrorCode::kInvalid, "machine_clock: the clock of the machine cannot be moved"};
  const Time begun = now();
  const Time until = begun + std::clamp(by, Duration(0), Time::max() - std::max(begun, Time()));
  body_->settle();
  while (true) {
    {
      const std::lock_guard lock(body_->mutex);
      if (body_->timers.empty() || body_->timers.begin()->first > until) break;
      const Time next = std::max(body_->own_now.load(), body_->timers.begin()->first);
      body_->own_now = next;
      body_->ring(next);
    }
    body_->settle();
  }
  body_->own_now = until;
  body_->throw_what_was_thrown();
  return Done{};
}

Time MemoryHost::now() const { return body_->now(); }

std::optional<Time> MemoryHost::next_timer() const {
  const std::lock_guard lock(body_->mutex);
  if (body_->timers.empty()) return std::nullopt;
  return body_->timers.begin()->first;
}

Result<MemoryRun> MemoryHost::find(const Bytes& key) const {
  const SharedRun run = body_->find(key);
  if (!run) return Error{ErrorCode::kNotFound, "there is no such run"};
  return run->look();
}

Result<MemoryRun> MemoryHost::wait(const Bytes& key, Duration timeout) const {
  const SharedRun run = body_->find(key);
  if (!run) return Error{ErrorCode::kNotFound, "there is no such run"};
  const SteadyTime begun = std::chrono::steady_clock::now();
  const SteadyTime until =
      timeout < SteadyTime::max() - begun ? begun + timeout : SteadyTime::max();
  std::unique_lock lock(body_->mutex);
  if (!body_->has_ended.wait_until(lock, until, [&] { return run->has_ended(); }))
    return Error{ErrorCode::kTimedOut, "the run has not ended in time"};
  return run->look();
}

std::vector<StepEntry> MemoryHost::stream(const Bytes& key) const {
  const SharedRun run = body_->find(key);
  return run ? run->stream() : std::vector<StepEntry>();
}

std::optional<StepRecording> MemoryHost::recording(const Bytes& key) const {
  const SharedRun run = body_->find(key);
  return run ? run->recording() : std::nullopt;
}

Result<Done> MemoryHost::forget(const Bytes& key) {
  const SharedRun run = body_->find(key);
  if (!run) return Error{ErrorCode::kNotFound, "there is no such run"};
  if (!run->has_ended()) return Error{ErrorCode::kConflict, "the run has not ended"};
  const std::lock_guard lock(body_->mutex);
  body_->forget(run);
  return Done{};
}

MemoryFigures MemoryHost::figures() const {
  const std::lock_guard lock(body_->mutex);
  MemoryFigures figures;
  figures.runs = body_->runs.size();
  for (const auto& [key, run] : body_->runs) {
    const std::size_t bytes = run->released_bytes();
    figures.released += bytes == 0 ? 0 : 1;
    figures.released_bytes += bytes;
  }
  return figures;
}

}  // namespace holdfast::detail
