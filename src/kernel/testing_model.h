// SPDX-License-Identifier: Apache-2.0
// Model: what a world should do, as plainly as possible: maps and lists, no cache, no index, no
// records, no bounds in bytes (scripts do not reach them). It understands the scripted world
// (testing_script.h) and says for every input the answer, the commands, and how each instance
// stands. Intents are numbered in the order of their opening.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernel/testing_input.h"
#include "kernel/testing_rules.h"
#include "kernel/testing_words.h"

namespace holdfast::kernel::testing {

// How many messages a mailbox holds in random runs: so many that a run may fill one.
inline constexpr std::size_t kModelMail = 1024;

class Model {
 public:
  struct Message {
    MailKind kind;
    std::string script;
  };
  struct Instance {
    Phase phase = Phase::kActive;
    bool paused = false;
    std::optional<ScriptState> state;
    std::string outcome;  // a code, or "done"
    std::vector<std::size_t> intents;
    std::deque<Message> mail;
    std::uint64_t last_record = 0;
    std::optional<std::pair<Name, std::string>> run_by;  // for whom, and what that does then
    std::size_t depth = 0;
    bool doomed = false;
  };
  struct Intent {
    Name origin;
    std::string effect, script;
    std::uint64_t opened_at;
    std::uint64_t progress = 0;
    std::optional<std::pair<std::uint64_t, ReceiptStatus>> settled;
  };
  struct Proposal {
    std::string stage;
    Rules base, made;
  };

  Told reduce(const Input& input) {
    commands_.clear();
    delivered_ = ignored_ = 0;
    unrouted_ = false;
    std::string answer = dispatch(input);
    if (answer.empty()) {
      answer = accepted(reached(next_record_, delivered_, ignored_, unrouted_));
      const bool runs_no_code =
          input.kind == Input::Kind::kForget ||
          (input.kind == Input::Kind::kControl && input.control != Control::kResume);
      take_turns(runs_no_code ? 0 : kMaxDeliveriesPerTick);
      ++next_record_;
    }
    return {answer, commands_};
  }

  // Every instance that there ever was; nothing: it is gone.
  std::map<Name, std::string> instances() const {
    std::map<Name, std::string> all;
    for (const Name& name : ever_) all[name] = "";
    for (const auto& [name, instance] : instances_) {
      codec::Buffer state;
      if (instance.state) instance.state->write(state);
      all[name] = describe(instance) + ", state " + base::to_hex(state.view()) + ", outcome " +
                  instance.outcome;
    }
    return all;
  }

  // Those that are there, with the last record that touched each.
  std::vector<std::pair<Name, std::uint64_t>> last_records() const {
    std::vector<std::pair<Name, std::uint64_t>> all;
    for (const auto& [name, instance] : instances_) all.emplace_back(name, instance.last_record);
    return all;
  }

  const std::vector<Intent>& intents() const { return intents_; }
  const std::map<std::uint64_t, Proposal>& proposals() const { return proposals_; }
  Rules rules() const { return rules_; }
  bool has_left_over() const { return !line_.empty(); }

  std::size_t open_effects() const {
    std::size_t open = 0;
    for (const auto& [name, instance] : instances_) open += instance.intents.size();
    return open;
  }

  // Instances that run for others, and those that are given up and have not had their turn.
  std::size_t running_for_others() const {
    return count_if([](const Instance& instance) { return instance.run_by.has_value(); });
  }
  std::size_t given_up() const {
    return count_if([](const Instance& instance) { return instance.doomed; });
  }

  std::vector<Name> active() const {
    std::vector<Name> names;
    for (const auto& [name, instance] : instances_) {
      if (instance.phase == Phase::kActive) names.push_back(name);
    }
    return names;
  }

 private:
  using Code = base::ErrorCode;

  template <class Test>
  std::size_t count_if(Test test) const {
    return static_cast<std::size_t>(std::count_if(
        instances_.begin(), instances_.end(), [&](const auto& one) { return test(one.second); }));
  }

