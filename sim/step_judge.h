// SPDX-License-Identifier: Apache-2.0
// StepJudge: what durable records say of runs of step workflows, held against what such a run
// promises. It reads what was asked for (effects, timers), what came back, and what was put out; of
// the state of a run, and of what reduces it, it knows nothing.
//
// It holds that: one run of a work item at a time; slots are taken once and freed, the lowest
// first; a run is not idle while something of it runs, waits for a slot or will be tried again;
// whatever is due later has a timer that is not later, and is not earlier; what was cancelled is
// given up, and leads to nothing; the stream has one end, in the record that ends the run, and
// nothing behind it; an event that comes while a run is busy is taken by a wait of it or told, and
// not lost; the result holds each part, sample and answer once, of those that there were; a run
// fails with a reason that it was given.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernel/record_view.h"
#include "sim/census.h"
#include "sim/ledger.h"
#include "sim/survey.h"

namespace holdfast::sim {

class StepJudge {
 public:
  // Told of every question that is put to people.
  using Asked = std::function<void(const std::string& survey, std::uint64_t round)>;

  StepJudge(Report& report, const Witness& witness) : report_(report), witness_(witness) {}
  void watch_questions(Asked asked) { asked_ = std::move(asked); }

  static bool knows(std::string_view workflow) {
    return workflow == Survey::kWorkflow || workflow == Vigil::kWorkflow ||
           workflow == Census::kWorkflow;
  }

  // A durable record touched such a run; `begins`: it is its first.
  void add(const kernel::RecordView& record, const kernel::InstanceView& run, bool begins);

 private:
  // What the judge knows of one event that one step has to deal with.
  enum class Stage : std::uint8_t { kRunning, kQueued, kDelayed, kWaiting, kOver, kCancelled };
  struct Item {
    std::string step;
    Stage stage = Stage::kQueued;
    std::uint64_t due_ns = 0;  // kDelayed, kWaiting; 0: none
    bool is_judging = false;   // its run only asks whether to try again
  };
  struct Asking {  // an effect that runs a step
    std::uint64_t item = 0;
    std::string step;
  };
  struct Run {
    std::uint64_t begun_ns = 0;
    std::vector<SurveyBegun> plans;
    std::vector<VigilBegun> vigils;
    std::map<std::uint64_t, Decision> decisions;  // by serial
    std::vector<std::uint64_t> nudges;            // as they came
    std::set<std::uint64_t> told;                 // nudges that nobody took
    std::vector<CensusBegun> censuses;
    std::map<std::uint64_t, Item> items;
    std::map<base::Hash, Asking> asking;
    std::map<base::Hash, std::uint64_t> timers;             // open ones, and when they are due
    std::set<std::pair<std::string, std::uint64_t>> slots;  // that are taken
    std::map<std::uint64_t, std::uint64_t> measured;        // put into the stream
    std::set<std::uint64_t> questions;
    bool is_watched = false;
    std::string end;  // the kind of its last entry
    std::string end_code;
    base::Bytes end_value;
    std::uint64_t trouble = 0;  // receipts that were errors, or nothing that was expected
    std::int64_t mail = 0;      // that waits
    // It was held up, and dealt with several messages at once: which entry belongs to which cannot
    // be told from outside.
    bool is_blurred = false;
    bool is_over = false;
  };
  // What came back in a record.
  struct Back {
    std::uint64_t item = 0;
    std::string step;
    bool was_cancelled = false;
  };

  void take_event(const kernel::EventArrived& event, const std::string& name, Run& run);
  static std::uint64_t count_given_up(const kernel::RecordView& record,
                                      const kernel::InstanceView& view, const Run& run);
  std::optional<Back> take_settled(const kernel::RecordView& record,
                                   const kernel::InstanceView& view, Run& run);
  void take_receipt(const kernel::RecordView& record, const Back& back, Run& run);
  std::size_t take_opened(const kernel::RecordView& record, const kernel::InstanceView& view,
                          Run& run);
  void take_entries(const std::string& name, const kernel::InstanceView& view, Run& run);
  void take_entry(const std::string& name, const StepEntry& entry, Run& run);
  void take_change(const StepEntry::Change& change, Run& run);
  void check_waits(std::string_view workflow, const Run& run);
  void check_end(const std::string& name, const kernel::RecordView& record,
                 const kernel::InstanceView& view, const Run& run);
  void check_failure(const kernel::RecordView& record, const kernel::InstanceView& view,
                     const Run& run);
  void check_result(const std::string& name, const Run& run, const SurveyDone& done);
  void check_result(const Run& run, const VigilDone& done);
  void check_result(const Run& run, const CensusDone& done);
  void violation(const std::string& what);

  Report& report_;
  const Witness& witness_;
  Asked asked_;
  std::uint64_t record_ = 0;
  std::map<Ledger::Name, Run> runs_;
};

}  // namespace holdfast::sim
