// SPDX-License-Identifier: Apache-2.0
// Loop: everything that a node does, without its threads. One caller reduces, one makes durable;
// they may be two threads (node/node.h) or one that decides whose turn it is (a simulation). While
// a batch is being synced, the next one is reduced, and whatever came in meanwhile is in it.
// Answers and effects leave when their batch is durable, in order.
//
//   send -> lane -> reduce -> batch -> append, sync -> answers, effects -> reports -> lane
//
// Inputs wait in three lanes: control (what people decide), the inbox (events and questions), and
// results of effects. The reducer takes them in slices of 32, and each lane has a share of every
// slice: 8 for control, 8 for the inbox, 16 for results; what a lane does not need goes to the
// others. So whatever floods one lane, an input that was admitted to another is reduced within a
// number of slices that its own lane sets: the one at place n of control or of the inbox within
// n / 8 slices and the one that is being reduced. Results take turns within their lane, workflow by
// workflow, and in each of them by 8 groups of instances. Within a line they stay in order.
//
// Control overtakes what waits in the inbox: whoever wants it after an event waits for the answer
// to that event.
//
// Bounded, in number and in bytes: a lane that is full refuses new work. Receipts are always
// taken: there cannot be more of them than effects that are open. Progress is let go of when too
// much waits, which the kernel notes as a gap.
//
// A full disk: what was reduced already goes into the journal's reserve, and so do receipts. New
// work is refused, and cascades rest, until there is room again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "holdfast/histogram.h"
#include "node/core.h"
#include "node/input_lines.h"
#include "node/journal_turns.h"
#include "node/snapshot_policy.h"
#include "node/take_snapshot.h"
#include "store/journal.h"

namespace holdfast::node {

inline constexpr std::int64_t kSlowSyncNs = 1'000'000'000;

struct LoopOptions {
  std::size_t inbox = 4096;                          // inputs that wait
  std::size_t control = 256;                         // the same, in the lane of control
  std::size_t inbox_bytes = std::size_t{64} << 20;   // of all that wait; one alone may be larger
  std::size_t batch_bytes = std::size_t{256} << 10;  // a batch with so many is written

  // The same, of records: an input waits for the batch at the journal, the one that is full already
  // and its own, so what they take to be reduced is what it waits for.
  std::size_t batch_records = 512;

  // A batch of at most so many records is written by whoever reduced it, if nothing else is to be
  // done: to wake another thread would take longer than what it could do meanwhile.
  std::size_t written_at_once = 4;

  // Begins a snapshot of the world, all of whose records are durable; without it none are taken.
  // It is told the time of the last tick, and gives what finishes the snapshot beside the world:
  // the records before the one that comes of it are not needed any more. kUnavailable, of either:
  // there is no room, and it is tried again after as many records; any other error ends the loop.
  BeginSnapshot begin_snapshot = {};

  // When snapshots are taken, and how many records there are already since the last one.
  SnapshotPolicy snapshots = {};
  std::uint64_t behind_snapshot = 0;

  // Blobs that wait for a snapshot are written ahead of it, on the thread that finishes snapshots,
  // when there are many, and no more are put ahead while there are too many. Whoever reduces asks.
  // All three, or none: then the snapshot writes all of them. kUnavailable: there is no room, and
  // the snapshot says so; any other error ends the loop.
  std::function<bool()> has_much_ahead = {};
  std::function<bool()> is_crowded_ahead = {};
  std::function<base::Result<void>()> write_blobs_ahead = {};

  // Records up to this one have become durable. On the thread that wrote them; it must not wait.
  std::function<void(store::RecordNumber)> durable = {};

  // What is to be done from time to time: called after each snapshot, also one put off, on the same
  // thread, until it says that there is no more to do. An error is said, and puts it off until the
  // next snapshot.
  std::function<base::Result<bool>()> tidy = {};