  // An empty text: accepted.
  std::string dispatch(const Input& input) {
    switch (input.kind) {
      case Input::Kind::kEvent: return event(input);
      case Input::Kind::kReceipt: return receipt(input);
      case Input::Kind::kProgress: return progress(input);
      case Input::Kind::kContinue: return line_.empty() ? refused(Code::kConflict) : "";
      case Input::Kind::kControl: return control(input);
      case Input::Kind::kApply: return apply_document(input);
      case Input::Kind::kPropose: return propose(input);
      case Input::Kind::kShadow: return shadow(input);
      case Input::Kind::kDecide: return decide(input);
      case Input::Kind::kApplyProposal: return apply_proposal(input);
      case Input::Kind::kForget: return forget(input);
    }
    return {};
  }

  // Whether all of them may get one message more; `planned` counts what the same tick or step
  // brings. A refusal: some key is too long, or some mailbox full.
  std::string plan(const std::vector<Name>& names, std::map<Name, std::size_t>& planned,
                   bool from_step = false) const {
    for (const Name& name : names) {
      if (name.second.size() > kMaxKeyBytes) return refused(Code::kTooLarge);
      const auto found = instances_.find(name);
      if (found != instances_.end() && found->second.phase != Phase::kActive) continue;
      const std::size_t waiting = found == instances_.end() ? 0 : counted(found->second);
      if (from_step) continue;
      if (waiting + planned[name]++ >= kModelMail || first_for(name) != nullptr)
        return refused(Code::kUnavailable);
    }
    return {};
  }

  // Messages that needed room.
  static std::size_t counted(const Instance& instance) {
    return static_cast<std::size_t>(
        std::count_if(instance.mail.begin(), instance.mail.end(),
                      [](const Message& it) { return !is_answer(it.kind); }));
  }

  void deliver(const Name& name, Message message) {
    ever_.insert(name);
    Instance& instance = touch(name);
    if (instance.phase != Phase::kActive) {
      ++ignored_;
      return;
    }
    ++delivered_;
    const bool holds =
        !instance.mail.empty() && (message.kind == MailKind::kEvent || waits_for_.contains(name));
    instance.mail.push_back(std::move(message));
    if (!instance.paused && !holds) line_up(name);
  }

  // Room for mail. Bytes are not counted here: scripts do not fill a mailbox with them.
  bool is_full(const Name& name) const {
    const auto found = instances_.find(name);
    return found != instances_.end() && found->second.phase == Phase::kActive &&
           counted(found->second) >= kModelMail;
  }
  const Name* first_for(const Name& room) const {
    for (const Name& name : waiting_) {
      if (waits_for_.at(name) == room) return &name;
    }
    return nullptr;
  }
  // Follows those who wait for each other: 0 no, 1 yes, 2 too far.
  int leads_to(Name from, const Name& to) const {
    for (int i = 0; i < 64; ++i) {
      if (from == to) return 1;
      const auto next = waits_for_.find(from);
      if (next == waits_for_.end()) return 0;
      from = next->second;
    }
    return 2;
  }
  void tell_room(const Name& room) {
    const Name* first = first_for(room);
    if (first != nullptr && !is_full(room)) line_up(*first);
  }
  void stop_waiting(const Name& name) {
    const auto found = waits_for_.find(name);
    if (found == waits_for_.end()) return;
    const Name room = found->second;
    waits_for_.erase(found);
    std::erase(waiting_, name);
    tell_room(room);
  }
  // Whose room a step has to wait for; nothing: it may go on, or it fails with `code`.
  std::optional<Name> room_wanted(const Name& name, const std::vector<std::vector<Name>>& to,
                                  std::string& code) const {
    std::vector<Name> all;
    for (const auto& some : to) all.insert(all.end(), some.begin(), some.end());
    for (const Name& target : all) {
      const auto found = instances_.find(target);
      const bool exists = found != instances_.end();
      if (exists && found->second.phase != Phase::kActive) continue;
      const Name* first = first_for(target);
      if ((first == nullptr || *first == name) && !is_full(target)) continue;
      const int way = leads_to(target, name);
      if (way == 0) return target;
      if (all.size() == 1 || !exists || counted(found->second) < 4 * kModelMail) continue;
      if (way == 2) return target;
      code = "step.too_much_mail";
      return std::nullopt;
    }
    return std::nullopt;
  }

  Instance& touch(const Name& name) {
    Instance& instance = instances_[name];
    instance.last_record = next_record_;
    return instance;
  }

  void line_up(const Name& name) {
    if (std::find(line_.begin(), line_.end(), name) == line_.end()) line_.push_back(name);
  }

