// SPDX-License-Identifier: Apache-2.0
#include "node/shadow.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "kernel/forget_list.h"
#include "kernel/record_view.h"

namespace holdfast::node {
namespace {

using store::RecordNumber;

bool applies_definitions(kernel::TickKind kind) {
  return kind == kernel::TickKind::kApply || kind == kernel::TickKind::kApplyProposal;
}

// Which effect of which instance, however its intent is called.
std::string asked_for(std::string_view workflow, base::ByteView key, std::string_view effect,
                      base::ByteView params) {
  std::string name;
  for (const std::string_view part :
       {workflow, base::as_text(key), effect, base::as_text(params)}) {
    name += std::to_string(part.size()) + ":";
    name += part;
  }
  return name;
}

std::string why_refused(const kernel::Answer& answer) {
  if (const auto* refused = std::get_if<kernel::Refused>(&answer)) {
    std::string why = refused->message;
    for (std::size_t i = 0; i < refused->details.size() && i < 20; ++i)
      why += (i == 0 ? ": " : "; ") + refused->details[i];
    return why;
  }
  if (const auto* blocked = std::get_if<kernel::Blocked>(&answer))
    return std::to_string(blocked->count) + " instances have not ended";
  return "";
}

class Shadowing {
 public:
  Shadowing(const store::JournalFiles& journal, store::BlobsLook* stored,
            const kernel::MachineSource& machines, const ShadowOptions& options,
            const ReplayProgress& progress)
      : journal_(journal),
        stored_(stored),
        machines_(machines),
        options_(options),
        progress_(progress) {}

  base::Result<ShadowReport> run(base::ByteView definitions) {
    if (journal_.last() < journal_.first())
      return base::Error(base::ErrorCode::kConflict, "there are no records to try it with");
    TRY(begin());
    TRY(apply(definitions));
    TRY(feed_all());
    return compare();
  }

 private:
  using Name = std::pair<std::string, base::Bytes>;
  struct Receipt {
    base::Bytes record;
    kernel::ReceiptArrived tick;  // borrows from the record
  };

  // To the moment from which on everything is fed again.
  base::Result<void> begin() {
    const RecordNumber applied = TRY(last_application());
    const RecordNumber last = journal_.last();
    if (applied != 0 && last - applied < options_.most_records) {
      auto past = PastWorld::at(journal_, stored_, machines_, applied - 1, progress_);
      if (past) {
        tried_ = std::move(*past);
        skipped_ = applied;
        return {};
      }
      // What it began with is trimmed; a later moment will do.
      if (past.error().code() != base::ErrorCode::kNotFound) return std::move(past).error();
    }
    const RecordNumber earliest =
        last > options_.most_records ? last - options_.most_records : journal_.first() - 1;
    tried_ = TRY(first_reachable(std::max(earliest, applied)));
    for (RecordNumber at = tried_->world().next_record(); tried_->world().active_instances() != 0;
         ++at) {
      if (at > last) {
        return base::Error(base::ErrorCode::kConflict,
                           "since record " + std::to_string(earliest) +
                               " something was under way all the time: there is no moment to begin "
                               "the trial with");
      }
      TRY(tried_->go_on(journal_, at, progress_));
    }
    return {};
  }

  // Behind this record, or as soon after it as a snapshot allows.
  base::Result<std::unique_ptr<PastWorld>> first_reachable(RecordNumber record) {
    auto past = PastWorld::at(journal_, stored_, machines_, record, progress_);
    if (past || past.error().code() != base::ErrorCode::kNotFound || stored_ == nullptr)
      return past;
    const std::vector<store::SnapshotEntry> snapshots = TRY(stored_->snapshots());
    for (auto entry = snapshots.rbegin(); entry != snapshots.rend(); ++entry) {
      if (entry->next_record <= record) continue;
      auto from = PastWorld::at(journal_, stored_, machines_, entry->next_record - 1, progress_);
      if (from) return from;
    }
    return past;
  }

  // 0: none that the journal still has.
  base::Result<RecordNumber> last_application() {
    RecordNumber found = 0;
    const auto reader = TRY(journal_.read(journal_.first()));
    while (const auto record = TRY(reader->next())) {
      const kernel::Tick tick = TRY(kernel::tick_of(record->bytes));
      if (applies_definitions(static_cast<kernel::TickKind>(tick.input.index())))
        found = record->number;
    }
    return found;
  }

  // In the place of those that were applied in truth, if we have come to that place.
  base::Result<void> apply(base::ByteView definitions) {
    kernel::World& world = tried_->world();
    report_.from = world.next_record();
    report_.to = journal_.last();
    kernel::Tick tick;
    tick.time_ns = world.latest_ns();
    base::Bytes recorded;
    if (skipped_ != 0) {
      recorded = TRY(record_in(journal_, skipped_));
      tick = TRY(kernel::tick_of(recorded));
    }
    tick.input = kernel::ApplyManifest{definitions};
    const kernel::Outcome outcome = world.reduce(tick);
    if (outcome.failure) return error_of(*outcome.failure);
    const std::string why = why_refused(outcome.answer);
    if (!why.empty()) return base::Error(base::ErrorCode::kConflict, why);
    return {};
  }

