// SPDX-License-Identifier: Apache-2.0
// The part of the loop that is beside reducing: writing batches, letting out what waited for them,
// preparing the journal's next files, and finishing snapshots.
#include <algorithm>
#include <chrono>
#include <utility>

#include "kernel/limits.h"
#include "node/loop.h"
#include "store/journal_format.h"

namespace holdfast::node {
namespace {

// How long a disk that was full is taken to be still full.
constexpr std::int64_t kFullForNs = 1'000'000'000;

// How long nothing is written before the journal is marked: long enough that a world with work to
// do seldom pays for it.
constexpr std::chrono::milliseconds kQuiet(100);

// Between two pieces of tidying: so it takes a fifth of the store's time at most.
constexpr std::chrono::milliseconds kRestOfTidying(8);

constexpr std::string_view kNotPrepared = "the journal has no next file";

}  // namespace

// Writing, and what follows from it.

bool Loop::has_writing() {
  const std::lock_guard lock(mutex_);
  return can_write();
}

bool Loop::wait_for_writing() {
  std::unique_lock lock(mutex_);
  if (is_stalled_) {  // no use to try again at once
    for_writer_.wait_for(lock, std::chrono::nanoseconds(kFullForNs),
                         [this] { return stopping_ || failure_; });
  }
  while (!can_write() && !is_over_) {
    if (!wants_mark()) {
      for_writer_.wait(lock);
      continue;
    }
    // By what was written, and not by the clock, which may be one that stands still.
    const std::uint64_t written = figures_.syncs;
    const bool timed_out = for_writer_.wait_for(lock, kQuiet) == std::cv_status::timeout;
    if (timed_out && written == figures_.syncs) is_quiet_ = true;
  }
  return can_write();
}

void Loop::write() {
  std::unique_lock lock(mutex_);
  if (!can_write()) return;
  auto turn = journal_.take();
  if (!turn) return;
  const bool has_batch = stage_ == Stage::kGiven;
  lock.unlock();
  has_batch ? write_batch(*turn) : tend(*turn);
  end_turn(std::move(*turn));
}

// The writer may have waited for the turn.
void Loop::end_turn(Turn turn) {
  const std::lock_guard lock(mutex_);
  { const Turn ends = std::move(turn); }
  if (can_write()) for_writer_.notify_one();
}

// What the journal needs besides batches.
void Loop::tend(Turn& turn) {
  auto tended = trim_if_due(turn);
  if (tended) tended = mark_if_due(turn);
  if (!tended) end_with(std::unique_lock(mutex_), std::move(tended).error());
}

// What somebody reads is let go of with the next snapshot; there is none while the disk is full, so
// it is tried then whenever room is looked for. What there was no room to let go of is tried with
// every batch: nobody else will ask for it again.
base::Result<void> Loop::trim_if_due(Turn& turn) {
  std::unique_lock lock(mutex_);
  const store::RecordNumber needed = needed_;
  const bool again = std::exchange(trims_again_, false);
  if (!std::exchange(trims_, false) && !again) return {};
  lock.unlock();
  auto trimmed = turn.trim(needed);
  const bool lacks_room = !trimmed && trimmed.error().code() == base::ErrorCode::kUnavailable;
  if (!trimmed && !lacks_room) return trimmed;
  lock.lock();
  if (lacks_room) trims_ = true;
  const bool is_new = !std::exchange(is_trim_stuck_, lacks_room) && lacks_room;
  lock.unlock();
  if (is_new) say_trouble(std::move(trimmed).error(), "the journal cannot be trimmed yet");
  return {};
}

bool Loop::is_mark_due() const {
  const std::int64_t quiet_ns = std::chrono::nanoseconds(kQuiet).count();
  return wants_mark() && (is_quiet_ || clock_.since_boot_ns() - written_ns_ >= quiet_ns);
}

// Without a mark behind it, damage to the last batch would look like a write that was torn.
base::Result<void> Loop::mark_if_due(Turn& turn) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_mark_due()) return {};
    is_quiet_ = false;
  }
  auto marked = turn.mark();
  const bool lacks_room = !marked && marked.error().code() == base::ErrorCode::kUnavailable;
  if (!marked && !lacks_room) return marked;
  const std::lock_guard lock(mutex_);
  is_marked_ = !lacks_room;
  timing_.rested();
  if (is_snapshot_due()) for_reducer_.notify_one();
  if (!lacks_room) return {};
  // It is tried again when there is room.
  is_full_ = true;
  prepared_ns_ = clock_.since_boot_ns();
  for_preparer_.notify_one();
  return {};
}