  std::string event(const Input& input) {
    if (input.fault == Fault::kBadText) return refused(Code::kInvalid);
    if (const auto known = ids_.find(input.id); known != ids_.end())
      return known->second.first == said_by(input) ? repeated(known->second.second)
                                                   : refused(Code::kConflict);
    const std::string& schema = input.variant.empty() ? input.event.schema : input.variant;
    if (!has_schema(rules_, schema)) return refused(Code::kNotFound);
    if (input.fault != Fault::kNone && (input.fault != Fault::kPretends || input.workflow.empty()))
      return refused(Code::kInvalid);
    std::vector<Name> names = targets(rules_, schema, input.event);
    if (!input.workflow.empty()) {
      names = {{input.workflow, input.key}};
      if (!has_workflow(rules_, input.workflow)) return refused(Code::kNotFound);
      if (input.fault == Fault::kPretends) return refused(Code::kInvalid);
      if (!takes(input.workflow, schema) || !key_fits(names[0])) return refused(Code::kInvalid);
      if (input.starts && instances_.contains(names[0])) return refused(Code::kConflict);
    }
    std::map<Name, std::size_t> planned;
    if (std::string why = plan(names, planned); !why.empty()) return why;
    for (const Name& name : names) deliver(name, {MailKind::kEvent, input.event.script});
    unrouted_ = names.empty();
    if (!input.id.empty())
      ids_[input.id] = {said_by(input), reached(next_record_, delivered_, ignored_, unrouted_)};
    return {};
  }

  std::string receipt(const Input& input) {
    if (input.intent >= intents_.size()) return refused(Code::kNotFound);
    Intent& intent = intents_[input.intent];
    if (intent.settled) return repeated(intent.settled->first, intent.settled->second);
    if (input.fault == Fault::kBadSignature) return refused(Code::kInvalid);
    if (input.fault == Fault::kNobodyChecks) return refused(Code::kUnavailable);
    const Name origin = intent.origin;
    settle(input.intent, input.status);
    const bool is_too_large = input.fault == Fault::kTooLarge;
    const bool fits =
        !is_too_large && input.fault != Fault::kDoesNotFit && input.fault != Fault::kNotCbor;
    const bool hears = fits ? origin.first != "w/Deaf@1" : origin.first == "w/Full@1";
    if (hears) {
      deliver(origin, {fits ? MailKind::kReceipt : MailKind::kRejected, intent.script});
    } else if (!fits) {
      end(origin, Phase::kFailed, is_too_large ? "receipt.too_large" : "receipt.invalid_payload");
    }
    return {};
  }

  std::string progress(const Input& input) {
    if (input.sequence == 0 || input.fault == Fault::kBadText) return refused(Code::kInvalid);
    if (input.intent >= intents_.size()) return refused(Code::kNotFound);
    Intent& intent = intents_[input.intent];
    if (intent.settled) return repeated(intent.settled->first, intent.settled->second);
    if (input.sequence <= intent.progress) return repeated(intent.opened_at);
    const bool hears = intent.origin.first == "w/Full@1";
    if (hears &&
        (counted(instances_[intent.origin]) >= kModelMail || first_for(intent.origin) != nullptr))
      return refused(Code::kUnavailable);
    if (input.fault == Fault::kNotCbor) return refused(Code::kInvalid);
    intent.progress = input.sequence;
    touch(intent.origin);
    if (hears) deliver(intent.origin, {MailKind::kProgress, input.script});
    return {};
  }

  std::string control(const Input& input) {
    if (input.fault == Fault::kBadText) return refused(Code::kInvalid);
    const Name name{input.workflow, input.key};
    const auto found = instances_.find(name);
    if (found == instances_.end() || !has_workflow(rules_, input.workflow))
      return refused(Code::kNotFound);
    Instance& instance = found->second;
    if (instance.phase != Phase::kActive) return refused(Code::kConflict);
    const std::uint64_t before = instance.last_record;
    touch(name);
    if (input.control == Control::kCancel) {
      end(name, Phase::kCancelled, "");
      return {};
    }
    if (instance.paused == (input.control == Control::kPause)) {
      instance.last_record = before;
      return refused(Code::kConflict);
    }
    instance.paused = !instance.paused;
    if (instance.paused) stop_waiting(name);
    if (!instance.paused && !instance.mail.empty()) line_up(name);
    return {};
  }