  base::Result<void> feed_all() {
    const auto reader = TRY(journal_.read(report_.from));
    while (const auto record = TRY(reader->next())) {
      const base::Bytes kept(record->bytes.begin(), record->bytes.end());
      const kernel::RecordView view = TRY(kernel::read_record(kept));
      take_note(view);
      TRY(feed(kept, view));
      if (progress_ && record->number % 4096 == 0) progress_(record->number);
    }
    return {};
  }

  // What happened in truth.
  void take_note(const kernel::RecordView& record) {
    for (const kernel::InstanceView& instance : record.instances) {
      touched_.emplace(std::string(instance.workflow),
                       base::Bytes(instance.key.begin(), instance.key.end()));
      for (const kernel::OpenedView& opened : instance.opened) {
        std::string name = asked_for(instance.workflow, instance.key, opened.effect, opened.params);
        opened_in_truth_.insert(name);
        names_.insert_or_assign(opened.intent, std::move(name));
      }
    }
  }

  base::Result<void> feed(const base::Bytes& bytes, const kernel::RecordView& record) {
    const kernel::Tick& tick = record.tick;
    if (const auto* receipt = std::get_if<kernel::ReceiptArrived>(&tick.input))
      return feed_receipt(bytes, *receipt, tick);
    if (const auto* progress = std::get_if<kernel::ProgressArrived>(&tick.input))
      return feed_progress(*progress, tick);
    if (const auto* forget = std::get_if<kernel::ForgetEnded>(&tick.input)) {
      note_forgotten(*forget);
      return {};
    }
    if (std::holds_alternative<kernel::EventArrived>(tick.input) ||
        std::holds_alternative<kernel::ControlRequested>(tick.input))
      return reduce(tick, record.number);
    return {};  // definitions and proposals are what is tried; turns that are left follow anyway
  }

  void note_forgotten(const kernel::ForgetEnded& forget) {
    const auto names = kernel::read_forget_list(forget.instances);
    if (!names) return;
    for (const kernel::ForgetName& name : *names)
      forgotten_.emplace(std::string(name.workflow), base::Bytes(name.key.begin(), name.key.end()));
  }

  base::Result<void> feed_receipt(const base::Bytes& bytes, const kernel::ReceiptArrived& receipt,
                                  const kernel::Tick& tick) {
    const auto named = names_.find(receipt.intent);
    if (named == names_.end()) return {};  // of something that had been settled before
    const std::string name = named->second;
    names_.erase(named);
    const auto waiting = waiting_.find(name);
    if (waiting == waiting_.end() || waiting->second.empty()) {
      // The copy of the bytes is moved with what borrows from it.
      Receipt kept{bytes, {}};
      kept.tick = std::get<kernel::ReceiptArrived>(TRY(kernel::tick_of(kept.record)).input);
      early_[name].push_back(std::move(kept));
      return {};
    }
    const base::Hash intent = waiting->second.front();
    waiting->second.pop_front();
    return answer(intent, receipt, tick);
  }

  base::Result<void> answer(const base::Hash& intent, const kernel::ReceiptArrived& recorded,
                            const kernel::Tick& tick) {
    if (TRY(tried_->world().find_intent(intent)) == nullptr) return {};  // cancelled meanwhile
    kernel::Tick fed = tick;
    kernel::ReceiptArrived receipt = recorded;
    receipt.intent = intent;
    receipt.signature = {};  // it was for the other intent, and was checked then
    fed.input = receipt;
    ++report_.answered;
    return reduce(fed, 0);
  }

  base::Result<void> feed_progress(const kernel::ProgressArrived& progress,
                                   const kernel::Tick& tick) {
    const auto named = names_.find(progress.intent);
    const auto waiting = named == names_.end() ? waiting_.end() : waiting_.find(named->second);
    if (waiting == waiting_.end() || waiting->second.empty()) return {};
    kernel::Tick fed = tick;
    kernel::ProgressArrived frame = progress;
    frame.intent = waiting->second.front();
    fed.input = frame;
    return reduce(fed, 0);
  }

  // `record`: where it stands in truth; 0: it is an answer of ours.
  base::Result<void> reduce(const kernel::Tick& tick, RecordNumber record) {
    ++report_.fed;
    std::deque<std::pair<base::Hash, Receipt>> answers;
    TRY(reduce_one(tick, record, answers));
    while (tried_->world().has_ready()) {
      kernel::Tick more = tick;
      more.input = kernel::Continue{};
      TRY(reduce_one(more, 0, answers));
    }
    while (!answers.empty()) {
      const auto [intent, receipt] = std::move(answers.front());
      answers.pop_front();
      TRY(answer(intent, receipt.tick, tick));
    }
    return {};
  }

