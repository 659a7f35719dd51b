// SPDX-License-Identifier: Apache-2.0
#include "node/loop.h"

#include <algorithm>
#include <utility>

#include "base/crc32c.h"

namespace holdfast::node {
namespace {

// How much one turn takes, so that a batch that has become durable is not kept waiting.
constexpr std::size_t kInputsPerTurn = 256;
constexpr std::size_t kTimersPerTurn = 256;

// A slice, and what of it control and the inbox can be sure of (node/loop.h).
constexpr std::size_t kSlice = 32;
constexpr std::size_t kControlShare = 8;
constexpr std::size_t kInboxShare = 8;

// How many effects of each kind that were held back one turn starts.
constexpr std::size_t kHeldPerTurn = 256;

// How long a turn writes ahead for a snapshot, and in how many parts at most: a clock may stand
// still.
constexpr std::int64_t kAheadNs = 500'000;
constexpr int kPartsAhead = 4;

// So few cells are left to the snapshot itself.
constexpr std::size_t kFewDirty = 1024;

// Who may wait for a snapshot.
constexpr std::size_t kMostSnapshotAskers = 64;

base::Error too_many(std::string_view what) {
  return {base::ErrorCode::kUnavailable, "too many " + std::string(what) + " wait for the node"};
}

}  // namespace

Loop::Loop(kernel::World& world, store::Journal& journal, env::Clock& clock, env::Random& random,
           Executors executors, LoopOptions options)
    : journal_(journal),
      clock_(clock),
      options_(std::move(options)),
      core_(world, clock, random, std::move(executors), *this),
      timing_(options_.snapshots, options_.behind_snapshot, clock.since_boot_ns()) {}

base::Result<void> Loop::recover() {
  TRY(core_.recover());
  for (const auto& [kind, count] : core_.unperformed())
    say_trouble({base::ErrorCode::kNotFound, std::to_string(count) + " effects stay open"},
                "this node has no executor '" + kind + "'");
  return {};
}

// What comes in.

// Whoever is woken by these need not wait for the mutex first.
base::Result<void> Loop::send(Input input, Heard heard) {
  std::unique_lock lock(mutex_);
  if (stopping_ || failure_) return why_ended();
  if (is_full_ && !input.ends_work()) {
    ++figures_.refused_for_room;
    return no_room();
  }
  const bool is_control = input.is_control();
  Line& lane = is_control ? control_ : inbox_;
  if (!lane.has_room(input, is_control ? options_.control : options_.inbox, options_.inbox_bytes)) {
    ++figures_.refused_for_room;
    return too_many(is_control ? "control requests" : "inputs");
  }
  lane.add({std::move(input), std::move(heard)});
  const bool wakes = wakes_reducer(is_control);
  lock.unlock();
  if (wakes) for_reducer_.notify_one();
  return {};
}

base::Result<void> Loop::look(Look look, LookKind kind) {
  std::unique_lock lock(mutex_);
  if (stopping_ || failure_) return why_ended();
  Input nothing = Input::go_on();
  if (kind == LookKind::kAsks && !inbox_.has_room(nothing, options_.inbox, options_.inbox_bytes))
    return too_many("inputs");
  inbox_.add({std::move(nothing), nullptr, std::move(look)});
  const bool wakes = wakes_reducer();
  lock.unlock();
  if (wakes) for_reducer_.notify_one();
  return {};
}

base::Result<void> Loop::ask_for_snapshot(Taken taken) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || failure_) return why_ended();
  if (!options_.begin_snapshot)
    return base::Error(base::ErrorCode::kConflict, "this node takes no snapshots");
  if (is_full_) return no_room();
  if (snapshot_askers_.size() >= kMostSnapshotAskers)
    return base::Error(base::ErrorCode::kUnavailable, "too many wait for a snapshot");
  snapshot_askers_.push_back(std::move(taken));
  for_reducer_.notify_one();
  return {};
}

void Loop::LineReports::report(const kernel::ReceiptArrived& receipt) {
  loop_.add_result(line_, Input::receipt(receipt));
}
void Loop::LineReports::report(const kernel::ProgressArrived& progress) {
  loop_.add_result(line_, Input::progress(progress));
}