  // What has ended and was not touched since. The workflow need not be there any more.
  std::string forget(const Input& input) {
    if (input.forgotten.empty() || input.forgotten.size() > kMaxForgottenPerTick)
      return refused(Code::kInvalid);
    for (const auto& [name, record] : input.forgotten) {
      const auto found = instances_.find(name);
      if (found == instances_.end() || found->second.phase == Phase::kActive) continue;
      if (found->second.last_record <= record) instances_.erase(found);
    }
    return {};
  }

  // Manifests.
  std::string apply(Rules rules) {
    std::string blocked = "blocked";
    for (const Name& name : active()) {
      if (touches(rules_, rules, name.first))
        blocked += "\n" + words(name) + " " + describe(instances_.at(name));
    }
    if (blocked != "blocked") return blocked;
    rules_ = rules;
    return {};
  }

  std::string apply_document(const Input& input) {
    const Rules rules = rules_of(input.document);
    if (rules == Rules::kNone) return refused(Code::kInvalid);
    return rules == rules_ ? "unchanged" : apply(rules);
  }

  std::string propose(const Input& input) {
    if (input.fault == Fault::kBadText) return refused(Code::kInvalid);
    const bool patch = input.document == Document::kPatch;
    if (patch && rules_ == Rules::kNone) return refused(Code::kConflict);
    const Rules made = patch ? patched(rules_) : rules_of(input.document);
    if (made == Rules::kNone) return refused(Code::kInvalid);
    if (proposals_.size() >= kMaxProposals) {
      auto oldest = proposals_.begin();
      while (oldest != proposals_.end() && is_open(oldest->second)) ++oldest;
      if (oldest == proposals_.end()) return refused(Code::kUnavailable);
      proposals_.erase(oldest);
    }
    proposals_[next_record_] = {"proposed", rules_, made};
    return {};
  }

  static bool is_open(const Proposal& proposal) {
    return proposal.stage != "rejected" && proposal.stage != "applied";
  }

  std::string shadow(const Input& input) {
    if (!proposals_.contains(input.proposal)) return refused(Code::kNotFound);
    std::string& stage = proposals_[input.proposal].stage;
    if (stage != "proposed" && stage != "shadowed") return refused(Code::kConflict);
    if (input.fault == Fault::kNotCbor) return refused(Code::kInvalid);
    stage = "shadowed";
    return {};
  }

  std::string decide(const Input& input) {
    if (input.fault == Fault::kBadText) return refused(Code::kInvalid);
    if (!proposals_.contains(input.proposal)) return refused(Code::kNotFound);
    Proposal& it = proposals_[input.proposal];
    if (input.approve ? it.stage != "shadowed" : !is_open(it)) return refused(Code::kConflict);
    it.stage = input.approve ? "approved" : "rejected";
    return {};
  }

  std::string apply_proposal(const Input& input) {
    if (!proposals_.contains(input.proposal)) return refused(Code::kNotFound);
    Proposal& proposal = proposals_[input.proposal];
    if (proposal.stage != "approved" || proposal.base != rules_) return refused(Code::kConflict);
    std::string answer = apply(proposal.made);
    if (answer.empty()) proposal.stage = "applied";
    return answer;
  }

  // Steps.
  void take_turns(std::size_t most) {
    std::size_t steps = 0;
    while (!line_.empty() && steps < most) {
      const Name name = line_.front();
      line_.pop_front();
      Instance& instance = instances_[name];
      if (instance.doomed) {
        end(name, Phase::kCancelled, "");
        ++steps;
        continue;
      }
      if (instance.paused) continue;
      const Message message = instance.mail.front();
      instance.mail.pop_front();
      if (!instance.mail.empty()) line_.push_back(name);
      ++steps;
      const auto room = step(name, instance, message);
      if (!room) {
        stop_waiting(name);
        tell_room(name);
        continue;
      }
      std::erase(line_, name);
      instance.mail.push_front(message);
      if (const auto before = waits_for_.find(name);
          before != waits_for_.end() && before->second == *room)
        continue;
      stop_waiting(name);
      waiting_.push_back(name);
      waits_for_[name] = *room;
    }
    if (!line_.empty()) commands_.emplace_back(kContinues);
  }

