// SPDX-License-Identifier: Apache-2.0
#include "node/loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kernel/limits.h"
#include "store/journal_format.h"

namespace holdfast::node {
namespace {

// How much one turn takes, so that a batch that has become durable is not kept waiting.
constexpr std::size_t kInputsPerTurn = 256;
constexpr std::size_t kTimersPerTurn = 256;

// How long a disk that was full is taken to be still full.
constexpr std::int64_t kFullForNs = 1'000'000'000;

// How long a timer is waited for without a look at the clock: it may jump, or go on while the
// machine sleeps, and a thread that waits hears of neither.
constexpr std::uint64_t kLongestWaitNs = 1'000'000'000;

// Who may wait for a snapshot.
constexpr std::size_t kMostSnapshotAskers = 64;

constexpr std::string_view kDiskIsFull = "the disk is full";

}  // namespace

Loop::Loop(kernel::World& world, store::Journal& journal, env::Clock& clock, env::Random& random,
           Executors executors, LoopOptions options)
    : journal_(journal),
      clock_(clock),
      options_(std::move(options)),
      core_(world, clock, random, std::move(executors), *this),
      behind_snapshot_(options_.behind_snapshot) {}

base::Result<void> Loop::recover() {
  TRY(core_.recover());
  for (const auto& [kind, count] : core_.unperformed())
    say_trouble({base::ErrorCode::kNotFound, std::to_string(count) + " effects stay open"},
                "this node has no executor '" + kind + "'");
  return {};
}

// What comes in.

// One that is too large for an empty line would never be taken.
bool Loop::Line::has_room(const Input& input, const LoopOptions& limits) const {
  return waiting_.size() < limits.inbox &&
         (waiting_.empty() || bytes_ + input.size() <= limits.inbox_bytes);
}

void Loop::Line::add(Waiting waiting) {
  bytes_ += waiting.input.size();
  waiting_.push_back(std::move(waiting));
}

Loop::Waiting Loop::Line::take() {
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  bytes_ -= next.input.size();
  return next;
}

base::Result<void> Loop::send(Input input, Heard heard) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || failure_) return why_ended();
  if (is_full_) return base::Error(base::ErrorCode::kUnavailable, std::string(kDiskIsFull));
  if (!inbox_.has_room(input, options_))
    return base::Error(base::ErrorCode::kUnavailable, "too many inputs wait for the node");
  inbox_.add({std::move(input), std::move(heard)});
  for_reducer_.notify_one();
  return {};
}

base::Result<void> Loop::look(Look look, LookKind kind) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || failure_) return why_ended();
  Input nothing = Input::go_on();
  if (kind == LookKind::kAsks && !inbox_.has_room(nothing, options_))
    return base::Error(base::ErrorCode::kUnavailable, "too many inputs wait for the node");
  inbox_.add({std::move(nothing), nullptr, std::move(look)});
  for_reducer_.notify_one();
  return {};
}

base::Result<void> Loop::ask_for_snapshot(Taken taken) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || failure_) return why_ended();
  if (!options_.take_snapshot)
    return base::Error(base::ErrorCode::kConflict, "this node takes no snapshots");
  if (is_full_) return base::Error(base::ErrorCode::kUnavailable, std::string(kDiskIsFull));
  if (snapshot_askers_.size() >= kMostSnapshotAskers)
    return base::Error(base::ErrorCode::kUnavailable, "too many wait for a snapshot");
  snapshot_askers_.push_back(std::move(taken));
  for_reducer_.notify_one();
  return {};
}

void Loop::report(const kernel::ReceiptArrived& receipt) { add_result(Input::receipt(receipt)); }
void Loop::report(const kernel::ProgressArrived& progress) {
  add_result(Input::progress(progress));
}

void Loop::add_result(Input input) {
  const std::lock_guard lock(mutex_);
  if (!input.ends_work() && !results_.has_room(input, options_)) return;
  results_.add({std::move(input), nullptr});
  for_reducer_.notify_one();
}

// How it ends.

void Loop::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for_reducer_.notify_one();
  for_writer_.notify_one();
  for_preparer_.notify_one();
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
  figures.waiting_inputs = inbox_.size() + results_.size();
  return figures;
}

LoopCondition Loop::condition() {
  const std::lock_guard lock(mutex_);
  if (stopping_ || failure_) return LoopCondition::kEnded;
  return is_full_ ? LoopCondition::kDiskFull : LoopCondition::kReady;
}

base::Error Loop::why_ended() const {
  if (!failure_) return {base::ErrorCode::kUnavailable, "the node has stopped"};
  return {failure_->code(), std::string(failure_->where()), std::string(failure_->message())};
}

bool Loop::has_ended() const {
  if (failure_) return stage_ != Stage::kGiven;  // the writer leaves the batch behind
  return stopping_ && executors_down_ && stage_ == Stage::kIdle && core_.batch().empty() &&
         inbox_.empty() && results_.empty();
}

