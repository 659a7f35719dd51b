// SPDX-License-Identifier: Apache-2.0
// For the tests over random ticks: which tick comes next. Whoever uses it says how to choose:
// choice(n) is a number below n, where 0 stands for the simplest thing.
#pragma once

#include <functional>
#include <iterator>
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
    if (choice_(128) == 127) return jam();
    if (model_.has_left_over() && choice_(2) == 1) return {of(Input::Kind::kContinue)};
    const std::size_t kind = choice_(68);
    if (kind < 22) return {event()};
    if (kind < 36) return {receipt()};
    if (kind < 41) return {progress()};
    if (kind < 46) return {control()};
    if (kind < 47) return {of(Input::Kind::kContinue)};
    if (kind < 50) return quiet(apply());
    if (kind < 53) return {propose()};
    if (kind < 56) return {about_proposal(Input::Kind::kShadow)};
    if (kind < 60) return {about_proposal(Input::Kind::kDecide)};
    if (kind < 64) return quiet(about_proposal(Input::Kind::kApplyProposal));
    return {forget()};
  }

  // One that runs no instances: whether it can depends on what others do.
  std::string any_script() {
    runs_ = false;
    std::string text = script(1);
    runs_ = true;
    return text;
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
                                    'O', 'T', 'W', 'A'}));
    const char c = runs_
                       ? one_of({'a', 'b', 'f', 's', 'w', 'p', 'n', 'c', 'x', 'd', 'P', 'T', 'r',
                                 'r', 't', 'g'})
                       : one_of({'a', 'b', 'f', 's', 'w', 'p', 'n', 'c', 'x', 'd', 'P', 'T', 'g'});
    std::string text(1, c);
    if (c == 'r' || c == 't') text += digit();
    if (c == 'r' && depth < 3) text += "(" + script(depth + 1) + ")(" + script(depth + 1) + ")";
    if (c == 'f' || c == 's' || c == 'w') text += digit();
    const bool nests = std::string_view("abfswpg").find(c) != std::string_view::npos;
    if (nests && depth < 3) text += "(" + script(depth + 1) + ")";
    return text;
  }

  // More than one tick may deliver.
  std::string flood() {
    return std::string("W") + digit() + "(w" + digit() + "(p(" + script(3) + "))p" + script(2) +
           ")";
  }

  // More than a mailbox may hold: an instance is paused, and others write to it.
  std::vector<Input> jam() {
    std::vector<Input> inputs;
    Input open;
    const std::string number(1, digit());
    open.event = {"t/Text@1", "k" + number, 0, "a"};
    inputs.push_back(open);
    Input pause = of(Input::Kind::kControl);
    pause.control = Control::kPause;
    pause.workflow = "w/Full@1";
    pause.key = text_key(open.event.name);
    inputs.push_back(pause);
    Input write;
    write.event = {"t/Plain@1", "", 0, "W" + number + "(" + script(2) + ")"};
    for (std::size_t i = choice_(4); i > 0; --i) inputs.push_back(write);
    for (std::size_t i = choice_(3); i > 0; --i) inputs.push_back(open);
    Input resume = pause;
    resume.control = Control::kResume;
    if (choice_(2) == 1) inputs.push_back(resume);
    return inputs;
  }

  char digit() { return static_cast<char>('0' + choice_(3)); }

  // The same each time, under the same id.
  static Input again() {
    Input input;
    input.event.schema = "t/Plain@1";
    input.id = "again";
    return input;
  }

  Input event() {
    if (rarely()) return again();
    Input input;
    input.event.schema = one_of({"t/Text@1", "t/Number@1", "t/Both@1", "t/Plain@1"});
    input.event.number = choice_(3);
    input.event.name = "k" + std::to_string(choice_(3));
    input.event.script = choice_(64) == 63 ? flood() : script(0);
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
    if (choice_(8) == 7) {
      address(input);
      input.starts = choice_(2) == 1;
    }
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
      input.fault = one_of({Fault::kDoesNotFit, Fault::kNotCbor, Fault::kBadSignature,
                            Fault::kNobodyChecks, Fault::kTooLarge});
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

  void address(Input& input) {
    input.workflow = one_of({"w/Full@1", "w/Some@1", "w/Whole@1", "w/Deaf@1"});
    if (input.workflow == "w/Full@1") input.key = text_key("k" + std::to_string(choice_(3)));
    if (input.workflow == "w/Some@1") input.key = number_key(choice_(3));
    if (rarely()) input.workflow = one_of({"w/Nobody@1", "w/Full@1", "w/Some@1", "w/Deaf@1"});
  }

  Input control() {
    Input input = of(Input::Kind::kControl);
    input.control = one_of({Control::kPause, Control::kResume, Control::kResume, Control::kCancel});
    address(input);
    if (rarely()) input.fault = Fault::kBadText;
    return input;
  }

  Input apply() {
    Input input = of(Input::Kind::kApply);
    input.document = one_of({Document::kFirst, Document::kOther, Document::kFirst, Document::kOther,
                             Document::kPatch, Document::kBroken, Document::kNotCbor});
    return input;
  }

  // Some of those that are there, as they are or as they were, and some that are not.
  Input forget() {
    Input input = of(Input::Kind::kForget);
    for (const auto& [name, record] : model_.last_records()) {
      if (choice_(2) == 1) input.forgotten.emplace_back(name, record - choice_(2));
    }
    if (rarely()) input.forgotten.emplace_back(Name{"w/Nobody@1", "k"}, 1000);
    if (rarely()) input.forgotten.resize(kMaxForgottenPerTick + choice_(2), {{"w/Full@1", "k"}, 1});
    return input;
  }

  Input propose() {
    Input input = of(Input::Kind::kPropose);
    input.document = one_of({Document::kPatch, Document::kOther, Document::kFirst, Document::kOther,
                             Document::kBroken, Document::kNotCbor});
    if (rarely()) input.fault = Fault::kBadText;
    return input;
  }

  Input about_proposal(Input::Kind kind) {
    Input input = of(kind);
    input.approve = choice_(4) != 3;
    // The newest first; none of them last.
    const auto& all = model_.proposals();
    const std::size_t which = choice_(all.size() + 1);
    if (which < all.size())
      input.proposal = std::next(all.rbegin(), static_cast<std::ptrdiff_t>(which))->first;
    if (rarely()) input.fault = one_of({Fault::kNotCbor, Fault::kBadText});
    return input;
  }

  // Sometimes everything is brought to its end before, so that a manifest has a chance.
  std::vector<Input> quiet(Input last) {
    std::vector<Input> inputs;
    if (choice_(2) == 1) {
      for (const Name& name : model_.active()) {
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
  bool runs_ = true;
};

}  // namespace holdfast::kernel::testing