  // Whose room it has to wait for: then it was not taken.
  std::optional<Name> step(const Name& name, Instance& instance, const Message& message) {
    const Actions actions = actions_of(message.script);
    std::vector<std::vector<Name>> to;
    std::string code = objection(name, instance, actions, to);
    if (code.empty()) {
      if (auto room = room_wanted(name, to, code)) return room;
    }
    touch(name);
    if (code.empty()) {
      take(name, instance, message, actions, to);
    } else {
      end(name, Phase::kFailed, code);
    }
    return std::nullopt;
  }

  void take(const Name& name, Instance& instance, const Message& message, const Actions& actions,
            const std::vector<std::vector<Name>>& to) {
    if (!actions.no_state)
      instance.state = instance.state.value_or(ScriptState{}).after(message.kind, actions);
    for (std::size_t i = 0; i < to.size(); ++i) {
      for (const Name& target : to[i])
        deliver(target, {MailKind::kEvent, actions.events[i].script});
    }
    if (actions.fate == Fate::kGoesOn) give_up(name, actions.stops);
    for (const Actions::Effect& effect : actions.effects) {
      if (!effect.child.empty()) {
        effect.name == "sys/workflow.run@1" ? run(name, effect) : stop(name, effect);
        continue;
      }
      instance.intents.push_back(intents_.size());
      intents_.push_back({name, effect.name, effect.script, next_record_, 0, {}});
      commands_.push_back(opens(effect.name, name, effect.script));
    }
    switch (actions.fate) {
      case Fate::kGoesOn: return;
      case Fate::kCompleted: return end(name, Phase::kCompleted, "done");
      case Fate::kFailed: return end(name, Phase::kFailed, "script.failed");
      case Fate::kCancelled: return end(name, Phase::kCancelled, "");
      case Fate::kDeleted: return remove(name, instance);
    }
  }

  // Instances that run for others.
  static Name child_of(std::string_view child) { return {"w/Full@1", text_key(child)}; }
  static Name child_with(std::size_t number) {
    return child_of("k" + std::to_string(number - kFirstRun));
  }

  void run(const Name& name, const Actions::Effect& effect) {
    const Name child = child_of(effect.child);
    const Instance& parent = instances_[name];
    const std::size_t depth = parent.run_by ? parent.depth + 1 : 1;
    if (depth > kMaxChildDepth || instances_.contains(child)) return answer(name, effect.script);
    deliver(child, {MailKind::kEvent, effect.start});
    instances_[child].run_by = {name, effect.script};
    instances_[child].depth = depth;
    instances_[name].intents.push_back(run_number(effect.child));
  }

  void stop(const Name& name, const Actions::Effect& effect) {
    const auto child = instances_.find(child_of(effect.child));
    if (child != instances_.end() && child->second.run_by && child->second.run_by->first == name)
      doom(child->first);
    answer(name, effect.script);
  }

  // An effect of this instance has settled.
  void answer(const Name& name, const std::string& script) {
    touch(name);
    if (name.first != "w/Deaf@1") deliver(name, {MailKind::kReceipt, script});
  }

  void doom(const Name& name) {
    instances_[name].doomed = true;
    line_up(name);
  }

  // Whoever it runs for hears of its end; that is nothing that a tick is answered with.
  void tell_end(const Name& name) {
    const auto run_by = std::exchange(instances_[name].run_by, std::nullopt);
    if (!run_by) return;
    const auto counted = std::pair(delivered_, ignored_);
    const std::string child = name.second.substr(1);
    std::erase(instances_[run_by->first].intents, run_number(child));
    answer(run_by->first, run_by->second);
    std::tie(delivered_, ignored_) = counted;
  }