bool Loop::is_over() {
  const std::lock_guard lock(mutex_);
  return has_ended();
}

// Reducing.

bool Loop::can_turn() const {
  if (failure_) return has_ended();
  const bool has_input =
      !inbox_.empty() || !results_.empty() || (core_.wants_to_go_on() && !stopping_ && !is_full_);
  return stage_ == Stage::kDone || (stopping_ && core_.has_watchers()) ||
         (has_room() && has_input && !wants_snapshot()) ||
         (stage_ == Stage::kIdle && (!core_.batch().empty() || wants_snapshot() || has_ended()));
}

bool Loop::has_turn() {
  const std::lock_guard lock(mutex_);
  return can_turn() || (!stopping_ && core_.until_next_timer_ns() == 0);
}

bool Loop::wait_for_turn() {
  std::unique_lock lock(mutex_);
  while (!can_turn()) {
    const auto left_ns = stopping_ || failure_ ? std::nullopt : core_.until_next_timer_ns();
    if (left_ns == 0) break;
    if (left_ns) {
      for_reducer_.wait_for(lock, std::chrono::nanoseconds(std::min(*left_ns, kLongestWaitNs)));
    } else {
      for_reducer_.wait(lock);
    }
  }
  if (!has_ended()) return true;
  is_over_ = true;
  for_writer_.notify_one();
  for_preparer_.notify_one();
  lock.unlock();
  let_go();
  return false;
}

// Nobody who still waits will be answered. What they handed over may do anything when it goes, so
// it goes without the mutex.
void Loop::let_go() {
  core_.let_go();
  Line inbox;
  Batch batch;
  std::vector<Taken> askers;
  const std::lock_guard lock(mutex_);
  std::swap(askers, snapshot_askers_);
  std::swap(inbox, inbox_);
  std::swap(batch, at_journal_);
}

bool Loop::wants_snapshot() const {
  const bool is_due = options_.snapshot_every != 0 && behind_snapshot_ >= options_.snapshot_every;
  return options_.take_snapshot && (is_due || !snapshot_askers_.empty()) && !is_full_;
}

void Loop::turn() {
  if (!release_durable()) return;
  auto reduced = core_.resume();
  if (reduced) reduced = reduce_some();
  if (reduced) reduced = take_snapshot_if_due();
  if (!reduced) return end_with(std::unique_lock(mutex_), std::move(reduced).error());
  pass_on();
}

// False: the loop has failed.
bool Loop::release_durable() {
  std::unique_lock lock(mutex_);
  if (failure_) return false;
  if (stopping_) {
    core_.stop_starting();
    lock.unlock();
    core_.let_watchers_go();  // executors may wait for them
    lock.lock();
  }
  if (stage_ != Stage::kDone) return true;
  Batch durable = std::exchange(at_journal_, {});
  stage_ = Stage::kIdle;
  lock.unlock();
  core_.release(std::move(durable));
  return true;
}

// Results first: somebody waits for them already.
std::optional<Loop::Waiting> Loop::next_input(bool& takes_new_work) {
  const std::lock_guard lock(mutex_);
  takes_new_work = !is_full_;
  Line& from = results_.empty() ? inbox_ : results_;
  if (from.empty()) return std::nullopt;
  return from.take();
}

// Mail that was left over gets one tick a turn, so that a cascade without end keeps nobody out. It
// does not keep the loop from stopping either: it goes on after the next start.
base::Result<void> Loop::reduce_some() {
  bool stopping = false;
  bool waits_for_snapshot = false;
  bool takes_new_work = false;
  {
    const std::lock_guard lock(mutex_);
    stopping = stopping_;
    waits_for_snapshot = wants_snapshot();
    takes_new_work = !is_full_;
  }
  if (!stopping) core_.fire_timers(kTimersPerTurn);
  if (waits_for_snapshot) return {};
  if (core_.wants_to_go_on() && !stopping && has_room() && takes_new_work)
    TRY(core_.reduce(Input::go_on(), nullptr));
  for (std::size_t i = 0; i < kInputsPerTurn && has_room(); ++i) {
    auto next = next_input(takes_new_work);
    if (!next) break;
    if (next->look) {
      next->look(core_);
      continue;
    }
    if (!next->input.ends_work() && !takes_new_work) {
      if (next->heard)
        next->heard(kernel::Refused(base::ErrorCode::kUnavailable, std::string(kDiskIsFull)));
      continue;
    }
    TRY(core_.reduce(next->input, std::move(next->heard)));
  }
  return {};
}

// When nothing is under way: only then are all records durable.
base::Result<void> Loop::take_snapshot_if_due() {
  std::vector<Taken> askers;
  {
    const std::lock_guard lock(mutex_);
    if (!wants_snapshot() || stage_ != Stage::kIdle || !core_.batch().records.empty()) return {};
    std::swap(askers, snapshot_askers_);
  }
  behind_snapshot_ = 0;
  auto taken = options_.take_snapshot(core_.last_ns());
  for (const Taken& asker : askers) asker(taken);
  if (taken || taken.error().code() != base::ErrorCode::kUnavailable) return taken;
  say_trouble(std::move(taken).error(), "a snapshot is put off");
  return {};
}