// An answer that nobody hears: what it holds goes when the receipt is durable.
void Loop::LineReports::report_with_pin(const kernel::ReceiptArrived& receipt,
                                        executors::BlobPin pin) {
  loop_.add_result(line_, Input::receipt(receipt), [pin = std::move(pin)](const auto&) {});
}

bool Loop::LineReports::offer(const kernel::ProgressArrived& progress, HeardProgress heard) {
  return loop_.add_result(line_, Input::progress(progress), std::move(heard));
}

executors::Reports& Loop::reports_of(std::string_view workflow, base::ByteView key) {
  constexpr std::size_t kGroups = TurnLines<Waiting>::kGroups;
  const std::size_t group = base::crc32c(key) % kGroups;
  const std::lock_guard lock(mutex_);
  auto found = reports_.find(workflow);
  if (found == reports_.end()) {
    found = reports_.emplace(std::string(workflow), std::deque<LineReports>()).first;
    const std::size_t first = results_.add_group();
    for (std::size_t i = 0; i < kGroups; ++i) found->second.emplace_back(*this, first + i);
  }
  return found->second[group];
}

bool Loop::add_result(std::size_t line, Input input, Heard heard) {
  std::unique_lock lock(mutex_);
  if (!input.ends_work() && !results_.has_room(input, options_.inbox, options_.inbox_bytes))
    return false;
  results_.add(line, {std::move(input), std::move(heard)});
  const bool wakes = wakes_reducer();
  lock.unlock();
  if (wakes) for_reducer_.notify_one();
  return true;
}

// How it ends.

void Loop::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for_reducer_.notify_one();
  for_writer_.notify_one();
  for_preparer_.notify_one();
  for_keeper_.notify_one();
}

void Loop::shut_down_executors() {
  core_.shut_down_executors();
  const std::lock_guard lock(mutex_);
  executors_down_ = true;
  for_reducer_.notify_one();
}

void Loop::end_with(std::unique_lock<std::mutex> lock, base::Error error) {
  if (failure_) return;
  failure_ = std::move(error);
  for_reducer_.notify_one();
  for_writer_.notify_one();
  for_preparer_.notify_one();
  for_keeper_.notify_one();
  const base::Error why = why_ended();
  lock.unlock();
  if (options_.ended) options_.ended(why);
}

std::optional<base::Error> Loop::failure() {
  const std::lock_guard lock(mutex_);
  if (!failure_) return std::nullopt;
  return why_ended();
}

LoopFigures Loop::figures() {
  const std::lock_guard lock(mutex_);
  LoopFigures figures = figures_;
  figures.held_effects = core_.held_effects();
  figures.waiting_inputs = control_.size() + inbox_.size() + results_.size();
  figures.waiting_results = results_.size();
  figures.replay_ns = timing_.replay_ns();
  return figures;
}

LoopCondition Loop::condition() {
  const std::lock_guard lock(mutex_);
  if (stopping_ || failure_) return LoopCondition::kEnded;
  if (!is_full_) return LoopCondition::kReady;
  return not_prepared_.empty() ? LoopCondition::kDiskFull : LoopCondition::kNoFiles;
}

base::Error Loop::why_ended() const {
  if (!failure_) return {base::ErrorCode::kEnded, "the node has stopped"};
  return base::Error(failure_->code(), std::string(failure_->where()),
                     std::string(failure_->message()))
      .from(failure_->origin());
}

bool Loop::has_ended() const {
  if (stage_ != Stage::kIdle || is_releasing_) return false;
  return failure_ || (stopping_ && executors_down_ && core_.batch().empty() && !has_input());
}

bool Loop::is_over() {
  const std::lock_guard lock(mutex_);
  return has_ended();
}

// Reducing.

bool Loop::can_turn() const {
  if (failure_) return has_ended();
  const bool has_more = has_input() || (core_.wants_to_go_on() && !stopping_ && !is_full_);
  const bool rests = rests_for_snapshot();
  return (stopping_ && core_.has_watchers()) || core_.has_clock_news() || writes_ahead() ||
         core_.may_start_held() || (has_room() && has_more && !rests) ||
         (has_room() && rests && rests_but_for_control() && has_control()) ||
         (stage_ == Stage::kIdle && (!core_.batch().empty() || wants_snapshot() || has_ended()));
}

