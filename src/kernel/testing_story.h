// SPDX-License-Identifier: Apache-2.0
// For the tests over random ticks: which tick comes next, and one run of such ticks through a world
// and the model beside it. Whoever uses it says how to choose: choice(n) is a number below n, where
// 0 stands for the simplest thing.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "kernel/testing_model.h"

namespace holdfast::kernel::testing {

using Choice = std::function<std::size_t(std::size_t)>;

// Makes inputs that have a chance to mean something to the model as it stands.
class Teller {
 public:
  Teller(const Model& model, const Choice& choice) : model_(model), choice_(choice) {}

  // The next few.
  std::vector<Input> tell() {
    const std::size_t kind = choice_(64);
    if (kind < 24) return {event()};
    if (kind < 40) return {receipt()};
    if (kind < 45) return {progress()};
    if (kind < 50) return {control()};
    if (kind < 53) return {of(Input::Kind::kContinue)};
    if (kind < 56) return quiet(apply());
    if (kind < 58) return {propose()};
    if (kind < 60) return {about_proposal(Input::Kind::kShadow)};
    if (kind < 62) return {about_proposal(Input::Kind::kDecide)};
    return quiet(about_proposal(Input::Kind::kApplyProposal));
  }

 private:
  static Input of(Input::Kind kind) {
    Input input;
    input.kind = kind;
    return input;
  }
  bool rarely() { return choice_(16) == 15; }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[choice_(list.size())];
  }

  std::string script(std::size_t depth) {
    std::string text;
    for (std::size_t i = choice_(4); i > 0; --i) text += action(depth);
    return text;
  }

  std::string action(std::size_t depth) {
    if (rarely())
      return std::string(1, one_of({'U', 'Q', 'H', 'M', 'E', 'K', 'B', 'L', 'V', 'R', 'N', 'Z', 'P',
                                    'O', 'T', 'W'}));
    const char c = one_of({'a', 'b', 'f', 's', 'w', 'p', 'n', 'c', 'x', 'd', 'P', 'T'});
    std::string text(1, c);
    if (c == 'f' || c == 's' || c == 'w') text += digit();
    const bool nests = std::string_view("abfswp").find(c) != std::string_view::npos;
    if (nests && depth < 3) text += "(" + script(depth + 1) + ")";
    if (depth == 0 && c == 'f' && choice_(32) == 31) text[0] = 'W';
    return text;
  }

  char digit() { return static_cast<char>('0' + choice_(3)); }

  Input event() {
    Input input;
    input.event.schema = one_of({"t/Text@1", "t/Number@1", "t/Both@1", "t/Plain@1"});
    input.event.number = choice_(3);
    input.event.name = "k" + std::to_string(choice_(3));
    input.event.script = script(0);
    if (choice_(4) == 3) input.id = "id" + std::to_string(choice_(10));
    if (choice_(8) == 7) wrap(input);
    if (input.variant.empty() && rarely())
      input.event.schema = one_of({"t/Nobody@1", "t/Unknown@1", "t/More@1"});
    if (rarely()) input.event.name = long_name();
    if (rarely()) {
      input.fault = one_of({Fault::kNotCanonical, Fault::kDoesNotFit, Fault::kNotCbor,
                            Fault::kBadText, Fault::kPretends});
    }
    if (input.fault == Fault::kPretends) input.variant = "t/WholeEvent@1";
    return input;
  }

  static void wrap(Input& input) {
    const std::string& schema = input.event.schema;
    if (schema == "t/Number@1" || schema == "t/Both@1") input.variant = "t/SomeEvent@1";
    if (schema == "t/Plain@1") input.variant = "t/WholeEvent@1";
  }