void Loop::say_trouble(base::Error error, std::string_view place) {
  if (options_.trouble) options_.trouble(std::move(error).within(place));
}

// Gives the batch to the journal, if that is free. One that has failed gets no more.
void Loop::pass_on() {
  std::unique_lock lock(mutex_);
  if (failure_ || stage_ != Stage::kIdle || core_.batch().empty()) return;
  Batch batch = core_.take_batch();
  if (batch.records.empty()) {  // only answers, and everything they rest on is durable
    lock.unlock();
    return core_.release(std::move(batch));
  }
  at_journal_ = std::move(batch);
  behind_snapshot_ += at_journal_.records.size();
  stage_ = Stage::kGiven;
  for_writer_.notify_one();
}

// Writing.

bool Loop::has_writing() {
  const std::lock_guard lock(mutex_);
  return can_write();
}

bool Loop::wait_for_writing() {
  std::unique_lock lock(mutex_);
  if (is_stalled_) {  // no use to try again at once
    for_writer_.wait_for(lock, std::chrono::nanoseconds(kFullForNs), [this] { return stopping_; });
  }
  for_writer_.wait(lock, [this] { return can_write() || is_over_; });
  return can_write();
}

void Loop::write() {
  if (!has_writing()) return;
  auto written = append(at_journal_);  // nobody else touches the batch while it is here
  if (written) written = journal_.sync();
  end_writing(std::move(written));
}

// What was reduced cannot be taken back, so it may use what is kept back for results: there is no
// more of it than this batch and the next.
// A batch goes on until it is full, and then has the last record besides.
static_assert(kernel::kMaxRecordBytes + (std::size_t{8} << 20) <= store::kMaxBatchBytes,
              "a record that no batch takes would end the world, at every start again");

base::Result<store::RecordNumber> Loop::append(const Batch& batch) {
  const std::vector<base::ByteView> records = batch.records.views();
  if (batch.ends_work) return journal_.append(records, store::Room::kReserve);
  auto written = journal_.append(records, store::Room::kNormal);
  if (written || written.error().code() != base::ErrorCode::kUnavailable) return written;
  {
    const std::lock_guard lock(mutex_);
    is_full_ = true;
    wants_preparing_ = false;  // it was just tried
    prepared_ns_ = clock_.since_boot_ns();
  }
  return journal_.append(records, store::Room::kReserve);
}

void Loop::end_writing(base::Result<store::RecordNumber> written) {
  std::unique_lock lock(mutex_);
  const bool no_space = !written && written.error().code() == base::ErrorCode::kUnavailable;
  is_stalled_ = no_space && !stopping_ && !failure_;
  is_full_ = is_full_ || no_space;
  if (is_stalled_) return;  // it stays where it is, and is tried again
  if (!written) {
    stage_ = Stage::kIdle;  // and what was in it is never answered
    for_reducer_.notify_one();
    return end_with(std::move(lock), std::move(written).error());
  }
  stage_ = Stage::kDone;
  figures_.records += at_journal_.records.size();
  figures_.syncs += 1;
  figures_.journal_bytes += store::batch_bytes_of(
      at_journal_.records.bytes() + at_journal_.records.size() * store::kRecordLengthBytes);
  if (!is_full_ && !journal_.has_room(store::Room::kNormal)) wants_preparing_ = true;
  for_reducer_.notify_one();
  for_preparer_.notify_one();
}

// Preparing.

bool Loop::can_prepare() const {
  return wants_preparing_ || (is_full_ && clock_.since_boot_ns() - prepared_ns_ >= kFullForNs);
}

bool Loop::has_preparing() {
  const std::lock_guard lock(mutex_);
  return can_prepare();
}

bool Loop::wait_for_preparing() {
  std::unique_lock lock(mutex_);
  while (!is_over_ && !can_prepare()) {
    if (is_full_) {
      for_preparer_.wait_for(lock, std::chrono::nanoseconds(kFullForNs));
    } else {
      for_preparer_.wait(lock);
    }
  }
  return !is_over_;
}

// New work is taken only as long as what is kept back for results is really there.
void Loop::prepare() {
  const bool prepared = journal_.prepare().has_value();
  const std::lock_guard lock(mutex_);
  prepared_ns_ = clock_.since_boot_ns();
  const bool has_room = journal_.has_room(store::Room::kNormal);
  wants_preparing_ = prepared && !has_room;
  if (has_room) is_full_ = false;
  if (!prepared && !journal_.has_room(store::Room::kReserve)) is_full_ = true;
  for_reducer_.notify_one();
}

}  // namespace holdfast::node
