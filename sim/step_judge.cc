// SPDX-License-Identifier: Apache-2.0
#include "sim/step_judge.h"

#include <algorithm>
#include <utility>

#include "codec/view.h"
#include "defs/system_names.h"

namespace holdfast::sim {
namespace {

// How many of a step may run at a time, as Survey::steps() and Census::steps() have it.
std::uint64_t workers_of(std::string_view step) {
  if (step == "measure" || step == "walk") return 2;
  if (step == "gather" || step == "count") return 3;
  return step == "mend" || step == "draw" ? 1 : 4;
}

template <class T>
std::optional<T> read(base::ByteView bytes) {
  std::optional<T> value(std::in_place);
  holdfast::Reader in(bytes);
  if (!detail::Form<T>::read(in, *value)) value.reset();
  return value;
}

// What the judge wants to know of a list of results (docs/formats/steps.md).
struct Results {
  bool is_good = false;
  bool has_failed = false;
  bool is_judged = false;
  std::optional<std::uint64_t> retry_ns;
  std::optional<std::uint64_t> waits_ns;  // 0: for ever
  bool cancels_step = false;
};

std::optional<std::uint64_t> nat_at(const codec::View& list, std::size_t at) {
  for (const codec::View part : list.elements()) {
    if (at-- == 0) return part.nat();
  }
  return std::nullopt;
}

std::optional<codec::View> item_at(const codec::View& list, std::size_t at) {
  for (const codec::View part : list.elements()) {
    if (at-- == 0) return part;
  }
  return std::nullopt;
}

Results results_of(const kernel::ReceiptArrived& receipt) {
  Results results;
  if (receipt.status != kernel::ReceiptStatus::kOk) return results;
  const auto found = codec::View::of(receipt.payload).find("results");
  if (!found || !found->bytes()) return results;
  results.is_good = true;
  for (const codec::View did : codec::View::of(*found->bytes()).elements()) {
    switch (nat_at(did, 0).value_or(0)) {
      case 2:
        results.has_failed = true;
        results.is_judged = item_at(did, 3)->boolean().value_or(false);
        results.retry_ns = nat_at(*item_at(did, 4), 0);
        break;
      case 5: results.waits_ns = nat_at(did, 4); break;
      case 9: results.cancels_step = true; break;
      case 11: results.waits_ns = nat_at(did, 6); break;
      default: break;
    }
  }
  return results;
}

}  // namespace

void StepJudge::violation(const std::string& what) {
  report_.violation("record " + std::to_string(record_) + ": a run of steps: " + what);
}

void StepJudge::add(const kernel::RecordView& record, const kernel::InstanceView& view,
                    bool begins) {
  record_ = record.number;
  const auto name = read<std::string>(view.key);
  if (!name) return violation("it has no name");
  Run& run = runs_[{std::string(view.workflow), base::Bytes(view.key.begin(), view.key.end())}];
  if (begins) {
    run = Run();
    run.begun_ns = record.tick.time_ns;
  }
  if (run.is_over) return;
  const bool is_message = record.kind() == kernel::TickKind::kEvent ||
                          record.kind() == kernel::TickKind::kReceipt ||
                          record.kind() == kernel::TickKind::kProgress;
  // Of what it gives up it hears in the same record.
  const std::uint64_t given_up = count_given_up(record, view, run);
  run.mail += static_cast<std::int64_t>((is_message ? 1 : 0) + given_up) -
              static_cast<std::int64_t>(view.steps + view.ignored);
  run.is_blurred |= view.paused || run.mail != 0 || view.steps > 1 + given_up;
  if (const auto* event = std::get_if<kernel::EventArrived>(&record.tick.input))
    take_event(*event, *name, run);

  const bool has_ended = view.status == "completed" || view.status == "failed" ||
                         view.status == "cancelled" || view.status == "deleted";
  const auto back = take_settled(record, view, run);
  if (back && !has_ended) take_receipt(record, *back, run);
  const std::size_t opened = take_opened(record, view, run);
  if (back && back->was_cancelled) {
    report_.sometimes("a step that was cancelled comes back");
    if (!run.is_blurred && opened != 0) violation("what was cancelled still leads to something");
  }
  take_entries(*name, view, run);
  if (has_ended) {
    run.is_over = true;
    return check_end(*name, record, view, run);
  }
  if (given_up != 0) report_.sometimes("a run of a step is given up");
  const bool is_kept = std::any_of(run.asking.begin(), run.asking.end(), [&](const auto& asking) {
    return run.items[asking.second.item].stage == Stage::kCancelled;
  });
  if (is_kept && !run.is_blurred) violation("what was cancelled is not given up");
  if (!run.end.empty()) run.is_blurred = true;  // the rest of what it put out is on its way
  if (!run.is_blurred) check_waits(view.workflow, run);
}

void StepJudge::take_event(const kernel::EventArrived& event, const std::string& name, Run& run) {
  // A turn that was left over is done in the record of an event for another run.
  const auto is_for_it = [&](const auto& value) { return value.id == name; };
  if (event.schema == SurveyBegun::kSchema) {
    auto begun = read<SurveyBegun>(event.value).value();
    if (is_for_it(begun)) run.plans.push_back(std::move(begun));
  } else if (event.schema == VigilBegun::kSchema) {
    auto begun = read<VigilBegun>(event.value).value();
    if (is_for_it(begun)) run.vigils.push_back(std::move(begun));
  } else if (event.schema == Decision::kSchema) {
    const auto decision = read<Decision>(event.value).value();
    if (is_for_it(decision)) run.decisions[decision.serial] = decision;
  } else if (event.schema == Nudge::kSchema) {
    const auto nudge = read<Nudge>(event.value).value();
    if (is_for_it(nudge)) run.nudges.push_back(nudge.serial);
  } else if (event.schema == CensusBegun::kSchema) {
    auto begun = read<CensusBegun>(event.value).value();
    if (is_for_it(begun)) run.censuses.push_back(std::move(begun));
  }
}

// Runs of steps that nobody waits for any more, though nobody has reported.
std::uint64_t StepJudge::count_given_up(const kernel::RecordView& record,
                                        const kernel::InstanceView& view, const Run& run) {
  const auto* receipt = std::get_if<kernel::ReceiptArrived>(&record.tick.input);
  return static_cast<std::uint64_t>(
      std::count_if(view.settled.begin(), view.settled.end(), [&](const auto& settled) {
        const bool is_reported = receipt != nullptr && receipt->intent == settled.intent;
        return !is_reported && run.asking.contains(settled.intent);
      }));
}

// The run of a step that this record brings back, if it does.
std::optional<StepJudge::Back> StepJudge::take_settled(const kernel::RecordView& record,
                                                       const kernel::InstanceView& view, Run& run) {
  std::optional<Back> back;
  for (const kernel::SettledView& settled : view.settled) {
    if (const auto timer = run.timers.find(settled.intent); timer != run.timers.end()) {
      const std::uint64_t now_ns = std::max(record.tick.time_ns, timer->second);
      for (auto& [number, item] : run.items) {
        if (item.stage == Stage::kDelayed && item.due_ns <= now_ns)
          item = {item.step, Stage::kQueued};
      }
      run.timers.erase(timer);
    } else if (const auto asking = run.asking.find(settled.intent); asking != run.asking.end()) {
      const auto* receipt = std::get_if<kernel::ReceiptArrived>(&record.tick.input);
      if (receipt != nullptr && receipt->intent == settled.intent) {
        const Item& item = run.items[asking->second.item];
        back = Back{asking->second.item, asking->second.step, item.stage == Stage::kCancelled};
      }
      run.asking.erase(asking);
    }
  }
  return back;
}

// What becomes of the item, as far as nothing else is opened for it.
void StepJudge::take_receipt(const kernel::RecordView& record, const Back& back, Run& run) {
  const auto& receipt = *std::get_if<kernel::ReceiptArrived>(&record.tick.input);
  const Results results = results_of(receipt);
  if (!results.is_good) ++run.trouble;
  Item& item = run.items[back.item];
  if (item.stage == Stage::kCancelled) return;
  const std::uint64_t now_ns = record.tick.time_ns;
  item.due_ns = 0;
  if (!results.is_good || (results.has_failed && !results.is_judged)) {
    item.stage = item.is_judging ? Stage::kOver : Stage::kQueued;  // it is judged in the next run
  } else if (results.has_failed) {
    item.stage = results.retry_ns ? Stage::kQueued : Stage::kOver;
    if (results.retry_ns.value_or(0) != 0) {
      report_.sometimes("a step is to be tried again later");
      item.stage = Stage::kDelayed;
      item.due_ns = now_ns + *results.retry_ns;
    }
  } else if (results.waits_ns) {
    item.stage = Stage::kWaiting;
    if (*results.waits_ns != 0) item.due_ns = now_ns + *results.waits_ns;
  } else {
    item.stage = Stage::kOver;
  }
  if (!results.cancels_step || item.stage != Stage::kOver) return;
  for (auto& [number, other] : run.items) {
    if (other.step != Survey::kWatch || other.stage == Stage::kOver) continue;
    report_.sometimes("a step is cancelled by another");
    other = {other.step, Stage::kCancelled};
  }
}

// How many steps are asked to run.
std::size_t StepJudge::take_opened(const kernel::RecordView& record,
                                   const kernel::InstanceView& view, Run& run) {
  std::size_t count = 0;
  for (const kernel::OpenedView& opened : view.opened) {
    const codec::View params = codec::View::of(opened.params);
    if (opened.effect == defs::kTimerSet) {
      run.timers[opened.intent] = params.find("deliver_at_ns")->nat().value_or(0);
      continue;
    }
    if (opened.effect == defs::kWorkflowRun || opened.effect == defs::kWorkflowStop) continue;
    ++count;
    const auto step = params.find("step")->text();
    const auto work = params.find("work")->bytes();
    const std::uint64_t number = nat_at(codec::View::of(*work), 3).value_or(0);
    Item& item = run.items[number];
    if (item.stage == Stage::kRunning) violation("a work item runs twice at a time");
    if (item.stage == Stage::kOver && !run.is_blurred) {
      // A run that had seen something old runs again, and nothing it did counts.
      report_.sometimes("a run of a step is out of date");
    }
    if (item.stage == Stage::kCancelled && !run.is_blurred)
      violation("a step that was cancelled runs again");
    if (item.stage == Stage::kDelayed && record.tick.time_ns < item.due_ns && !run.is_blurred)
      violation("a step is tried again too early");
    const auto unjudged = item_at(codec::View::of(*work), 6);
    item = {std::string(*step), Stage::kRunning, 0, unjudged && unjudged->size() != 0};
    run.asking[opened.intent] = {number, std::string(*step)};
  }
  return count;
}

void StepJudge::take_change(const StepEntry::Change& change, Run& run) {
  if (change.state == "preparing") {
    Item& item = run.items[change.item];
    if (item.stage != Stage::kRunning) item = {change.step, Stage::kQueued};
    report_.sometimes("a work item waits for a slot");
    return;
  }
  if (change.state == "not_running") {
    if (run.slots.erase({change.step, change.slot}) == 0)
      violation("a slot is left that nobody has");
    return;
  }
  std::uint64_t lowest = 0;
  while (run.slots.contains({change.step, lowest})) ++lowest;
  if (change.slot != lowest) violation("a slot is taken that is not the lowest free one");
  if (change.slot >= workers_of(change.step)) violation("a step has more slots than it may");
  run.slots.emplace(change.step, change.slot);
}

void StepJudge::take_entries(const std::string& name, const kernel::InstanceView& view, Run& run) {
  for (const base::ByteView bytes : view.annotations) {
    const auto entry = read<StepEntry>(bytes);
    const auto parts = entry ? entry->parts() : std::nullopt;
    if (!parts) return violation("an entry of its stream is none");
    for (const StepEntry& part : *parts) take_entry(name, part, run);
  }
}

void StepJudge::take_entry(const std::string& name, const StepEntry& entry, Run& run) {
  if (!run.end.empty()) return violation("something is put out behind its end");
  if (entry.kind == "steps") {
    for (const StepEntry::Change& change : entry.changes) take_change(change, run);
  } else if (entry.kind == "idle") {
    for (const auto& [number, item] : run.items) {
      const bool is_busy = item.stage == Stage::kRunning || item.stage == Stage::kQueued ||
                           item.stage == Stage::kDelayed;
      if (is_busy && !run.is_blurred) violation("idle is told of it while it is busy");
    }
    if (!run.is_blurred && run.vigils.size() == 1 && run.nudges.size() >= run.vigils.front().nudges)
      violation("it waits for what has come");
    report_.sometimes("a run of steps is idle");
  } else if (entry.kind == "unhandled") {
    report_.sometimes("an event finds nobody who waits for it");
    const auto nudge = entry.as<Nudge>();
    if (nudge && !run.told.insert(nudge->serial).second)
      violation("it is told twice that nobody takes an event");
  } else if (entry.kind == "attempt_failed") {
    if (entry.code.empty()) violation("an attempt failed, and nobody says how");
    report_.sometimes("a failed attempt is told");
  } else if (entry.kind == "began_again") {
    if (entry.code.empty()) violation("a body runs again, and nobody says why");
    report_.sometimes("a body that has published runs again");
  } else if (entry.kind != "event") {
    run.end = entry.kind;
    run.end_code = entry.code;
    run.end_value = entry.value;
  } else if (const auto measured = entry.as<Measured>()) {
    if (!run.measured.emplace(measured->n, measured->number).second)
      violation("a part is put out twice");
  } else if (entry.as<Noted>()) {
    const bool is_cancelled = std::any_of(run.items.begin(), run.items.end(), [](const auto& one) {
      return one.second.stage == Stage::kCancelled;
    });
    if (is_cancelled && !run.is_blurred) violation("what was cancelled still counts");
    report_.sometimes("a step that may be cancelled is not");
  } else if (entry.as<Watch>()) {
    if (std::exchange(run.is_watched, true)) violation("what is put before a wait goes out twice");
  } else if (const auto question = entry.as<Question>()) {
    if (!run.questions.insert(question->round).second) violation("a question is asked twice");
    if (asked_) asked_(name, question->round);
  }
}

// Whatever is due later will be heard of in time.
void StepJudge::check_waits(std::string_view workflow, const Run& run) {
  std::uint64_t next = workflow == Vigil::kWorkflow && !run.vigils.empty()
                           ? run.begun_ns + Vigil::kTimeoutSeconds * kSecondNs
                           : 0;
  for (const auto& [number, item] : run.items) {
    if (item.due_ns != 0 && (next == 0 || item.due_ns < next)) next = item.due_ns;
  }
  if (next == 0) return;
  const bool is_set = std::any_of(run.timers.begin(), run.timers.end(),
                                  [&](const auto& timer) { return timer.second <= next; });
  if (!is_set) violation("no timer is set for what is due next");
}

void StepJudge::check_end(const std::string& name, const kernel::RecordView& record,
                          const kernel::InstanceView& view, const Run& run) {
  if (view.status == "deleted") {
    if (!run.plans.empty() || !run.vigils.empty() || !run.censuses.empty())
      violation("it is gone, and had begun");
    return;
  }
  if (view.status == "cancelled") return report_.sometimes("a run of steps is cancelled");
  if (run.end.empty()) return violation("its stream has no end");
  if (view.status == "failed") return check_failure(record, view, run);
  report_.sometimes("a run of steps is completed");
  if (run.end != "stopped") return violation("it is completed, and its stream says " + run.end);
  if (!base::equal(run.end_value, view.outcome)) violation("its stream has another result");
  if (view.workflow == Vigil::kWorkflow) {
    const auto done = read<VigilDone>(view.outcome);
    return done ? check_result(run, *done) : violation("its result is none");
  }
  if (view.workflow == Census::kWorkflow) {
    const auto done = read<CensusDone>(view.outcome);
    return done ? check_result(run, *done) : violation("its result is none");
  }
  const auto done = read<SurveyDone>(view.outcome);
  done ? check_result(name, run, *done) : violation("its result is none");
}

void StepJudge::check_failure(const kernel::RecordView& record, const kernel::InstanceView& view,
                              const Run& run) {
  const auto found = codec::View::of(view.outcome).find("code");
  const std::string code(found ? found->text().value_or("") : "");
  if (run.end != "timed_out" && code != run.end_code)
    violation("it failed with " + code + ", and its stream says " + run.end_code);
  if (code == "steps.timed_out") {
    report_.sometimes("a run of steps takes too long");
    if (view.workflow != Vigil::kWorkflow || run.end != "timed_out" ||
        record.tick.time_ns < run.begun_ns + Vigil::kTimeoutSeconds * kSecondNs)
      violation("it is said to have taken too long");
  } else if (code == "steps.cancelled") {
    const bool was_told = std::any_of(run.decisions.begin(), run.decisions.end(),
                                      [](const auto& one) { return one.second.aborts; });
    if (!was_told || run.end != "cancelled") violation("it cancelled itself, and nobody said so");
  } else {
    report_.sometimes("a run of steps fails");
    const bool is_known =
        code == "unlucky" || code == "effect.timeout" || code == "receipt.invalid_payload";
    if (!is_known || run.trouble == 0 || run.end != "failed")
      violation("it failed with " + code + " for no reason");
  }
}

void StepJudge::check_result(const std::string& name, const Run& run, const SurveyDone& done) {
  if (run.plans.size() != 1)
    return violation("it was begun " + std::to_string(run.plans.size()) + " times");
  const SurveyBegun& plan = run.plans.front();
  std::set<std::uint64_t> parts;
  std::size_t measured = 0;
  for (const Measured& part : done.parts) {
    if (part.n >= plan.parts || !parts.insert(part.n).second)
      return violation("a part counts twice, or is none of it");
    if (part.number == 0) continue;
    ++measured;
    const auto put = run.measured.find(part.n);
    if (put == run.measured.end() || put->second != part.number)
      return violation("a part counts, and its entry is not in the stream");
    if (!witness_.has_measured(name, part.n, part.number))
      return violation("a part counts that nobody measured");
  }
  if (parts.size() != plan.parts) return violation("a part is missing");
  if (run.measured.size() != measured) return violation("a part was put out and does not count");
  const std::set<std::uint64_t> samples(done.samples.begin(), done.samples.end());
  if (samples.size() != plan.samples || done.samples.size() != plan.samples)
    return violation("a sample is missing, or counts twice");
  if (done.counted != plan.samples) return violation("a sample is not counted once");
  if (done.serials.size() != plan.rounds) return violation("a question is left out");
  std::set<std::uint64_t> answers;
  for (std::uint64_t round = 1; round <= plan.rounds; ++round) {
    const std::uint64_t serial = done.serials[round - 1];
    if (!run.questions.contains(round)) return violation("a question was not asked");
    if (serial == 0) {
      if (plan.patience_s == 0) violation("a wait for ever ends without an answer");
      continue;
    }
    const auto decision = run.decisions.find(serial);
    if (decision == run.decisions.end() || decision->second.round != round)
      return violation("an answer is none that came");
    if (!answers.insert(serial).second) return violation("an answer counts twice");
  }
}

// Each that it heard came, and they came in this order.
void StepJudge::check_result(const Run& run, const VigilDone& done) {
  const bool is_wanted =
      std::any_of(run.vigils.begin(), run.vigils.end(),
                  [&](const VigilBegun& begun) { return begun.nudges == done.serials.size(); });
  if (!is_wanted) return violation("it heard more or fewer nudges than it waited for");
  auto at = run.nudges.begin();
  for (const std::uint64_t serial : done.serials) {
    at = std::find(at, run.nudges.end(), serial);
    if (at == run.nudges.end()) return violation("a nudge is none that came, or counts twice");
    ++at;
  }
  // Where one wait is there at a time each is for one of them, or for nobody.
  if (run.vigils.size() != 1 || run.is_blurred) return;
  for (const std::uint64_t serial : run.nudges) {
    const bool was_heard =
        std::find(done.serials.begin(), done.serials.end(), serial) != done.serials.end();
    if (was_heard == run.told.contains(serial))
      violation(was_heard ? "what was heard is told to be for nobody" : "a nudge is lost");
  }
}

// Each district once, and of its streets so many as are enough.
void StepJudge::check_result(const Run& run, const CensusDone& done) {
  if (run.censuses.size() != 1) return violation("it was not begun once");
  const CensusBegun& plan = run.censuses.front();
  if (done.districts.size() != plan.districts) return violation("a district is missing");
  std::uint64_t enough = 0;
  for (std::uint64_t n = 0; n < plan.districts; ++n)
    enough += std::min(kEnough, streets_of(plan, n));
  std::uint64_t drawn = 0;
  std::uint64_t written = 0;
  for (const Packed& packed : done.districts) {
    drawn += packed.drawn;
    written += packed.written;
  }
  if (drawn != enough || written != enough) violation("a street is missing, or counts twice");
  if (done.told != 0 && done.told != plan.districts) violation("its child was told something else");
}

}  // namespace holdfast::sim