bool Loop::has_turn() {
  const std::lock_guard lock(mutex_);
  return can_turn() || (rings_timers() && core_.has_timer_due());
}

// Woken for each input, it would look at a full batch thousands of times a second.
void Loop::wait_as_reducer(std::unique_lock<std::mutex>& lock) {
  const bool rests = rests_for_snapshot();
  is_woken_by_input_ = has_room() && !rests;
  is_woken_by_control_ = has_room() && (!rests || rests_but_for_control());
  for_reducer_.wait(lock);
  is_woken_by_input_ = is_woken_by_control_ = false;
}

bool Loop::wakes_reducer(bool is_control) {
  const bool wakes = is_control ? is_woken_by_control_ : is_woken_by_input_;
  if (wakes) is_woken_by_input_ = is_woken_by_control_ = false;
  return wakes;
}

bool Loop::wait_for_turn(env::Alarm& alarm) {
  std::unique_lock lock(mutex_);
  while (!can_turn()) {
    waits_for_journal_ = !core_.batch().empty() || wants_snapshot();
    waits_until_ns_ = core_.next_timer_ns();
    if (rings_timers() && !core_.set(alarm)) break;
    wait_as_reducer(lock);
  }
  if (!has_ended()) return true;
  is_over_ = true;
  for_writer_.notify_one();
  for_preparer_.notify_one();
  for_keeper_.notify_one();
  lock.unlock();
  let_go();
  return false;
}

void Loop::look_at_the_clock() {
  const std::lock_guard lock(mutex_);
  for_reducer_.notify_one();
}

// Nobody who still waits will be answered. What they handed over may do anything when it goes, so
// it goes without the mutex.
void Loop::let_go() {
  core_.let_go();
  taken_.clear();
  next_taken_ = 0;
  Line control;
  Line inbox;
  Batch batch;
  std::vector<Taken> askers;
  std::vector<Taken> others;
  const std::lock_guard lock(mutex_);
  std::swap(askers, snapshot_askers_);
  std::swap(others, finishing_askers_);
  std::swap(control, control_);
  std::swap(inbox, inbox_);
  std::swap(batch, at_journal_);
}

bool Loop::is_snapshot_due() const {
  return options_.begin_snapshot && (timing_.is_due() || !snapshot_askers_.empty()) &&
         !is_finishing_ && !stopping_ && !is_full_;
}

// Until one can begin, or so much came that the one before must be finished first, or the next.
bool Loop::rests_for_snapshot() const {
  return wants_snapshot() || (is_finishing_ && !stopping_ && timing_.is_late()) ||
         (timing_.is_overdue() && is_snapshot_due());
}

bool Loop::rings_timers() const { return !stopping_ && !failure_ && !rests_for_snapshot(); }

void Loop::turn() {
  if (!is_alive()) return;
  auto reduced = core_.start_held(kHeldPerTurn);
  const std::int64_t begun_ns = clock_.since_boot_ns();
  if (reduced) reduced = reduce_some();
  reduced_ns_ += clock_.since_boot_ns() - begun_ns;
  if (std::string news = core_.take_clock_news(); !news.empty())
    say_trouble({base::ErrorCode::kConflict, std::move(news)}, "clock");
  // First of all: answers wait for it, and the disk has nothing to do meanwhile.
  if (reduced) pass_on();
  write_blobs_if_many();
  if (reduced) reduced = write_ahead_if_due();
  if (reduced) reduced = begin_snapshot_if_due();
  if (!reduced) end_with(std::unique_lock(mutex_), std::move(reduced).error());
}

// False: the loop has failed.
bool Loop::is_alive() {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return false;
    if (!stopping_) return true;
  }
  core_.stop_starting();
  core_.let_watchers_go();  // executors may wait for them
  return true;
}

// Every lane has its share, and what it leaves goes to the others.
void Loop::take_slice() {
  taken_.clear();
  next_taken_ = 0;
  const std::lock_guard lock(mutex_);
  const auto take = [this](auto& lane, std::size_t most) {
    for (; most > 0 && taken_.size() < kSlice && !lane.empty(); --most)
      taken_.push_back(lane.take());
  };
  take(control_, kControlShare);
  take(inbox_, kInboxShare);
  take(results_, kSlice);
  take(inbox_, kSlice);
  take(control_, kSlice);
  if (!taken_.empty()) ++figures_.slices;
}