  // Why nothing of the step may be kept.
  std::string objection(const Name& name, const Instance& instance, const Actions& actions,
                        std::vector<std::vector<Name>>& to) const {
    const bool ends = actions.fate != Fate::kGoesOn;
    std::size_t open = instance.intents.size() + actions.effects.size();
    if (actions.effects.size() > kMaxEffectsPerStep) return "step.too_many_effects";
    if (actions.events.size() > kMaxEventsPerStep) return "step.too_many_events";
    if (actions.annotations > kMaxAnnotationsPerStep) return "step.too_many_annotations";
    if (actions.too_large) return "step.output_too_large";
    for (const Message& it : instance.mail) open += is_answer(it.kind) ? 1u : 0u;
    if (!actions.effects.empty() && open > kMaxOpenIntents) return "step.too_many_open";
    if (ends && !actions.effects.empty()) return "step.effects_at_end";
    if (!ends && actions.no_state) return "step.no_state";
    if (!actions.no_state && actions.bad_state) return "step.bad_state";
    if (actions.annotations != 0 && name.first != "w/Full@1") return "step.undeclared_annotations";
    if (actions.bad_result) return "step.bad_result";
    for (const Actions::Effect& effect : actions.effects) {
      const bool is_deaf = name.first == "w/Deaf@1";
      const bool declared =
          effect.name == "t/a@1" || effect.name == "sys/workflow.run@1" ||
          ((effect.name == "t/b@1" || effect.name == "sys/workflow.stop@1") && !is_deaf);
      if (!declared) return "step.undeclared_effect";
      if (effect.bad_reference) return "step.bad_reference";
      if (effect.bad_params) return "step.bad_params";
    }
    std::map<Name, std::size_t> planned;
    for (const Actions::Event& event : actions.events) {
      if (!has_schema(rules_, event.schema)) return "step.unknown_event";
      if (event.bad) return "step.bad_event";
      to.push_back(targets(rules_, event.schema, event));
      if (!plan(to.back(), planned, true).empty()) return "step.undeliverable_event";
    }
    return {};
  }

  void settle(std::size_t number, ReceiptStatus status) {
    intents_[number].settled = {next_record_, status};
    std::erase(touch(intents_[number].origin).intents, number);
  }

  void abandon(const Name& name) {
    for (const std::size_t number : std::vector(instances_[name].intents)) call_off(name, number);
  }

  void call_off(const Name& name, std::size_t number) {
    if (number >= kFirstRun) {
      const Name child = child_with(number);
      instances_[child].run_by.reset();
      doom(child);
      std::erase(instances_[name].intents, number);
      return;
    }
    settle(number, ReceiptStatus::kCancelled);
    commands_.push_back(stops(number));
  }

  // What was open before this step, and whose receipt would do one of these.
  void give_up(const Name& name, const std::vector<std::string>& scripts) {
    for (const std::size_t number : std::vector(instances_[name].intents)) {
      const std::string script = number >= kFirstRun ? instances_[child_with(number)].run_by->second
                                                     : intents_[number].script;
      if (std::find(scripts.begin(), scripts.end(), script) == scripts.end()) continue;
      call_off(name, number);
      answer(name, script);
    }
  }

  void end(const Name& name, Phase phase, std::string outcome) {
    Instance& instance = touch(name);
    abandon(name);
    instance.phase = phase;
    instance.paused = instance.doomed = false;
    instance.outcome = std::move(outcome);
    instance.mail.clear();
    std::erase(line_, name);
    tell_end(name);
    stop_waiting(name);
    tell_room(name);
  }

  // The key may begin again, and does so if events wait.
  void remove(const Name& name, Instance& instance) {
    abandon(name);
    tell_end(name);
    std::erase_if(instance.mail, [](const Message& it) { return it.kind != MailKind::kEvent; });
    instance.state.reset();
    if (!instance.mail.empty()) return;
    std::erase(line_, name);
    instances_.erase(name);
  }

  // How an instance stands, in words.
  static std::string describe(const Instance& instance) {
    const Status status = status_of(instance.phase, !instance.intents.empty());
    return standing(status, instance.paused, instance.intents, instance.mail.size());
  }

  Rules rules_ = Rules::kNone;
  std::uint64_t next_record_ = 1;
  std::map<Name, Instance> instances_;
  std::set<Name> ever_;
  std::deque<Name> line_;                                           // whose turn it is
  std::vector<Name> waiting_;                                       // for room, in order
  std::map<Name, Name> waits_for_;                                  // of whom
  std::map<std::string, std::pair<std::string, std::string>> ids_;  // what it said, the answer
  std::vector<Intent> intents_;
  std::map<std::uint64_t, Proposal> proposals_;
  std::vector<std::string> commands_;
  std::uint32_t delivered_ = 0, ignored_ = 0;
  bool unrouted_ = false;
};

}  // namespace holdfast::kernel::testing