  // Something went wrong that the node goes on with, for whoever looks after it. On any of its
  // threads.
  std::function<void(const base::Error&)> trouble = {};

  // A batch took longer than kSlowSyncNs to become durable. On the thread that wrote it.
  std::function<void(std::uint64_t took_ns)> slow_disk = {};

  // It has ended by itself, with this error, and refuses everything with it from now on. Called
  // once, on any of its threads; not for an end that was asked for.
  std::function<void(const base::Error&)> ended = {};
};

// What a loop has made durable since it began.
struct LoopFigures {
  std::uint64_t records = 0;
  std::uint64_t syncs = 0;
  std::uint64_t journal_bytes = 0;
  std::uint64_t slices = 0;            // in which inputs were taken
  std::uint64_t held_effects = 0;      // that no executor has room for; now
  std::uint64_t waiting_inputs = 0;    // now
  std::uint64_t waiting_results = 0;   // of effects; now, and counted above, too
  std::uint64_t refused_for_room = 0;  // inputs, as too much waited, or the disk was full
  std::uint64_t replay_ns = 0;         // what a restart would take to replay, about; now
  Histogram sync_ns{kTimeBounds};      // what it took to make a batch durable
  Histogram batch_records{kCountBounds};
};

enum class LoopCondition : std::uint8_t {
  kReady,
  kDiskFull,
  kNoFiles,  // the journal gets no next file, and not for want of room: the trouble was told
  kEnded
};

class Loop : private Results {
 public:
  // All of them must outlive it.
  Loop(kernel::World& world, store::Journal& journal, env::Clock& clock, env::Random& random,
       Executors executors, LoopOptions options);

  // Makes sure that what is open is under way. Once, before anything else.
  base::Result<void> recover();

  // From any thread. `heard` is called when the answer is durable. kUnavailable: too much waits, or
  // the disk is full; after the end, the error that it ended with. Whoever is not answered before
  // the end is let go of: what was handed over is destroyed without being called.
  base::Result<void> send(Input input, Heard heard);

  // From any thread: calls `look` between two ticks. Errors as of send; a full disk is none.
  // Whoever takes back what it asked before always finds room.
  using Look = std::function<void(Core&)>;
  enum class LookKind : std::uint8_t { kAsks, kTakesBack };
  base::Result<void> look(Look look, LookKind kind = LookKind::kAsks);

  // From any thread: a snapshot as soon as nothing is under way, and not only when it is due.
  // `taken` is called on a thread of the loop; errors as of look.
  using Taken = std::function<void(const base::Result<void>&)>;
  base::Result<void> ask_for_snapshot(Taken taken);

  // Takes nothing new from now on, and starts nothing. When the executors are shut down as well, so
  // that everything they report is here, it ends as soon as all of it is durable.
  void stop();
  void shut_down_executors();

  // For whoever reduces. `turn` does what can be done at once. It is over when the loop has failed,
  // or was stopped and nothing is left.
  bool has_turn();
  void turn();
  bool is_over();

  // For whoever writes: appends the batch that waits, if there is one, and syncs it; then lets go
  // out what was waiting for that, while the next batch may already wait. When nothing was written
  // for a moment, it marks the journal, once: see store::Journal::mark.
  bool has_writing();
  void write();
  bool has_releasing();
  void release();

  // For whoever has time: lets the journal do slow work ahead, and looks for room on a full disk.
  bool has_preparing();
  void prepare();

  // For whoever has even more time: finishes snapshots, and tidies.
  bool has_keeping();
  void keep();

  // The same, for threads: they wait until there is something to do. False: it is over. The alarm
  // calls look_at_the_clock, and is set to when that is due.
  bool wait_for_turn(env::Alarm& alarm);
  bool wait_for_writing();
  bool wait_for_preparing();
  bool wait_for_keeping();
  void look_at_the_clock();

  // Why it ended, if it did.
  std::optional<base::Error> failure();