void Loop::write_batch(Turn& turn) {
  if (at_journal_.records.empty()) {  // only answers, and everything they rest on is durable
    const std::lock_guard lock(mutex_);
    stage_ = Stage::kDurable;
    return;
  }
  // Before the batch: one that is durable is answered, whatever becomes of the trimming.
  if (auto trimmed = trim_if_due(turn); !trimmed) return end_writing(std::move(trimmed).error(), 0);
  const std::int64_t begun_ns = clock_.since_boot_ns();
  auto written = append(turn, at_journal_);  // nobody else touches the batch while it is here
  if (written) written = turn.sync();
  end_writing(std::move(written), clock_.since_boot_ns() - begun_ns);
}

// What was reduced cannot be taken back, so it may use what is kept back for results: there is no
// more of it than this batch and the next.
// A batch goes on until it is full, and then has the last record besides.
static_assert(kernel::kMaxRecordBytes + (std::size_t{8} << 20) <= store::kMaxBatchBytes,
              "a record that no batch takes would end the world, at every start again");

base::Result<store::RecordNumber> Loop::append(Turn& turn, const Batch& batch) {
  const std::vector<base::ByteView> records = batch.records.views();
  if (batch.ends_work) return turn.append(records, store::Room::kReserve);
  auto written = turn.append(records, store::Room::kNormal);
  if (written || written.error().code() != base::ErrorCode::kUnavailable) return written;
  const bool lacks_descriptors = written.error().lacks_descriptors();
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    is_full_ = true;
    wants_preparing_ = false;  // it was just tried
    prepared_ns_ = clock_.since_boot_ns();
    is_new = lacks_descriptors && not_prepared_.empty();
    if (lacks_descriptors) not_prepared_ = written.error().to_string();
  }
  if (is_new) say_trouble(std::move(written).error(), kNotPrepared);
  return turn.append(records, store::Room::kReserve);
}

void Loop::end_writing(base::Result<store::RecordNumber> written, std::int64_t took_ns) {
  std::unique_lock lock(mutex_);
  const bool no_space = !written && written.error().code() == base::ErrorCode::kUnavailable;
  is_stalled_ = no_space && !stopping_ && !failure_;
  is_full_ = is_full_ || no_space;
  if (is_stalled_) {  // it stays where it is, and is tried again
    stage_ = Stage::kGiven;
    for_writer_.notify_one();
    return;
  }
  if (!written) {
    stage_ = Stage::kIdle;  // and what was in it is never answered
    for_reducer_.notify_one();
    return end_with(std::move(lock), std::move(written).error());
  }
  stage_ = Stage::kDurable;
  written_ns_ = clock_.since_boot_ns();
  is_quiet_ = false;
  // The writer may wait without end, because the journal was marked.
  if (std::exchange(is_marked_, false)) for_writer_.notify_one();
  figures_.records += at_journal_.records.size();
  figures_.syncs += 1;
  figures_.sync_ns.add(static_cast<std::uint64_t>(std::max<std::int64_t>(took_ns, 0)));
  figures_.batch_records.add(at_journal_.records.size());
  figures_.journal_bytes += store::batch_bytes_of(
      at_journal_.records.bytes() + at_journal_.records.size() * store::kRecordLengthBytes);
  if (!is_full_ && !journal_.has_room(store::Room::kNormal)) wants_preparing_ = true;
  if (wants_preparing_) for_preparer_.notify_one();
  lock.unlock();
  if (took_ns > kSlowSyncNs && options_.slow_disk)
    options_.slow_disk(static_cast<std::uint64_t>(took_ns));
  if (options_.durable) options_.durable(*written);
}

bool Loop::has_releasing() {
  const std::lock_guard lock(mutex_);
  return stage_ == Stage::kDurable;
}

void Loop::release() {
  Batch durable;
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    if (stage_ != Stage::kDurable) return;
    std::swap(durable, at_journal_);
    stage_ = Stage::kIdle;
    is_releasing_ = true;
    wakes = waits_for_journal_;
  }
  if (wakes) for_reducer_.notify_one();
  core_.release(durable);
  durable.clear();
  const std::lock_guard lock(mutex_);
  spare_ = std::move(durable);
  is_releasing_ = false;
  const auto timer_ns = core_.next_timer_ns();
  const bool rings_earlier = timer_ns && (!waits_until_ns_ || *timer_ns < *waits_until_ns_);
  if (rings_earlier || stopping_ || failure_ || core_.may_start_held()) for_reducer_.notify_one();
}

// Preparing.

bool Loop::can_prepare() const {
  return wants_preparing_ ||
         (is_full_ && (looks_again_ || clock_.since_boot_ns() - prepared_ns_ >= kFullForNs));
}

bool Loop::has_preparing() {
  const std::lock_guard lock(mutex_);
  return can_prepare();
}