  base::Result<void> reduce_one(const kernel::Tick& tick, RecordNumber record,
                                std::deque<std::pair<base::Hash, Receipt>>& answers) {
    const kernel::Outcome outcome = tried_->world().reduce(tick);
    if (outcome.failure) return error_of(*outcome.failure);
    const std::string why = why_refused(outcome.answer);
    if (!why.empty()) {
      ++report_.refused;
      if (report_.refusals.size() < ShadowReport::kMostListed)
        report_.refusals.push_back(
            (record == 0 ? std::string("a receipt") : "record " + std::to_string(record)) + ": " +
            why);
      return {};
    }
    if (!outcome.record.empty()) {
      const kernel::RecordView view = TRY(kernel::read_record(outcome.record));
      for (const kernel::InstanceView& instance : view.instances)
        touched_.emplace(std::string(instance.workflow),
                         base::Bytes(instance.key.begin(), instance.key.end()));
    }
    for (const kernel::Command& command : outcome.commands) {
      const auto* open = std::get_if<kernel::OpenIntent>(&command);
      if (open == nullptr) continue;
      const std::string name =
          asked_for(open->workflow, open->key, open->effect->name, open->params);
      const auto early = early_.find(name);
      if (early == early_.end() || early->second.empty()) {
        waiting_[name].push_back(open->intent);
        shown_.try_emplace(open->intent, open->effect->name + " of " +
                                             kernel::instance_text(open->workflow, open->key));
        continue;
      }
      answers.emplace_back(open->intent, std::move(early->second.front()));
      early->second.pop_front();
    }
    return {};
  }

  base::Result<ShadowReport> compare() {
    for (const auto& [name, receipts] : early_) report_.unwanted += receipts.size();
    for (const auto& [name, intents] : waiting_) {
      if (opened_in_truth_.contains(name)) continue;
      for (const base::Hash& intent : intents) {
        if (TRY(tried_->world().find_intent(intent)) == nullptr) continue;
        ++report_.unanswered;
        if (report_.unanswered_effects.size() < ShadowReport::kMostListed)
          report_.unanswered_effects.push_back(shown_[intent]);
      }
    }
    const auto truth = TRY(PastWorld::at(journal_, stored_, machines_, journal_.last(), progress_));
    for (const Name& name : touched_) {
      ShadowDifference difference{name.first, name.second, {}, {}};
      difference.recorded = TRY(side_of(truth->world(), name));
      difference.tried = TRY(side_of(tried_->world(), name));
      if (difference.recorded.status.empty() && forgotten_.contains(name)) continue;
      ++report_.instances;
      if (difference.recorded.status == difference.tried.status &&
          difference.recorded.state == difference.tried.state &&
          difference.recorded.outcome == difference.tried.outcome)
        continue;
      ++report_.different;
      if (report_.differences.size() < ShadowReport::kMostListed)
        report_.differences.push_back(std::move(difference));
    }
    return std::move(report_);
  }

  static base::Result<ShadowSide> side_of(kernel::World& world, const Name& name) {
    auto found = TRY(world.read(name.first, name.second));
    ShadowSide side;
    if (!found) return side;
    side.status = std::string(kernel::name_of(found->status)) + (found->paused ? ", paused" : "");
    side.state = std::move(found->state);
    side.outcome = std::move(found->outcome);
    return side;
  }

  static base::Error error_of(const base::Error& error) {
    return {error.code(), error.where(), error.message()};
  }

  const store::JournalFiles& journal_;
  store::BlobsLook* stored_;
  const kernel::MachineSource& machines_;
  const ShadowOptions& options_;
  const ReplayProgress& progress_;
  std::unique_ptr<PastWorld> tried_;
  RecordNumber skipped_ = 0;  // the record whose place the other definitions take; 0: none
  std::map<base::Hash, std::string> names_;  // what the open intents of truth ask for
  std::set<std::string> opened_in_truth_;
  std::map<std::string, std::deque<base::Hash>> waiting_;  // intents of the trial
  std::map<std::string, std::deque<Receipt>> early_;       // receipts before their intents
  std::map<base::Hash, std::string> shown_;
  std::set<Name> touched_;
  std::set<Name> forgotten_;
  ShadowReport report_;
};

}  // namespace

base::Result<ShadowReport> shadow(const store::JournalFiles& journal, store::BlobsLook* stored,
                                  const kernel::MachineSource& machines, base::ByteView definitions,
                                  const ShadowOptions& options, const ReplayProgress& progress) {
  return Shadowing(journal, stored, machines, options, progress).run(definitions);
}

}  // namespace holdfast::node