  // One of those that were opened, mostly of those that are open, rarely none.
  std::size_t intent() {
    const auto& all = model_.intents();
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].settled) open.push_back(i);
    }
    if (!open.empty() && choice_(4) != 3) return open[choice_(open.size())];
    return choice_(all.size() + 1);
  }

  Input receipt() {
    Input input = of(Input::Kind::kReceipt);
    input.intent = intent();
    input.status = one_of({ReceiptStatus::kOk, ReceiptStatus::kOk, ReceiptStatus::kError,
                           ReceiptStatus::kTimeout, ReceiptStatus::kCancelled});
    if (choice_(8) == 7) {
      input.fault =
          one_of({Fault::kDoesNotFit, Fault::kNotCbor, Fault::kBadSignature, Fault::kNobodyChecks});
    }
    return input;
  }

  Input progress() {
    Input input = of(Input::Kind::kProgress);
    input.intent = intent();
    const auto& all = model_.intents();
    input.sequence = input.intent < all.size() ? all[input.intent].progress + choice_(4) : 1;
    if (choice_(4) == 3) input.script = script(2);
    if (rarely()) input.fault = one_of({Fault::kNotCbor, Fault::kBadText});
    return input;
  }

  Input control() {
    Input input = of(Input::Kind::kControl);
    input.control = one_of({Control::kPause, Control::kResume, Control::kResume, Control::kCancel});
    input.workflow = one_of({"w/Full@1", "w/Some@1", "w/Whole@1", "w/Deaf@1"});
    if (input.workflow == "w/Full@1") input.key = text_key("k" + std::to_string(choice_(3)));
    if (input.workflow == "w/Some@1") input.key = number_key(choice_(3));
    if (rarely()) input.workflow = "w/Nobody@1";
    if (rarely()) input.fault = Fault::kBadText;
    return input;
  }

  Input apply() {
    Input input = of(Input::Kind::kApply);
    input.document = one_of({Document::kFirst, Document::kOther, Document::kFirst, Document::kOther,
                             Document::kPatch, Document::kBroken, Document::kNotCbor});
    return input;
  }

  Input propose() {
    Input input = of(Input::Kind::kPropose);
    input.document = one_of({Document::kPatch, Document::kOther, Document::kFirst, Document::kPatch,
                             Document::kBroken, Document::kNotCbor});
    if (rarely()) input.fault = Fault::kBadText;
    return input;
  }

  Input about_proposal(Input::Kind kind) {
    Input input = of(kind);
    input.approve = choice_(4) != 3;
    const auto& all = model_.proposals();
    std::size_t back = choice_(all.size() + 1);
    for (auto at = all.rbegin(); at != all.rend() && back-- != all.size(); ++at)
      input.proposal = at->first;
    if (rarely()) input.fault = one_of({Fault::kNotCbor, Fault::kBadText});
    return input;
  }

  // Sometimes everything is brought to its end before, so that a manifest has a chance.
  std::vector<Input> quiet(Input last) {
    std::vector<Input> inputs;
    if (choice_(2) == 1) {
      for (const Model::Name& name : model_.active()) {
        Input cancel = of(Input::Kind::kControl);
        cancel.workflow = name.first;
        cancel.key = name.second;
        inputs.push_back(std::move(cancel));
      }
    }
    inputs.push_back(std::move(last));
    return inputs;
  }

  const Model& model_;
  const Choice& choice_;
};

// What a world came to, in the words of the model.
class Reporter {
 public:
  explicit Reporter(const MemoryBlobs& blobs) : blobs_(blobs) {}

  // Numbers the intents that the outcome opens.
  Prediction report(const Outcome& outcome) {
    Prediction told;
    for (const Command& command : outcome.commands) {
      if (const auto* open = std::get_if<OpenIntent>(&command)) {
        const bool is_new = numbers_.emplace(open->intent, intents_.size()).second;
        if (!is_new) told.answer = "an identity was given twice, ";
        intents_.push_back(open->intent);
        told.commands.push_back("open " + open->effect + " for " + open->workflow + " " +
                                base::to_hex(open->key) + ": " +
                                std::string(*codec::View::of(open->params).find("do")->text()));
      } else if (const auto* stop = std::get_if<StopIntent>(&command)) {
        told.commands.push_back("stop " + number(stop->intent));
      } else {
        told.commands.emplace_back("continue");
      }
    }
    told.answer += std::visit([&](const auto& answer) { return words(answer); }, outcome.answer);
    return told;
  }

  std::string describe(const Cell* cell) const {
    if (cell == nullptr) return "";
    base::Bytes state = cell->state;
    if (state.empty() && cell->state_blob) state = blobs_.get(*cell->state_blob).value();
    std::string outcome;
    if (cell->phase == Phase::kCompleted) outcome = "done";
    if (cell->phase == Phase::kFailed)
      outcome = *codec::View::of(cell->outcome).find("code")->text();
    return standing(cell->status(), cell->paused, cell->intents, cell->mail.size()) + ", state " +
           base::to_hex(state) + ", outcome " + outcome;
  }

  const std::vector<base::Hash>& intents() const { return intents_; }

 private:
  std::string number(const base::Hash& intent) const {
    const auto found = numbers_.find(intent);
    return found == numbers_.end() ? "unknown" : std::to_string(found->second);
  }

  std::string standing(Status status, bool paused, const std::vector<base::Hash>& intents,
                       std::uint64_t mail) const {
    std::string text(name_of(status));
    if (paused) text += ", paused";
    for (const base::Hash& intent : intents) text += ", intent " + number(intent);
    return text + ", mail " + std::to_string(mail);
  }

  static std::string words(const Accepted& accepted) {
    return "accepted " + std::to_string(accepted.record) + ", delivered " +
           std::to_string(accepted.deliveries) + ", ignored " + std::to_string(accepted.ignored) +
           (accepted.unrouted ? ", unrouted" : "");
  }
  static std::string words(const Repeated& repeated) {
    return "repeated " + std::to_string(repeated.record) +
           (repeated.settled ? " " + std::string(name_of(*repeated.settled)) : "");
  }
  static std::string words(const Refused& refused) {
    return "refused " + std::string(base::to_string(refused.code));
  }
  std::string words(const Blocked& blocked) const {
    std::vector<std::string> lines;
    for (const Blocker& blocker : blocked.blockers) {
      lines.push_back("\n" + blocker.workflow + " " + base::to_hex(blocker.key) + " " +
                      standing(blocker.status, blocker.paused, blocker.intents, blocker.mail));
    }
    // The model knows nothing of key hashes, by which they are ordered.
    std::sort(lines.begin(), lines.end());
    std::string text = "blocked";
    for (const std::string& line : lines) text += line;
    return blocked.count == lines.size() ? text : text + "\nand others";
  }

  const MemoryBlobs& blobs_;
  std::map<base::Hash, std::size_t> numbers_;
  std::vector<base::Hash> intents_;
};

}  // namespace holdfast::kernel::testing