Loop::Waiting* Loop::next_input() {
  if (!has_taken()) take_slice();
  return has_taken() ? &taken_[next_taken_++] : nullptr;
}

bool Loop::has_control() const {
  const auto is_control = [](const Waiting& waiting) { return waiting.input.is_control(); };
  return !control_.empty() || std::any_of(taken_.begin() + static_cast<std::ptrdiff_t>(next_taken_),
                                          taken_.end(), is_control);
}

// No more than a slice's share in a turn. What a slice that was begun still has came first.
base::Result<void> Loop::reduce_control() {
  std::size_t i = 0;
  for (std::size_t at = next_taken_; at < taken_.size(); ++i) {
    while (at < taken_.size() && !taken_[at].input.is_control()) ++at;
    if (at == taken_.size()) break;
    if (i == kControlShare || !has_room()) return {};
    Waiting next = std::move(taken_[at]);
    taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(at));
    TRY(take_in(next));
  }
  for (; i < kControlShare && has_room(); ++i) {
    std::unique_lock lock(mutex_);
    if (control_.empty()) return {};
    Waiting next = control_.take();
    if (i == 0) ++figures_.slices;
    lock.unlock();
    TRY(take_in(next));
  }
  return {};
}

// Mail that was left over gets one tick a turn, so that a cascade without end keeps nobody out. It
// does not keep the loop from stopping either: it goes on after the next start.
base::Result<void> Loop::reduce_some() {
  bool fires = false;
  bool rests = false;
  bool goes_on = false;
  bool takes_control = false;
  {
    const std::lock_guard lock(mutex_);
    fires = rings_timers();
    rests = rests_for_snapshot();
    takes_control = rests_but_for_control();
    goes_on = core_.wants_to_go_on() && !stopping_ && !is_full_ && has_room();
  }
  if (rests) return takes_control ? reduce_control() : base::Result<void>();
  if (fires) core_.fire_timers(kTimersPerTurn);
  if (goes_on) TRY(core_.reduce(Input::go_on(), nullptr));
  for (std::size_t i = 0; i < kInputsPerTurn && has_room(); ++i) {
    Waiting* const next = next_input();
    if (next == nullptr) break;
    TRY(take_in(*next));
  }
  if (!has_taken()) {  // what they hold may be large
    taken_.clear();
    next_taken_ = 0;
  }
  return {};
}

base::Result<void> Loop::take_in(Waiting& waiting) {
  if (waiting.look) {
    waiting.look(core_);
    waiting.look = nullptr;
    return {};
  }
  if (waiting.input.ends_work() || !is_full_)
    return core_.reduce(waiting.input, std::move(waiting.heard));
  if (waiting.heard) waiting.heard(refusal_for_want_of_room());
  waiting.heard = nullptr;
  return {};
}

// Without room the snapshot says so.
base::Result<void> Loop::write_ahead_if_due() {
  bool was_writing = false;
  {
    const std::lock_guard lock(mutex_);
    if (!writes_ahead()) return {};
    was_writing = writes_blobs_;
  }
  const bool is_crowded = options_.write_blobs_ahead && options_.is_crowded_ahead();
  const std::int64_t begun_ns = clock_.since_boot_ns();
  auto more = is_crowded ? base::Result<bool>(true) : write_slice_ahead();
  const bool lacks_room = !more && more.error().code() == base::ErrorCode::kUnavailable;
  if (!more && !lacks_room) return std::move(more).error();
  write_blobs_if_many();
  const std::lock_guard lock(mutex_);
  is_crowded_ = is_crowded;
  timing_.add_cost(clock_.since_boot_ns() - begun_ns);
  // Where blobs are being written there will be room; else the disk is full.
  const bool gets_room = writes_blobs_ || was_writing;
  if ((lacks_room || is_crowded) && !gets_room) rounds_ahead_ = kRoundsAhead;
  if (more && !*more) end_round_ahead();
  return {};
}

