// SPDX-License-Identifier: Apache-2.0
// For the tests over random ticks: a world and the model beside it, that get the same inputs.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "kernel/record_view.h"
#include "kernel/testing_model.h"

namespace holdfast::kernel::testing {

// What a world came to, in the words of the model.
class Reporter {
 public:
  explicit Reporter(const MemoryBlobs& blobs) : blobs_(blobs) {}

  // Numbers the intents that the outcome opens.
  Told report(const Outcome& outcome) {
    Told told;
    for (const Command& command : outcome.commands) {
      if (const auto* open = std::get_if<OpenIntent>(&command)) {
        const bool is_new = numbers_.emplace(open->intent, intents_.size()).second;
        if (!is_new) told.answer = "an identity was given twice, ";
        intents_.push_back(open->intent);
        told.commands.push_back(opens(open->effect->name,
                                      {std::string(open->workflow), text(open->key)},
                                      *codec::View::of(open->params).find("do")->text()));
      } else if (const auto* stop = std::get_if<StopIntent>(&command)) {
        told.commands.push_back(stops(number(stop->intent)));
      } else {
        told.commands.emplace_back(kContinues);
      }
    }
    number_runs(outcome.record);
    note_unhandled(outcome.answer, told.answer);
    told.answer += std::visit([&](const auto& answer) { return say(answer); }, outcome.answer);
    return told;
  }

  std::string describe(const Cell* cell) const {
    if (cell == nullptr) return "";
    return standing(cell->status(), cell->paused, numbers(cell->intents), cell->mail.size()) +
           ", state " + base::to_hex(state_of(*cell)) + ", outcome " + outcome_of(*cell);
  }

  base::Bytes state_of(const Cell& cell) const {
    return cell.state.empty() && cell.state_blob ? blobs_.get(*cell.state_blob).value()
                                                 : cell.state;
  }

  static std::string outcome_of(const Cell& cell) {
    if (cell.phase == Phase::kCompleted) return "done";
    if (cell.phase != Phase::kFailed) return "";
    return std::string(*codec::View::of(cell.outcome).find("code")->text());
  }

  const std::vector<base::Hash>& intents() const { return intents_; }

 private:
  static std::string text(base::ByteView bytes) { return std::string(base::as_text(bytes)); }

  // An event that comes again is as unhandled as it was.
  void note_unhandled(const Answer& answer, std::string& wrong) {
    if (const auto* first = std::get_if<Accepted>(&answer))
      unhandled_[first->record] = first->unhandled;
    const auto* again = std::get_if<Repeated>(&answer);
    if (again == nullptr || again->settled || again->deliveries == 0) return;
    const auto first = unhandled_.find(again->record);
    if (first != unhandled_.end() && first->second != again->unhandled)
      wrong += "another number of unhandled deliveries, ";
  }

  // Effects that run an instance leave as no command: they are in the record.
  void number_runs(base::ByteView record) {
    const auto view = record.empty() ? base::Result<RecordView>(RecordView()) : read_record(record);
    if (!view) return;
    for (const InstanceView& instance : view->instances) {
      for (const OpenedView& opened : instance.opened) {
        if (opened.effect != "sys/workflow.run@1") continue;
        const base::ByteView key = *codec::View::of(opened.params).find("key")->bytes();
        numbers_[opened.intent] = run_number(base::as_text(key));
      }
    }
  }

  std::size_t number(const base::Hash& intent) const {
    const auto found = numbers_.find(intent);
    return found == numbers_.end() ? SIZE_MAX : found->second;
  }
  template <class Intents>
  std::vector<std::size_t> numbers(const Intents& intents) const {
    std::vector<std::size_t> all;
    for (const base::Hash& intent : intents) all.push_back(number(intent));
    return all;
  }

