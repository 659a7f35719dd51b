// SPDX-License-Identifier: Apache-2.0
// Execution: what a run of a step workflow has done so far, counted from the records that touched
// it, and what it is at now.
//
// The records are documents (docs/formats/record.md), in their order. They have no states, but all
// that was asked for and all that came back. A run of a step is counted when it is asked for; what
// its body did is counted if it was taken. A result of a step that another one had cancelled counts
// for nothing but itself; and so does that of a body that ran again though it had ended well, as
// what it had decided by had changed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "steps/graph.h"

namespace holdfast::steps {

struct StepTally {
  std::uint64_t runs = 0;       // bodies that were asked for, with all repetitions
  std::uint64_t completed = 0;  // that ended well
  std::uint64_t failed = 0;
  std::uint64_t given_up = 0;  // of these: that are not tried again
  std::uint64_t waits = 0;     // that began to wait
  std::uint64_t ignored = 0;   // whose result counts for nothing
  std::string last_code;       // of the last failure, rather of one that was given up
  std::string last_message;
  struct Failure {
    std::uint64_t item = 0;
    std::string code;
    std::string message;
  };
  static constexpr std::size_t kMostFailures = 8;
  std::vector<Failure> failures;  // the last few attempts that failed, the oldest first

  // Now.
  struct Wait {
    TypeIndex type = 0;
    std::uint64_t deadline_ns = 0;  // 0: none
    std::string child = {};         // not empty: for the end of an instance of this workflow

    const std::string& awaited(const Graph& graph) const {
      return child.empty() ? graph.type(type).schema : child;
    }
  };
  std::uint64_t running = 0;
  std::uint64_t queued = 0;
  std::uint64_t delayed = 0;     // of these: that are tried again later
  std::uint64_t delayed_ns = 0;  // when the first of these is
  std::vector<Wait> waiting = {};
};

struct Execution {
  // How often something went from one place to another.
  using ByStepAndType = std::map<std::pair<StepIndex, TypeIndex>, std::uint64_t>;

  explicit Execution(const Graph& graph) : steps(graph.steps().size()) {}

  std::uint64_t first_record = 0;
  std::uint64_t last_record = 0;
  bool is_whole = false;   // false: of the beginning there are no records here
  std::string status;      // of the instance
  std::string error_code;  // that it failed with
  std::vector<StepTally> steps;
  std::map<TypeIndex, std::uint64_t> came;  // from outside
  ByStepAndType taken;                      // by a step, to deal with
  ByStepAndType answered;                   // to a step that had waited
  ByStepAndType returned;
  ByStepAndType sent;
  ByStepAndType put;  // into the stream, also to ask with
  std::map<std::pair<StepIndex, StepIndex>, std::uint64_t> handled;  // of a step, by its handler

  bool has_ended() const noexcept { return status != "running" && status != "waiting"; }
};

// Pieces that bodies published while they ran, by intent and schema. They are counted apart from
// other records: there may be very many that say nothing else.
class PieceCounts {
 public:
  // Whether a record only tells progress; then its pieces are counted.
  bool take(codec::View record);
  const std::map<std::pair<std::string, std::string>, std::uint64_t>& counts() const noexcept {
    return counts_;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts_;
};

class ExecutionReader {
 public:
  // Of the instance with this key (canonical; empty: none). The graph must outlive it.
  ExecutionReader(const Graph& graph, std::string workflow, base::Bytes key);

  // The next record; what is not about this instance is passed over.
  void add(codec::View record);
  // Of all its records, before the first of them.
  void add(const PieceCounts& pieces) { pieces_ = pieces; }

  // With the present state (sys/StepsState@1; empty: none) and status of the instance.
  Execution finish(base::ByteView state, std::string_view status) &&;

 private:
  struct Run {
    StepIndex step = 0;
    std::uint64_t item = 0;
    bool is_judging = false;    // its body does not run
    bool is_cancelled = false;  // nobody waits for it
  };
  struct Receipt {
    Run run;
    bool is_ok = false;
    base::Bytes payload;  // empty: it is too large to be in the record
  };
  struct Item {
    std::uint64_t answers = 0;  // that its body has been given
    std::uint64_t let_out = 0;  // events and entries of its body that are counted
    base::Bytes ended_with;     // results that count unless its body runs again; empty: none
  };

  void forget_life();
  void add_instance(codec::View record, codec::View instance);
  void take_tick(codec::View tick, codec::View instance);
  void open(codec::View opened);
  void give_up(codec::View settled, codec::View instance);
  void settle(const Receipt& receipt);
  void fail(const Run& run, std::string_view code, std::string_view message, bool is_given_up);
  void count(StepIndex step, Item& item, base::ByteView results);
  void cancel(StepIndex step);

  const Graph& graph_;
  const std::string workflow_;
  const base::Bytes key_;
  Execution execution_;
  PieceCounts pieces_;
  std::map<std::string, Run, std::less<>> open_;  // by intent
  std::vector<Receipt> untaken_;                  // that the instance has not seen yet
  std::map<std::pair<StepIndex, std::uint64_t>, Item> items_;
};

// {"status", "first_record", "last_record", "complete", "steps", "edges"}
void write_execution(codec::Buffer& out, const Graph& graph, const Execution& execution);

}  // namespace holdfast::steps