// False: a round is over.
base::Result<bool> Loop::write_slice_ahead() {
  const std::int64_t end_ns = clock_.since_boot_ns() + kAheadNs;
  for (int part = 0; part < kPartsAhead; ++part) {
    if (!TRY(core_.write_ahead())) return false;
    if (clock_.since_boot_ns() >= end_ns) break;
  }
  return true;
}

void Loop::end_round_ahead() {
  ++rounds_ahead_;
  if (core_.dirty_cells() <= kFewDirty) rounds_ahead_ = kRoundsAhead;
}

// Whoever keeps writes them; not while a snapshot is being finished (node/store_blobs.h). One that
// can begin does not wait for what comes now.
void Loop::write_blobs_if_many() {
  if (!options_.write_blobs_ahead || !options_.has_much_ahead()) return;
  const std::lock_guard lock(mutex_);
  if (writes_blobs_ || blobs_lack_room_ || is_finishing_ || failure_) return;
  if (rounds_ahead_ == kRoundsAhead) return;
  writes_blobs_ = true;
  for_keeper_.notify_one();
}

// When nothing is under way: only then are all records durable.
base::Result<void> Loop::begin_snapshot_if_due() {
  {
    const std::lock_guard lock(mutex_);
    if (!wants_snapshot() || stage_ != Stage::kIdle || !core_.batch().records.empty()) return {};
    finishing_askers_ = std::exchange(snapshot_askers_, {});
    is_crowded_ = false;
  }
  rounds_ahead_ = 0;
  tell_forgotten_ids();
  const std::int64_t begun_ns = clock_.since_boot_ns();
  auto begun = options_.begin_snapshot(core_.last_ns());
  {
    const std::lock_guard lock(mutex_);
    blobs_lack_room_ = false;
    timing_.add_cost(clock_.since_boot_ns() - begun_ns);
    timing_.begun(clock_.since_boot_ns());
  }
  if (begun) {
    const std::lock_guard lock(mutex_);
    finish_snapshot_ = std::move(*begun);
    is_finishing_ = true;
    for_keeper_.notify_one();
    return {};
  }
  base::Result<void> failed = std::move(begun).error();
  tell_askers(failed);
  if (failed.error().code() != base::ErrorCode::kUnavailable) return failed;
  say_trouble(std::move(failed).error(), "a snapshot is put off");
  return {};
}

void Loop::tell_askers(const base::Result<void>& taken) {
  std::unique_lock lock(mutex_);
  const std::vector<Taken> askers = std::exchange(finishing_askers_, {});
  lock.unlock();
  for (const Taken& asker : askers) asker(taken);
}

// With a snapshot, so that a flood of events is not a flood of messages.
void Loop::tell_forgotten_ids() {
  const std::uint64_t now = core_.forgotten_event_ids();
  if (now == told_forgotten_ids_) return;
  say_trouble({base::ErrorCode::kUnavailable,
               std::to_string(now - told_forgotten_ids_) +
                   " ids of events were forgotten within 24 hours, as there were too many: such "
                   "an event that is sent again would happen twice"},
              "event ids");
  told_forgotten_ids_ = now;
}

void Loop::say_trouble(base::Error error, std::string_view place) {
  if (options_.trouble) options_.trouble(std::move(error).within(place));
}

// Gives the batch to the journal, if that is free; one that has failed gets no more.
void Loop::pass_on() {
  std::unique_lock lock(mutex_);
  if (failure_ || stage_ != Stage::kIdle || core_.batch().empty()) return;
  at_journal_ = core_.take_batch(std::exchange(spare_, {}));
  timing_.reduced(at_journal_.records.size(), std::exchange(reduced_ns_, 0),
                  clock_.since_boot_ns());
  auto turn = is_written_at_once() ? journal_.take() : std::nullopt;
  if (!turn) {
    stage_ = Stage::kGiven;
    lock.unlock();
    for_writer_.notify_one();
    return;
  }
  stage_ = Stage::kKept;
  lock.unlock();
  write_batch(*turn);
  end_turn(std::move(*turn));
  release();
}

// Not while those of the batch before are still hearing of it.
bool Loop::is_written_at_once() const {
  const bool goes_on = core_.wants_to_go_on() && !stopping_ && !is_full_;
  return at_journal_.records.size() <= options_.written_at_once && !is_releasing_ && !has_input() &&
         !goes_on;
}

}  // namespace holdfast::node