bool Loop::wait_for_preparing() {
  std::unique_lock lock(mutex_);
  while (!is_over_ && !can_prepare()) {
    if (is_full_) {
      // The clock may be one that stands still.
      looks_again_ = for_preparer_.wait_for(lock, std::chrono::nanoseconds(kFullForNs)) ==
                     std::cv_status::timeout;
    } else {
      for_preparer_.wait(lock);
    }
  }
  return !is_over_;
}

// New work is taken only as long as what is kept back for results is really there. Without room is
// one thing, a disk that does not do what it should another: whoever looks after the node is told.
void Loop::prepare() {
  auto prepared = journal_.prepare();
  const bool is_trouble = !prepared && (prepared.error().code() != base::ErrorCode::kUnavailable ||
                                        prepared.error().lacks_descriptors());
  const std::string why = is_trouble ? prepared.error().to_string() : std::string();
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    prepared_ns_ = clock_.since_boot_ns();
    looks_again_ = false;
    const bool has_room = journal_.has_room(store::Room::kNormal);
    wants_preparing_ = prepared && !has_room;
    if (has_room) is_full_ = false;
    if (!prepared && !journal_.has_room(store::Room::kReserve)) is_full_ = true;
    trims_again_ = is_full_;
    if (trims_again_ || wants_mark()) for_writer_.notify_one();
    is_new = is_trouble && not_prepared_.empty();
    not_prepared_ = why;
    for_reducer_.notify_one();
  }
  if (is_new) say_trouble(std::move(prepared).error(), kNotPrepared);
}

kernel::Refused Loop::refusal_for_want_of_room() {
  const std::lock_guard lock(mutex_);
  const base::Error error = no_room();
  return {error.code(), error.to_string()};
}

base::Error Loop::no_room() const {
  if (not_prepared_.empty()) return {base::ErrorCode::kUnavailable, "the disk is full"};
  // The place on the disk is for those who look after the node, who were told.
  return {base::ErrorCode::kUnavailable, std::string(kNotPrepared)};
}

// Keeping.

bool Loop::has_keeping() {
  const std::lock_guard lock(mutex_);
  return can_keep();
}

bool Loop::wait_for_keeping() {
  std::unique_lock lock(mutex_);
  // Tidying is not urgent, and nobody reads cold values while a piece of it is done.
  if (wants_tidying_)
    for_keeper_.wait_for(lock, kRestOfTidying,
                         [this] { return finish_snapshot_ || writes_blobs_ || is_over_; });
  for_keeper_.wait(lock, [this] { return can_keep() || is_over_; });
  return !is_over_;
}

void Loop::keep() {
  std::unique_lock lock(mutex_);
  const bool finishes = static_cast<bool>(finish_snapshot_);
  const bool writes = writes_blobs_;
  const bool tidies = wants_tidying_;
  lock.unlock();
  if (finishes) return finish_snapshot();
  if (writes) return write_blobs_ahead();
  if (tidies) tidy();
}

// No snapshot begins meanwhile: what is written must be listed with it, and not with the one before
// (node/store_blobs.h).
void Loop::write_blobs_ahead() {
  const std::int64_t begun_ns = clock_.since_boot_ns();
  auto written = options_.write_blobs_ahead();
  std::unique_lock lock(mutex_);
  writes_blobs_ = false;
  is_crowded_ = false;  // the reducer looks again
  timing_.add_cost(clock_.since_boot_ns() - begun_ns);
  for_reducer_.notify_one();
  if (written) return;
  blobs_lack_room_ = written.error().code() == base::ErrorCode::kUnavailable;
  if (!blobs_lack_room_) end_with(std::move(lock), std::move(written).error());
}

void Loop::finish_snapshot() {
  std::unique_lock lock(mutex_);
  const auto finish = std::exchange(finish_snapshot_, nullptr);
  lock.unlock();
  const std::int64_t begun_ns = clock_.since_boot_ns();
  auto needed = finish();
  base::Result<void> taken;
  if (!needed) taken = std::move(needed).error();
  const bool lacks_room = !taken && taken.error().code() == base::ErrorCode::kUnavailable;
  tell_askers(taken);
  if (lacks_room) say_trouble(std::move(taken).error(), "a snapshot is put off");
  lock.lock();
  is_finishing_ = false;
  timing_.add_cost(clock_.since_boot_ns() - begun_ns);
  if (needed) timing_.listed();
  wants_tidying_ = static_cast<bool>(options_.tidy);  // without room it may make some
  if (needed) needed_ = *needed;
  if (needed) trims_ = true;
  for_reducer_.notify_one();
  if (!needed && !lacks_room) end_with(std::move(lock), std::move(taken).error());
}

void Loop::tidy() {
  auto more = options_.tidy();
  if (!more) say_trouble(std::move(more).error(), "tidying is put off");
  const std::lock_guard lock(mutex_);
  wants_tidying_ = more && *more && !stopping_;
}

}  // namespace holdfast::node
