// SPDX-License-Identifier: Apache-2.0
#include "steps/execution.h"

#include <algorithm>
#include <variant>

#include "steps/broker.h"
#include "steps/results_codec.h"
#include "steps/tick.h"

namespace holdfast::steps {
namespace {

using codec::View;

std::string_view text_in(View map, std::string_view name) {
  const auto member = map.find(name);
  return member ? member->text().value_or("") : "";
}

std::uint64_t number_in(View map, std::string_view name) {
  const auto member = map.find(name);
  return member ? member->nat().value_or(0) : 0;
}

base::ByteView bytes_in(View map, std::string_view name) {
  const auto member = map.find(name);
  return member ? member->bytes().value_or(base::ByteView()) : base::ByteView();
}

base::Bytes copied(base::ByteView bytes) { return {bytes.begin(), bytes.end()}; }

// Of a list that was written by us.
std::vector<View> elements_of(const std::optional<View>& list) {
  std::vector<View> all;
  if (!list) return all;
  for (const View element : list->elements()) all.push_back(element);
  return all;
}

constexpr std::string_view kBeganAgainKind = "began_again";  // of a frame

// The parts of a step's params that are asked for here; docs/formats/steps.md.
enum WorkPart : std::size_t { kValue = 2, kItem = 3, kUnjudged = 6, kWaits = 8, kWorkParts = 10 };

}  // namespace

// [schema, value], or a list of these.
bool PieceCounts::take(View record) {
  const auto tick = record.find("tick");
  if (!tick || text_in(*tick, "kind") != "progress") return false;
  const auto payload = tick->find("payload");
  if (payload && text_in(*tick, "frame") != kBeganAgainKind) {
    const std::string intent(text_in(*tick, "intent"));
    const auto count = [&](View piece) {
      const std::vector<View> parts = elements_of(piece);
      if (parts.size() == 2 && parts[0].text() && parts[1].bytes())
        ++counts_[{intent, std::string(*parts[0].text())}];
    };
    const std::vector<View> pieces = elements_of(payload);
    if (!pieces.empty() && pieces.front().text()) {
      count(*payload);
    } else {
      for (const View piece : pieces) count(piece);
    }
  }
  for (const View instance : elements_of(record.find("instances"))) {
    const std::string_view status = text_in(instance, "status");
    const auto has = [&](std::string_view name) {
      const auto list = instance.find(name);
      return list && list->size() != 0;
    };
    if ((status != "running" && status != "waiting") || has("opened") || has("settled"))
      return false;
  }
  return true;
}

ExecutionReader::ExecutionReader(const Graph& graph, std::string workflow, base::Bytes key)
    : graph_(graph), workflow_(std::move(workflow)), key_(std::move(key)), execution_(graph) {}

void ExecutionReader::add(View record) {
  const auto instances = record.find("instances");
  if (!instances) return;
  for (const View instance : instances->elements()) {
    const auto key = instance.find("key");
    if (text_in(instance, "workflow") != workflow_ || !key) continue;
    if (key_.empty() ? !key->is_null() : !base::equal(key->encoded(), key_)) continue;
    add_instance(record, instance);
  }
}

void ExecutionReader::forget_life() {
  execution_ = Execution(graph_);
  open_.clear();
  untaken_.clear();
  items_.clear();
}

void ExecutionReader::add_instance(View record, View instance) {
  const std::uint64_t number = number_in(record, "record");
  if (execution_.first_record == 0) {
    execution_.first_record = number;
    execution_.is_whole = number_in(instance, "previous") == 0;
  }
  execution_.last_record = number;
  if (const auto tick = record.find("tick")) take_tick(*tick, instance);
  // Somebody who is paused has not seen it yet, and who has ended never will.
  if (number_in(instance, "steps") != 0) {
    for (const Receipt& receipt : std::exchange(untaken_, {})) settle(receipt);
  }
  for (const View opened : elements_of(instance.find("opened"))) open(opened);
  for (const View settled : elements_of(instance.find("settled"))) give_up(settled, instance);
  const auto outcome = instance.find("outcome");
  if (outcome && text_in(instance, "status") == "failed")
    execution_.error_code = text_in(*outcome, "code");
  const std::string_view status = text_in(instance, "status");
  if (status == "deleted" || status == "unhandled") forget_life();
}

void ExecutionReader::take_tick(View tick, View instance) {
  const std::string_view kind = text_in(tick, "kind");
  if (kind == "event") {
    const auto type = graph_.type_named(text_in(tick, "schema"));
    if (type && number_in(instance, "ignored") == 0) ++execution_.came[*type];
    return;
  }
  if (kind != "receipt") return;
  const auto run = open_.find(text_in(tick, "intent"));
  if (run == open_.end()) return;
  Receipt receipt{run->second, text_in(tick, "status") == "ok", {}};
  if (const auto payload = tick.find("payload")) receipt.payload = copied(payload->encoded());
  open_.erase(run);
  untaken_.push_back(std::move(receipt));
}

void ExecutionReader::open(View opened) {
  const auto params = opened.find("params");
  const auto step = params ? graph_.step_named(text_in(*params, "step")) : std::nullopt;
  const auto type = params ? graph_.type_named(text_in(*params, "event")) : std::nullopt;
  if (!step || !type) return;  // a timer, say
  const base::ByteView bytes = bytes_in(*params, "work");
  if (bytes.empty()) return;
  const std::vector<View> work = elements_of(View::of(bytes));
  if (work.size() < kWorkParts) return;
  const Run run{*step, work[kItem].nat().value_or(0), work[kUnjudged].size() != 0, false};
  const std::string intent(text_in(opened, "intent"));
  open_.emplace(intent, run);
  const auto& pieces = pieces_.counts();
  for (auto piece = pieces.lower_bound({intent, {}});
       piece != pieces.end() && piece->first.first == intent; ++piece) {
    if (const auto published = graph_.type_named(piece->first.second))
      execution_.put[{*step, *published}] += piece->second;
  }
  if (run.is_judging) return;
  ++execution_.steps[*step].runs;
  const auto [item, is_new] = items_.try_emplace(std::pair(*step, run.item));
  if (!item->second.ended_with.empty()) {
    item->second.ended_with.clear();
    ++execution_.steps[*step].ignored;
  }
  if (is_new) {
    const std::vector<TypeIndex>& slots = graph_.step(*step).slots;
    for (const TypeIndex slot : slots) ++execution_.taken[{*step, slot}];
    if (slots.empty()) ++execution_.taken[{*step, *type}];
    const base::ByteView value = work[kValue].bytes().value_or(base::ByteView());
    if (graph_.type(*type).role == Role::kStepFailed && !value.empty()) {
      if (const auto failed = graph_.step_named(text_in(View::of(value), "step")))
        ++execution_.handled[{*failed, *step}];
    }
  }
  std::uint64_t answers = 0;
  for (const View wait : work[kWaits].elements()) {
    const std::vector<View> parts = elements_of(wait);
    if (parts.size() != 3 || answers++ < item->second.answers) continue;
    if (const auto answer = graph_.type_named(parts[1].text().value_or("")))
      ++execution_.answered[{*step, *answer}];
  }
  item->second.answers = std::max(item->second.answers, answers);
}

// Whose receipt came is not open any more; what is left was given up, by a step or with the end.
void ExecutionReader::give_up(View settled, View instance) {
  const auto run = open_.find(text_in(settled, "intent"));
  if (run == open_.end()) return;
  const std::string_view status = text_in(instance, "status");
  if (status == "running" || status == "waiting") ++execution_.steps[run->second.step].ignored;
  open_.erase(run);
}

void ExecutionReader::settle(const Receipt& receipt) {
  const Run& run = receipt.run;
  StepTally& tally = execution_.steps[run.step];
  if (run.is_cancelled) {
    ++tally.ignored;
    return;
  }
  const View payload = View::of(receipt.payload);
  if (!receipt.is_ok)  // somebody will be asked whether to try again
    return fail(run, text_in(payload, "code"), text_in(payload, "message"), run.is_judging);
  const base::ByteView results = bytes_in(payload, "results");
  Arena arena;
  const auto did = read_results(results, graph_, arena);
  if (!did) return fail(run, "steps.bad_result", did.error().message(), run.is_judging);
  bool waits = false;
  for (const Did& one : *did) {
    if (const auto* failed = std::get_if<Failed>(&one)) {
      const bool is_given_up = failed->is_judged ? !failed->retry_ns : run.is_judging;
      return fail(run, failed->failure.code, failed->failure.message, is_given_up);
    }
    waits |= std::holds_alternative<AddWaiter>(one);
    if (const auto* cancels = std::get_if<CancelStep>(&one)) cancel(cancels->step);
  }
  Item& item = items_[{run.step, run.item}];
  if (waits) {
    ++tally.waits;
    count(run.step, item, results);
  } else {
    item.ended_with = copied(results);
  }
}

// What only asks whether to try again says the same failure once more.
void ExecutionReader::fail(const Run& run, std::string_view code, std::string_view message,
                           bool is_given_up) {
  StepTally& tally = execution_.steps[run.step];
  if (!run.is_judging) {
    ++tally.failed;
    if (tally.failures.size() == StepTally::kMostFailures)
      tally.failures.erase(tally.failures.begin());
    tally.failures.push_back({run.item, std::string(code), std::string(message)});
  }
  if (tally.given_up == 0 || is_given_up) {
    tally.last_code = code;
    tally.last_message = message;
  }
  if (is_given_up) ++tally.given_up;
}

void ExecutionReader::cancel(StepIndex step) {
  for (auto& [intent, run] : open_) run.is_cancelled |= run.step == step;
}

void ExecutionReader::count(StepIndex step, Item& item, base::ByteView results) {
  Arena arena;
  const auto did = read_results(results, graph_, arena);
  if (!did) return;
  std::uint64_t let_out = 0;
  const auto add = [&](Execution::ByStepAndType& way, const Event& event) {
    ++way[{step, event.type}];
  };
  for (const Did& one : *did) {
    if (const auto* returned = std::get_if<Returned>(&one)) {
      if (returned->event) add(execution_.returned, *returned->event);
    } else if (const auto* list = std::get_if<ReturnedList>(&one)) {
      for (const Event& event : list->events) add(execution_.returned, event);
    } else if (const auto* sent = std::get_if<Sent>(&one)) {
      if (let_out++ >= item.let_out) add(execution_.sent, sent->event);
    } else if (const auto* put = std::get_if<Streamed>(&one)) {
      if (let_out++ >= item.let_out) add(execution_.put, put->event);
    } else if (const auto* wait = std::get_if<AddWaiter>(&one)) {
      if (wait->asks) add(execution_.put, *wait->asks);
    }
  }
  item.let_out = std::max(item.let_out, let_out);
}

Execution ExecutionReader::finish(base::ByteView state, std::string_view status) && {
  execution_.status = status;
  for (auto& [name, item] : items_) {
    if (item.ended_with.empty()) continue;
    ++execution_.steps[name.first].completed;
    count(name.first, item, item.ended_with);
  }
  const bool is_live = !execution_.has_ended() && !state.empty();
  const auto broker = is_live ? broker_in(state, graph_) : std::nullopt;
  if (!broker) return std::move(execution_);
  for (StepIndex step = 0; step < execution_.steps.size(); ++step) {
    const StepState& now = broker->state.steps[step];
    StepTally& tally = execution_.steps[step];
    tally.running = now.running.size();
    tally.queued = now.queue.size();
    for (const Attempt& attempt : now.queue) {
      if (attempt.not_before_ns == 0) continue;
      const bool is_first = tally.delayed++ == 0;
      if (is_first || attempt.not_before_ns < tally.delayed_ns)
        tally.delayed_ns = attempt.not_before_ns;
    }
    for (const Waiter& waiter : now.waiters)
      if (waiter.is_open())
        tally.waiting.push_back({waiter.type, waiter.deadline_ns,
                                 std::string(waiter.child ? waiter.child->workflow : "")});
  }
  return std::move(execution_);
}

}  // namespace holdfast::steps