  // From any thread.
  LoopFigures figures();
  LoopCondition condition();  // kEnded: nothing is taken any more

 private:
  struct Waiting {
    Input input;
    Heard heard;
    Look look = {};  // instead of the input
  };
  // Of the batch at the journal: it is given to whoever writes, or kept by whoever reduces.
  enum class Stage : std::uint8_t { kIdle, kGiven, kKept, kDurable };

  executors::Reports& reports_of(std::string_view workflow, base::ByteView key) override;
  // An input has come, with the mutex held. True: the reducer is to be woken.
  bool wakes_reducer(bool is_control = false);
  // False: there is no room for it.
  bool add_result(std::size_t line, Input input, Heard heard = nullptr);

  // The reducer's, with the mutex held.
  bool can_turn() const;
  void wait_as_reducer(std::unique_lock<std::mutex>& lock);
  bool has_ended() const;

  // Anybody's, with the mutex held.
  bool can_write() const {
    return !journal_.is_taken() && (stage_ == Stage::kGiven || trims_again_ || is_mark_due());
  }
  bool wants_mark() const { return !is_marked_ && !is_full_ && !failure_ && !is_over_; }
  bool is_mark_due() const;
  bool can_prepare() const;
  bool can_keep() const { return finish_snapshot_ || writes_blobs_ || wants_tidying_; }
  base::Error why_ended() const;
  base::Error no_room() const;

  // In the batch that is gathered, also for answers that leave no record.
  bool has_room() const {
    return core_.batch().records.bytes() < options_.batch_bytes &&
           core_.batch().records.size() < options_.batch_records &&
           core_.batch().replies.size() + core_.batch().seen.size() < options_.inbox;
  }
  bool is_snapshot_due() const;
  // Not while too much waits to be written.
  bool writes_ahead() const {
    return is_snapshot_due() && rounds_ahead_ < kRoundsAhead && !(writes_blobs_ && is_crowded_);
  }
  bool wants_snapshot() const {
    return is_snapshot_due() && rounds_ahead_ == kRoundsAhead && !writes_blobs_;
  }
  bool rests_for_snapshot() const;
  bool rings_timers() const;
  bool is_alive();
  // While the snapshot before is being finished people can still intervene, up to a bound.
  bool rests_but_for_control() const {
    return is_finishing_ && !stopping_ && !timing_.is_far_too_late();
  }
  bool has_input() const {
    return has_taken() || !control_.empty() || !inbox_.empty() || !results_.empty();
  }
  bool has_taken() const { return next_taken_ != taken_.size(); }
  bool has_control() const;
  Waiting* next_input();
  void take_slice();
  base::Result<void> reduce_control();
  void let_go();
  kernel::Refused refusal_for_want_of_room();
  base::Result<void> reduce_some();
  base::Result<void> take_in(Waiting& waiting);
  base::Result<void> write_ahead_if_due();
  base::Result<bool> write_slice_ahead();
  void end_round_ahead();
  void write_blobs_if_many();
  void write_blobs_ahead();
  base::Result<void> begin_snapshot_if_due();
  void finish_snapshot();
  void tell_askers(const base::Result<void>& taken);
  void tidy();
  void say_trouble(base::Error error, std::string_view place);
  void tell_forgotten_ids();
  void pass_on();
  void end_with(std::unique_lock<std::mutex> lock, base::Error error);

  using Turn = JournalTurns::Turn;
  bool is_written_at_once() const;
  void write_batch(Turn& turn);
  void tend(Turn& turn);
  void end_turn(Turn turn);
  base::Result<void> trim_if_due(Turn& turn);
  base::Result<void> mark_if_due(Turn& turn);
  base::Result<store::RecordNumber> append(Turn& turn, const Batch& batch);
  void end_writing(base::Result<store::RecordNumber> written, std::int64_t took_ns);

  JournalTurns journal_;  // turns are taken and given back with the mutex held
  env::Clock& clock_;
  LoopOptions options_;
  Core core_;              // the reducer's own
  SnapshotTiming timing_;  // changed with the mutex held

