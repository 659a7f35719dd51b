// SPDX-License-Identifier: Apache-2.0
// FleetLedger: what is true of tasks and workers, whoever dies. It reads each record that becomes
// durable, hears what workers really run, and compares:
//
//  1. Work is run only under a lease that is durable, and under each dispatch once.
//  2. A task has one holder at a time; what ends a lease names its dispatch and its worker.
//  3. A worker that is cordoned, drains or is gone gets no lease.
//  4. What a living process runs is not lost by word of its own worker, and only a new process
//     loses anything.
//  5. A report is acknowledged when it is durable.
//  6. A task runs again only after an execution that failed or was lost, and each costs one
//  attempt.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "kernel/record_view.h"
#include "sim/report.h"

namespace holdfast::sim {

// As workers see it: "4711:..."
using DispatchText = std::string;

class FleetLedger {
 public:
  explicit FleetLedger(Report& report) : report_(report) {}

  void durable(base::ByteView record);

  // A worker's process begins with what it was handed out; it will end it, unless it dies.
  void begun(std::string_view process, const DispatchText& dispatch);
  void process_started(std::string_view name, std::string_view process);
  void process_died(std::string_view process);
  // It has heard that it is the one process of its worker: from then on it has lost nothing.
  void session_begun(std::string_view process) { in_session_.emplace(process); }
  // A worker is told that its report was taken.
  void acknowledged(const DispatchText& dispatch);

  // The lease that the dispatch names has ended, as far as records are durable.
  bool has_ended(const DispatchText& dispatch) const;

  struct Task {
    std::uint64_t charged = 0;    // executions that cost an attempt
    std::uint64_t runs = 0;       // that really began
    std::uint64_t explained = 0;  // that failed or were lost, so that another one may follow
    std::uint64_t results = 0;    // that were taken with status ok
    std::uint64_t given_up = 0;   // ends that no worker reported
    DispatchText last_result;     // the dispatch under which it came
  };
  // By "graph/number". Only tasks that a worker could run.
  const std::map<std::string, Task>& tasks() const noexcept { return tasks_; }

 private:
  struct Lease {
    std::string task;
    std::string worker;
    std::uint64_t dispatch = 0;
    bool has_ended = false;
    std::string begun_by;  // the process that runs it; empty: none has
  };
  struct Worker {
    std::pair<std::string, std::string> place;  // node and name
    bool is_active = true;
    std::set<base::Hash> holds;
  };

  void leased(const kernel::RecordView& record, const kernel::Leased& leased);
  void returned(const kernel::Returned& returned);
  void changed(const kernel::WorkerChanged& changed);
  void received(const kernel::RecordView& record, const kernel::ReceiptArrived& receipt);
  // Ends the lease; false: it is not held like this.
  Lease* end(const base::Hash& intent, std::uint64_t dispatch, std::string_view worker);
  void lose(Lease& lease, bool by_its_own_word);
  void violation(const std::string& what) { report_.violation(what); }

  Report& report_;
  std::map<std::string, Task> tasks_;
  std::map<base::Hash, std::string> task_of_;  // intents that are, or were, open
  std::map<base::Hash, DispatchText> held_;    // by which lease
  std::map<DispatchText, Lease> leases_;
  std::map<std::string, Worker, std::less<>> workers_;
  std::set<std::pair<std::string, std::string>> cordons_;
  std::set<std::string, std::less<>> dead_;                     // processes
  std::set<std::string, std::less<>> in_session_;               // processes
  std::map<std::string, std::string, std::less<>> process_of_;  // by the name of the worker
};

}  // namespace holdfast::sim
