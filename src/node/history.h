// SPDX-License-Identifier: Apache-2.0
// History: what a node does behind its loop: it brings the index of instances up to the journal,
// answers those who read streams or lists of instances, has instances forgotten that ended long
// ago, and seals the records. Without threads of its own, as the Loop: one caller works, who may be
// a thread (wait_for_work) or a simulation.
//
// Promises:
//  1. Nothing of it is on the path of an acknowledgement, and no error of the index ends the world:
//     it is told, counted, and tried again after a while, each time a longer one. An index that
//     does not fit is begun anew, from the first record that there is.
//  2. It reads durable records only, a slice at a time. With nothing to do, nothing is done: it is
//     woken when something has become durable, and not before there is a whole slice or some time
//     has passed since the last.
//  3. A list has everything that was durable when it was asked for, unless the index was more than
//     a slice behind, or could not go on: then it says how far it is.
//  4. The journal keeps the records that the index has not seen, up to `most_lag` of them. Beyond
//     that the index is begun anew.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "env/clock.h"
#include "node/batch.h"
#include "node/failed_effect.h"
#include "node/history_feed.h"
#include "node/input.h"
#include "node/read_stream.h"
#include "node/retention.h"
#include "node/sealing.h"

namespace holdfast::node {

struct HistoryOptions {
  SliceLimits slice{.records = 16'384, .bytes = std::size_t{16} << 20};
  std::int64_t gather_ns = 100'000'000;  // between two slices that are not full
  store::RecordNumber most_lag = 16'000'000;
  std::size_t most_queries = std::size_t{1} << 16;  // that wait, also for the index to go on
  std::size_t most_lists = 256;                     // that wait, each of which may take a while
  std::size_t most_visits = 4;                      // that wait

  // What has ended is forgotten when it was not touched for so long. 0: never.
  std::uint64_t retention_ns = 0;
  // The same for task graphs, with all their tasks.
  std::uint64_t graph_retention_ns = 0;
  // Sends an input to the world, as Loop::send. Without it nothing is forgotten.
  std::function<base::Result<void>(Input, Heard)> send = {};

  // Is told of effects that failed, each once, a moment later, also of those in records that the
  // index had not seen when the program before ended; of none before an index that is made anew.
  // On the thread that works, or finishes.
  std::function<void(const FailedEffect&)> failed = {};
  std::function<void(const FailedInstance&)> instance_failed = {};  // the same

  // Something went wrong that it goes on with. On the thread that works, or finishes.
  std::function<void(const base::Error&)> trouble = {};
};

struct HistoryFigures {
  store::RecordNumber seen = 0;  // the last record that is in the index
  store::RecordNumber lag = 0;   // durable records behind it
  std::uint64_t failures = 0;    // of the index
  bool is_well = true;           // the last thing that was tried went well
};

// Some rows of the index, and what they are of.
struct HistoryList {
  store::HistoryPage page;
  store::RecordNumber seen = 0;  // the last record that is in the index
  store::RecordNumber lag = 0;   // durable records behind it
};

class History {
 public:
  // All of them must outlive it. Nothing is opened yet.
  History(store::WorldFolder& folder, store::Journal& journal, env::Clock& clock,
          HistoryOptions options);
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // For any thread. Records up to this one are durable.
  void became_durable(store::RecordNumber record);

  // For any thread. `told` is called once, on the thread that works; whoever is not answered before
  // the end is let go of. kUnavailable: too many ask. What is told is kIo when the index, or the
  // journal, cannot be read now; why, and where, is told as trouble and nowhere else.
  using Told = std::function<void(base::Result<StreamPage>)>;
  base::Result<void> ask(StreamQuery query, Told told);
  using ToldList = std::function<void(base::Result<HistoryList>)>;
  base::Result<void> ask(store::HistoryQuery query, ToldList told);

  // For any thread. `visit` is called on the thread that works until it gives false, and others are
  // answered between two calls; null stands for what is not open. It is let go of before what it
  // was shown is closed, perhaps without having been called. One comes after the other.
  // kUnavailable: too many wait.
  using Visit = std::function<bool(store::SqliteDatabase* index, store::SqliteDatabase* seals)>;
  base::Result<void> visit(Visit visit);

  // For any thread: the first record that the journal must keep for it.
  store::RecordNumber needs_from() const;
  HistoryFigures figures() const;

  // For whoever works.
  bool has_work();
  void work();
  bool wait_for_work();  // until there is some; false: it was stopped
  void stop();

  // When nobody works any more: seals what is left, and lets go of all who are not answered.
  void finish();

  // The index, if it is open; for tests and simulations that work themselves.
  store::HistoryIndex* index() noexcept { return index_.get(); }

 private:
  struct Query {
    StreamQuery what;
    Told told;
  };

  struct ListQuery {
    store::HistoryQuery what;
    ToldList told;
    store::RecordNumber needs;  // waits until the index has come to it, or has tried
  };

  std::optional<std::int64_t> feeds_at() const;
  std::optional<std::int64_t> looks_at() const;
  std::optional<std::int64_t> next_at() const;
  store::RecordNumber wakes_at() const;
  base::Result<void> open();
  base::Result<void> begin_anew();
  base::Result<void> feed_slice();
  bool is_list_ready() const;
  bool is_asked() const {
    return !queries_.empty() || is_list_ready() || (!asked_visits_.empty() && !visiting_);
  }
  void let_visit();
  void close_index();
  std::size_t count_lists();
  void let_go_on(std::size_t lists);
  void answer();
  void answer_list();
  void refuse_parked();
  void say_trouble(const base::Error& error);
  void failed(base::Error error);
  void went_well();

  store::WorldFolder& folder_;
  store::Journal& journal_;
  env::Clock& clock_;
  HistoryOptions options_;

  // Whoever works:
  std::unique_ptr<store::HistoryIndex> index_;
  std::optional<HistoryFeed> feed_;
  // The last record whose failed effect was told; nothing: the index was never open.
  std::optional<store::RecordNumber> told_of_;
  std::optional<Retention> retention_;
  Sealing sealing_;
  std::deque<Query> parked_;            // until the index has gone on
  std::optional<std::int64_t> fed_ns_;  // when the last slice was done
  std::int64_t retry_ns_ = 0;
  std::int64_t delay_ns_;
  std::string last_trouble_;
  Visit visiting_;  // after what it is shown
  std::int64_t visit_ns_ = 0;

  const store::RecordNumber begun_at_;  // the last record when it was made

  mutable std::mutex mutex_;
  std::condition_variable for_worker_;
  std::deque<Query> queries_;
  std::deque<Visit> asked_visits_;
  std::deque<ListQuery> lists_;  // only whoever works takes any out
  bool stopping_ = false;
  std::atomic<store::RecordNumber> wake_at_;
  std::atomic<store::RecordNumber> seen_ = 0;
  std::atomic<store::RecordNumber> list_needs_ = 0;  // what the last list does
  std::atomic<std::size_t> parked_count_ = 0;
  std::atomic<std::uint64_t> failures_ = 0;
  std::atomic<bool> is_well_ = true;
};

}  // namespace holdfast::node