  // Before a snapshot that is due begins, most of what it needs is put into blobs, a part in each
  // turn: what has changed, then what has changed meanwhile, and so on, until little is left or it
  // was done so often. The reducer's own.
  static constexpr unsigned kRoundsAhead = 6;
  unsigned rounds_ahead_ = 0;
  bool is_crowded_ = false;  // with blobs that wait, when it was asked last
  std::uint64_t told_forgotten_ids_ = 0;
  std::int64_t reduced_ns_ = 0;  // what the present batch took to reduce, about; its own

  // Inputs that the reducer has taken, several at once so that it seldom needs the mutex; its own.
  std::vector<Waiting> taken_;
  std::size_t next_taken_ = 0;

  std::mutex mutex_;
  std::condition_variable for_reducer_;
  std::condition_variable for_writer_;
  std::condition_variable for_preparer_;
  std::condition_variable for_keeper_;
  using Line = InputLine<Waiting>;
  Line control_;
  Line inbox_;
  TurnLines<Waiting> results_;

  // Of one workflow: one for each group of its instances.
  class LineReports : public executors::Reports {
   public:
    LineReports(Loop& loop, std::size_t line) : loop_(loop), line_(line) {}
    void report(const kernel::ReceiptArrived& receipt) override;
    void report(const kernel::ProgressArrived& progress) override;
    void report_with_pin(const kernel::ReceiptArrived& receipt, executors::BlobPin pin) override;
    bool offer(const kernel::ProgressArrived& progress, HeardProgress heard) override;

   private:
    Loop& loop_;
    const std::size_t line_;
  };
  std::map<std::string, std::deque<LineReports>, std::less<>> reports_;  // they stay
  Stage stage_ = Stage::kIdle;
  Batch at_journal_;
  Batch spare_;  // empty, for its memory
  bool is_releasing_ = false;

  // The reducer waits, and an input could be taken: the first one wakes it. While a batch is full
  // or a snapshot begins, inputs only gather.
  bool is_woken_by_input_ = false;
  bool is_woken_by_control_ = false;

  // What the reducer waits for besides inputs: the journal, or a time.
  bool waits_for_journal_ = false;
  std::optional<std::uint64_t> waits_until_ns_;

  std::atomic<bool> is_full_ =
      false;                 // the disk: nothing new is taken; only read without the mutex
  bool is_stalled_ = false;  // and not even the batch at the journal fits
  std::vector<Taken> snapshot_askers_;
  std::vector<Taken> finishing_askers_;  // of the snapshot that was begun
  bool wants_preparing_ = true;
  bool looks_again_ = false;        // for room, as it has waited long enough
  std::string not_prepared_;        // why not, where it is not for want of room
  std::int64_t prepared_ns_ = 0;    // when room was looked for last, since boot
  FinishSnapshot finish_snapshot_;  // one that was begun
  bool is_finishing_ = false;
  bool writes_blobs_ = false;     // ahead of a snapshot
  bool blobs_lack_room_ = false;  // on the disk: until the next snapshot it is not tried again
  bool wants_tidying_ = false;
  store::RecordNumber needed_ = 0;  // the journal may let go of the records before it
  bool trims_ = false;              // and has not done so yet
  bool trims_again_ = false;        // for what it could not let go of then
  bool is_trim_stuck_ = false;      // for want of room, and said so
  bool is_marked_ = true;           // the journal says that everything in it is durable
  bool is_quiet_ = false;           // the writer has waited long enough since the last batch
  std::int64_t written_ns_ = 0;     // when the last batch became durable, since boot
  bool stopping_ = false;
  bool executors_down_ = false;
  bool is_over_ = false;  // the reducer has ended, and the others may
  std::optional<base::Error> failure_;
  LoopFigures figures_;
};

}  // namespace holdfast::node
