// SPDX-License-Identifier: Apache-2.0
#include "node/loop.h"

#include <algorithm>
#include <chrono>
#include <limits>
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

constexpr std::string_view kDiskIsFull = "the disk is full";

std::chrono::system_clock::time_point time_point(std::uint64_t ns) {
  constexpr std::uint64_t kLatest = std::numeric_limits<std::int64_t>::max() / 2;
  return std::chrono::system_clock::time_point(
      std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(ns, kLatest))));
}

}  // namespace

Loop::Loop(kernel::World& world, store::Journal& journal, env::Clock& clock, env::Random& random,
           Executors executors, LoopOptions options)
    : journal_(journal),
      clock_(clock),
      options_(std::move(options)),
      core_(world, clock, random, std::move(executors), *this, options_.last_ns),
      behind_snapshot_(options_.behind_snapshot) {}

// What comes in.

base::Result<void> Loop::send(Input input, Heard heard) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || failure_) return why_ended();
  if (is_full_) return base::Error(base::ErrorCode::kUnavailable, std::string(kDiskIsFull));
  if (inbox_.size() >= options_.inbox)
    return base::Error(base::ErrorCode::kUnavailable, "too many inputs wait for the node");
  inbox_.push_back({std::move(input), std::move(heard)});
  for_reducer_.notify_one();
  return {};
}

void Loop::report(const kernel::ReceiptArrived& receipt) { add_result(Input::receipt(receipt)); }
void Loop::report(const kernel::ProgressArrived& progress) {
  add_result(Input::progress(progress));
}

void Loop::add_result(Input input) {
  const std::lock_guard lock(mutex_);
  if (!input.ends_work() && results_.size() >= options_.inbox) return;
  results_.push_back({std::move(input), nullptr});
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

void Loop::fail(base::Error error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(error);
  for_reducer_.notify_one();
  for_writer_.notify_one();
  for_preparer_.notify_one();
}

std::optional<base::Error> Loop::failure() {
  const std::lock_guard lock(mutex_);
  if (!failure_) return std::nullopt;
  return why_ended();
}

base::Error Loop::why_ended() const {
  if (!failure_) return {base::ErrorCode::kUnavailable, "the node has stopped"};
  return {failure_->code(), std::string(failure_->where()), std::string(failure_->message())};
}

bool Loop::has_ended() const {
  if (failure_) return true;
  return stopping_ && stage_ == Stage::kIdle && core_.batch().empty() && inbox_.empty();
}

bool Loop::is_over() {
  const std::lock_guard lock(mutex_);
  return has_ended();
}

// Reducing.

bool Loop::can_turn() const {
  const bool has_input =
      !inbox_.empty() || !results_.empty() || (core_.wants_to_go_on() && !stopping_ && !is_full_);
  return failure_ || stage_ == Stage::kDone || (has_room() && has_input && !wants_snapshot()) ||
         (stage_ == Stage::kIdle && (!core_.batch().empty() || wants_snapshot() || stopping_));
}

bool Loop::has_turn() {
  const std::lock_guard lock(mutex_);
  const auto next = core_.next_timer_ns();
  return can_turn() ||
         (next && !stopping_ &&
          time_point(*next) <=
              time_point(static_cast<std::uint64_t>(std::max<std::int64_t>(0, clock_.wall_ns()))));
}

bool Loop::wait_for_turn() {
  std::unique_lock lock(mutex_);
  const auto can_turn = [this] { return this->can_turn(); };
  const auto next_timer = stopping_ ? std::nullopt : core_.next_timer_ns();
  if (next_timer) {
    // By the same clock that timers are set by, so that a jump of it is noticed.
    for_reducer_.wait_until(lock, time_point(*next_timer), can_turn);
  } else {
    for_reducer_.wait(lock, can_turn);
  }
  if (!has_ended()) return true;
  is_over_ = true;
  for_writer_.notify_one();
  for_preparer_.notify_one();
  return false;
}

bool Loop::wants_snapshot() const {
  return options_.take_snapshot && behind_snapshot_ >= options_.snapshot_every && !is_full_;
}

void Loop::turn() {
  if (!release_durable()) return;
  auto reduced = reduce_some();
  if (reduced) reduced = take_snapshot_if_due();
  if (!reduced) return fail(std::move(reduced).error());
  pass_on();
}

// False: the loop has failed.
bool Loop::release_durable() {
  std::unique_lock lock(mutex_);
  if (failure_) return false;
  if (stage_ != Stage::kDone) return true;
  Batch durable = std::exchange(at_journal_, {});
  stage_ = Stage::kIdle;
  lock.unlock();
  core_.release(std::move(durable));
  return true;
}

bool Loop::takes_new_work() {
  const std::lock_guard lock(mutex_);
  return !is_full_;
}

// Results first: somebody waits for them already.
std::optional<Loop::Waiting> Loop::next_input() {
  const std::lock_guard lock(mutex_);
  std::deque<Waiting>& from = results_.empty() ? inbox_ : results_;
  if (from.empty()) return std::nullopt;
  std::optional<Waiting> next(std::move(from.front()));
  from.pop_front();
  return next;
}

// Mail that was left over gets one tick a turn, so that a cascade without end keeps nobody out. It
// does not keep the loop from stopping either: it goes on after the next start.
base::Result<void> Loop::reduce_some() {
  bool stopping = false;
  bool waits_for_snapshot = false;
  {
    const std::lock_guard lock(mutex_);
    stopping = stopping_;
    waits_for_snapshot = wants_snapshot();
  }
  if (!stopping) core_.fire_timers(kTimersPerTurn);
  if (waits_for_snapshot) return {};
  if (core_.wants_to_go_on() && !stopping && has_room() && takes_new_work())
    TRY(core_.reduce(Input::go_on(), nullptr));
  for (std::size_t i = 0; i < kInputsPerTurn && has_room(); ++i) {
    auto next = next_input();
    if (!next) break;
    if (!next->input.ends_work() && !takes_new_work()) {
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
  {
    const std::lock_guard lock(mutex_);
    if (!wants_snapshot() || stage_ != Stage::kIdle || !core_.batch().records.empty()) return {};
  }
  behind_snapshot_ = 0;
  return options_.take_snapshot(core_.last_ns());
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
  const std::vector<base::ByteView> records(batch.records.begin(), batch.records.end());
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
  const std::lock_guard lock(mutex_);
  const bool no_space = !written && written.error().code() == base::ErrorCode::kUnavailable;
  is_stalled_ = no_space && !stopping_;
  is_full_ = is_full_ || no_space;
  if (is_stalled_) return;  // it stays where it is, and is tried again
  if (written) {
    stage_ = Stage::kDone;
    if (!is_full_ && !journal_.has_room(store::Room::kNormal)) wants_preparing_ = true;
  } else {
    if (!failure_) failure_ = std::move(written).error();
    stage_ = Stage::kIdle;  // and what was in it is never answered
  }
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
