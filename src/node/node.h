// SPDX-License-Identifier: Apache-2.0
// Node: a world that runs. One thread reduces, one makes durable: while a batch is being synced,
// the next one is reduced, and whatever came in meanwhile is in it. Answers and effects leave when
// their batch is durable, in order.
//
//   send -> inbox -> reduce -> batch -> append, sync -> answers, effects -> reports -> inbox
//
// Bounded: an inbox that is full refuses new work. Receipts are always taken: there cannot be more
// of them than effects that are open. Progress is let go of when too much waits, which the kernel
// notes as a gap.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.h"
#include "node/core.h"
#include "store/journal.h"

namespace holdfast::node {

struct NodeOptions {
  std::size_t inbox = 4096;                          // inputs that wait
  std::size_t batch_bytes = std::size_t{256} << 10;  // of records, about
};

class Node : private executors::Reports {
 public:
  // Makes sure that what is open is under way, and begins. All of them must outlive it.
  static base::Result<std::unique_ptr<Node>> start(kernel::World& world, store::Journal& journal,
                                                   env::Clock& clock, env::Random& random,
                                                   Executors executors, NodeOptions options = {});
  ~Node() override;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // From any thread. `heard` is called when the answer is durable. kUnavailable: too much waits;
  // after the end, the error that it ended with.
  base::Result<void> send(Input input, Heard heard);

  // Takes nothing new, makes durable what was taken, and ends, and its executors with it: what they
  // had under way stays open. The error that it ended with, if it ended before.
  base::Result<void> stop();

 private:
  struct Waiting {
    Input input;
    Heard heard;
  };
  enum class Stage : std::uint8_t { kIdle, kGiven, kDone };  // of the batch at the journal

  Node(kernel::World& world, store::Journal& journal, env::Clock& clock, env::Random& random,
       Executors executors, NodeOptions options);

  void report(const kernel::ReceiptArrived& receipt) override;
  void report(const kernel::ProgressArrived& progress) override;
  void add_result(Input input);

  // The thread that reduces.
  void reduce_all();
  bool wait_for_work(std::unique_lock<std::mutex>& lock);
  bool has_room() const { return core_.batch().record_bytes < options_.batch_bytes; }
  std::optional<Waiting> next_input();
  base::Result<void> reduce_some(bool stopping);
  void pass_on();

  // The thread that writes.
  void write_all();
  base::Result<void> write(const Batch& batch);

  void fail(base::Error error);
  base::Error ended() const;

  store::Journal& journal_;
  NodeOptions options_;
  Core core_;  // the reducing thread's own

  std::mutex mutex_;
  std::condition_variable for_reducer_;
  std::condition_variable for_writer_;
  std::deque<Waiting> inbox_;
  std::deque<Waiting> results_;
  Stage stage_ = Stage::kIdle;
  Batch at_journal_;
  bool stopping_ = false;
  bool writer_may_end_ = false;
  std::optional<base::Error> failure_;

  std::thread reducer_;
  std::thread writer_;
};

}  // namespace holdfast::node