  static std::string say(const Accepted& answer) {
    return accepted(reached(answer.record, answer.deliveries, answer.ignored, answer.unrouted));
  }
  static std::string say(const Repeated& answer) {
    if (answer.settled) return repeated(answer.record, *answer.settled);
    return repeated(reached(answer.record, answer.deliveries, answer.ignored, answer.unrouted));
  }
  static std::string say(const Refused& answer) { return refused(answer.code); }
  // Of ticks about leases, which are not told here.
  static std::string say(const Unchanged&) { return "unchanged"; }
  std::string say(const Blocked& answer) const {
    std::vector<std::string> lines;
    for (const Blocker& blocker : answer.blockers) {
      lines.push_back(
          "\n" + words({blocker.workflow, text(blocker.key)}) + " " +
          standing(blocker.status, blocker.paused, numbers(blocker.intents), blocker.mail));
    }
    // The model knows nothing of key hashes, by which they are ordered.
    std::sort(lines.begin(), lines.end());
    std::string text = "blocked";
    for (const std::string& line : lines) text += line;
    return answer.count == lines.size() ? text : text + "\nand others";
  }

  const MemoryBlobs& blobs_;
  std::map<base::Hash, std::size_t> numbers_;
  std::map<std::uint64_t, std::uint32_t> unhandled_;  // by record
  std::vector<base::Hash> intents_;
};

// Worlds that replay what a Play has done need the same.
inline constexpr WorldOptions kPlayOptions{.cells = {}, .mail_per_instance = kModelMail};

// One run. The world keeps its journal, the inputs stay as they were sent.
class Play {
 public:
  explicit Play(const MachineSource& machines, WorldOptions options = kPlayOptions)
      : world_(machines, blobs_, options) {}

  // In what the world and the model differ; empty: nothing.
  std::string send(const Input& input) {
    const Prepared prepared(input, reporter_.intents(), inputs_.size());
    last_ = world_.reduce(prepared.tick());
    inputs_.push_back(input);
    records_.push_back(last_.record);
    if (last_.failure) return "the world failed: " + last_.failure->to_string();
    const Told expected = model_.reduce(input);
    told_ = reporter_.report(last_);
    if (told_.answer != expected.answer) return differ("the answer", expected.answer, told_.answer);
    for (std::size_t i = 0; i < std::max(told_.commands.size(), expected.commands.size()); ++i) {
      const std::string was = i < told_.commands.size() ? told_.commands[i] : "";
      const std::string should = i < expected.commands.size() ? expected.commands[i] : "";
      if (was != should) return differ("command " + std::to_string(i), should, was);
    }
    return compare_all();
  }

  World& world() { return world_; }
  MemoryBlobs& blobs() { return blobs_; }
  const Model& model() const { return model_; }
  const Reporter& reporter() const { return reporter_; }
  const Outcome& last() const { return last_; }
  const Told& told() const { return told_; }  // of the last one

  // As they were sent, and what each left behind; empty: nothing.
  const std::deque<Input>& inputs() const { return inputs_; }
  const std::vector<base::Bytes>& records() const { return records_; }

 private:
  // Everything that can be seen between ticks.
  std::string compare_all() {
    for (const auto& [name, should] : model_.instances()) {
      const Cell* cell = *world_.find(name.first, base::as_bytes(name.second));
      const std::string is = reporter_.describe(cell);
      if (is != should) return differ(words(name), should, is);
    }
    std::string stages;
    for (const auto& [id, proposal] : model_.proposals())
      stages += std::to_string(id) + " " + proposal.stage + "\n";
    std::string told;
    for (const ProposalView& proposal : world_.proposals())
      told += std::to_string(proposal.id) + " " + std::string(proposal.stage) + "\n";
    if (told != stages) return differ("the proposals", stages, told);
    const std::uint64_t open = model_.open_effects();
    if (world_.open_intents() == open) return {};
    return differ("open intents", std::to_string(open), std::to_string(world_.open_intents()));
  }

  static std::string differ(const std::string& what, const std::string& should,
                            const std::string& is) {
    return what + ": should be '" + should + "', is '" + is + "'";
  }

  MemoryBlobs blobs_;
  World world_;
  Reporter reporter_{blobs_};
  Model model_;
  std::deque<Input> inputs_;
  std::vector<base::Bytes> records_;
  Outcome last_;
  Told told_;
};

}  // namespace holdfast::kernel::testing
