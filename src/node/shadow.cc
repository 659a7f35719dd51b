// SPDX-License-Identifier: Apache-2.0
#include "node/shadow.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "base/sha256.h"
#include "kernel/forget_list.h"
#include "kernel/record_view.h"

namespace holdfast::node {
namespace {

using store::RecordNumber;
using Name = std::pair<std::string, base::Bytes>;  // of an instance

// So many turns may be left over by one tick; what does not come to rest by then never may.
constexpr std::uint64_t kMostContinued = 1000;

bool applies_definitions(kernel::TickKind kind) {
  return kind == kernel::TickKind::kApply || kind == kernel::TickKind::kApplyProposal;
}

// Which effect of which instance, with which params, however its intent is called.
base::Hash asked_for(std::string_view workflow, base::ByteView key, std::string_view effect,
                     base::ByteView params) {
  std::string name;
  for (const std::string_view part :
       {workflow, base::as_text(key), effect, base::as_text(params)}) {
    name += std::to_string(part.size()) + ":";
    name += part;
  }
  return base::sha256(base::as_bytes(name));
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

base::Error copy_of(const base::Error& error) {
  return {error.code(), error.where(), error.message()};
}

// What all trials of one journal share.
struct Setting {
  const store::JournalFiles& journal;
  store::BlobsLook* stored;
  const kernel::MachineSource& machines;
  const ShadowOptions& options;
  const ReplayProgress& progress;

  base::Result<std::unique_ptr<PastWorld>> world_at(RecordNumber record) const {
    return PastWorld::at(journal, stored, machines, record, progress);
  }
};

// Where trials begin.
struct Beginning {
  RecordNumber behind = 0;    // the state behind this record, when nothing was under way
  RecordNumber replaced = 0;  // the record whose definitions are replaced; 0: none
};

// 0: none that the journal still has.
base::Result<RecordNumber> last_application(const store::JournalFiles& journal) {
  RecordNumber found = 0;
  const auto reader = TRY(journal.read(journal.first()));
  while (const auto record = TRY(reader->next())) {
    const kernel::Tick tick = TRY(kernel::tick_of(record->bytes));
    if (applies_definitions(static_cast<kernel::TickKind>(tick.input.index())))
      found = record->number;
  }
  return found;
}

// Behind this record, or as soon after it as a snapshot allows.
base::Result<std::unique_ptr<PastWorld>> first_reachable(const Setting& setting,
                                                         RecordNumber record) {
  auto past = setting.world_at(record);
  if (past || past.error().code() != base::ErrorCode::kNotFound || setting.stored == nullptr)
    return past;
  const std::vector<store::SnapshotEntry> snapshots = TRY(setting.stored->snapshots());
  for (auto entry = snapshots.rbegin(); entry != snapshots.rend(); ++entry) {
    if (entry->next_record <= record) continue;
    auto from = setting.world_at(entry->next_record - 1);
    if (from || from.error().code() != base::ErrorCode::kNotFound) return from;
  }
  return past;
}

base::Result<Beginning> find_beginning(const Setting& setting) {
  const store::JournalFiles& journal = setting.journal;
  const RecordNumber last = journal.last();
  if (last < journal.first())
    return base::Error(base::ErrorCode::kConflict, "there are no records to try it with");
  const RecordNumber applied = TRY(last_application(journal));
  if (applied != 0 && last - applied < setting.options.most_records) {
    const auto past = setting.world_at(applied - 1);
    if (past) return Beginning{applied - 1, applied};
    // What it began with is trimmed; a later moment will do.
    if (past.error().code() != base::ErrorCode::kNotFound) return copy_of(past.error());
  }
  const std::uint64_t most = setting.options.most_records;
  const RecordNumber earliest = std::max(applied, last > most ? last - most : journal.first() - 1);
  const auto past = TRY(first_reachable(setting, earliest));
  while (past->world().active_instances() != 0) {
    const RecordNumber next = past->world().next_record();
    if (next > last) {
      return base::Error(base::ErrorCode::kConflict,
                         "since record " + std::to_string(earliest) +
                             " something was under way all the time: there is no moment to begin "
                             "the trial with");
    }
    TRY(past->go_on(journal, next, setting.progress));
  }
  return Beginning{past->world().next_record() - 1, 0};
}

// One run under one set of definitions.
class Trial {
 public:
  explicit Trial(const Setting& setting) : setting_(setting) {}

  base::Result<void> run(const Beginning& beginning, base::ByteView definitions) {
    past_ = TRY(setting_.world_at(beginning.behind));
    TRY(apply(beginning, definitions));
    const auto reader = TRY(setting_.journal.read(from_));
    while (stopped_.empty()) {
      const auto record = TRY(reader->next());
      if (!record) break;
      const base::Bytes kept(record->bytes.begin(), record->bytes.end());
      const kernel::RecordView view = TRY(kernel::read_record(kept));
      take_note(view);
      TRY(feed(view));
      if (setting_.progress && record->number % 4096 == 0) setting_.progress(record->number);
    }
    return {};
  }

  kernel::World& world() noexcept { return past_->world(); }
  RecordNumber from() const noexcept { return from_; }
  std::uint64_t fed() const noexcept { return fed_; }
  std::uint64_t refused() const noexcept { return refused_; }
  std::uint64_t answered() const noexcept { return answered_; }
  const std::vector<std::string>& refusals() const noexcept { return refusals_; }
  const std::string& stopped() const noexcept { return stopped_; }
  const std::set<Name>& touched() const noexcept { return touched_; }

  // How often each effect of each instance was opened, also those that have settled since.
  const std::map<std::string, std::uint64_t>& opened() const noexcept { return opened_; }

  std::uint64_t unwanted() const {
    std::uint64_t count = 0;
    for (const auto& [asked, records] : early_) count += records.size();
    return count;
  }

 private:
  struct Fed {
    base::Bytes record;  // that the tick borrows from; empty: it lives long enough
    kernel::Tick tick;
  };

  // In the place of those that were applied in truth, if we have come to that place.
  base::Result<void> apply(const Beginning& beginning, base::ByteView definitions) {
    from_ = world().next_record();
    kernel::Tick tick;
    tick.time_ns = world().latest_ns();
    base::Bytes recorded;
    if (beginning.replaced != 0) {
      recorded = TRY(record_in(setting_.journal, beginning.replaced));
      tick = TRY(kernel::tick_of(recorded));
    }
    tick.input = kernel::ApplyManifest{definitions};
    const kernel::Outcome outcome = world().reduce(tick);
    if (outcome.failure) return copy_of(*outcome.failure);
    const std::string why = why_refused(outcome.answer);
    if (!why.empty()) return base::Error(base::ErrorCode::kConflict, why);
    return {};
  }

  // What was opened in truth, until its receipt comes.
  void take_note(const kernel::RecordView& record) {
    for (const kernel::InstanceView& instance : record.instances) {
      for (const kernel::OpenedView& opened : instance.opened)
        asked_.insert_or_assign(opened.intent, asked_for(instance.workflow, instance.key,
                                                         opened.effect, opened.params));
      for (const kernel::SettledView& settled : instance.settled) {
        // By the receipt of this record it is looked for below.
        const auto* receipt = std::get_if<kernel::ReceiptArrived>(&record.tick.input);
        if (receipt == nullptr || receipt->intent != settled.intent) asked_.erase(settled.intent);
      }
    }
  }

  base::Result<void> feed(const kernel::RecordView& record) {
    const kernel::Tick& tick = record.tick;
    if (std::holds_alternative<kernel::ReceiptArrived>(tick.input))
      return feed_receipt(record.number, tick);
    if (const auto* progress = std::get_if<kernel::ProgressArrived>(&tick.input))
      return feed_progress(*progress, tick);
    if (const auto* forget = std::get_if<kernel::ForgetEnded>(&tick.input))
      return feed_forgetting(*forget, tick);
    // Definitions and proposals are what is tried; turns that are left follow anyway.
    if (!std::holds_alternative<kernel::EventArrived>(tick.input) &&
        !std::holds_alternative<kernel::ControlRequested>(tick.input))
      return {};
    return come_to_rest({{}, tick}, record.number);
  }

  // Those that have ended here too, whenever that was.
  base::Result<void> feed_forgetting(const kernel::ForgetEnded& forget, const kernel::Tick& tick) {
    const auto names = kernel::read_forget_list(forget.instances);
    if (!names) return {};
    std::vector<kernel::ForgetName> ended;
    for (kernel::ForgetName name : *names) {
      const kernel::Cell* cell = TRY(world().find(name.workflow, name.key));
      if (cell == nullptr || !cell->terminal()) continue;
      name.last_record = cell->last_record;
      ended.push_back(name);
    }
    if (ended.empty()) return {};
    codec::Buffer list;
    kernel::write_forget_list(list, ended);
    kernel::Tick fed = tick;
    fed.input = kernel::ForgetEnded{list.view()};
    return come_to_rest({{}, fed}, 0);
  }

  base::Result<void> feed_receipt(RecordNumber record, const kernel::Tick& tick) {
    const auto& receipt = std::get<kernel::ReceiptArrived>(tick.input);
    const auto asked = asked_.find(receipt.intent);
    if (asked == asked_.end()) return {};  // of something that had been settled before
    const base::Hash name = asked->second;
    asked_.erase(asked);
    const auto intent = TRY(take_waiting(name));
    if (!intent) {
      early_[name].push_back(record);
      return {};
    }
    ++answered_;
    return come_to_rest({{}, answer_to(*intent, tick)}, 0);
  }

  // The oldest that waits for such a receipt and is still open.
  base::Result<std::optional<base::Hash>> take_waiting(const base::Hash& name) {
    const auto waiting = waiting_.find(name);
    std::optional<base::Hash> found;
    while (waiting != waiting_.end() && !found && !waiting->second.empty()) {
      const base::Hash intent = waiting->second.front();
      waiting->second.pop_front();
      if (TRY(world().find_intent(intent)) != nullptr) found = intent;
    }
    if (waiting != waiting_.end() && waiting->second.empty()) waiting_.erase(waiting);
    return found;
  }

  static kernel::Tick answer_to(const base::Hash& intent, const kernel::Tick& recorded) {
    kernel::Tick tick = recorded;
    auto receipt = std::get<kernel::ReceiptArrived>(recorded.input);
    receipt.intent = intent;
    receipt.signature = {};  // it was for the other intent, and was checked then
    tick.input = receipt;
    return tick;
  }

  base::Result<void> feed_progress(const kernel::ProgressArrived& progress,
                                   const kernel::Tick& tick) {
    const auto asked = asked_.find(progress.intent);
    const auto waiting = asked == asked_.end() ? waiting_.end() : waiting_.find(asked->second);
    if (waiting == waiting_.end() || waiting->second.empty()) return {};
    kernel::Tick fed = tick;
    kernel::ProgressArrived frame = progress;
    frame.intent = waiting->second.front();
    fed.input = frame;
    return come_to_rest({{}, fed}, 0);
  }

  // The tick, what is left over of it, and the receipts that have waited for what it opens. One
  // line for all of them; what does not come to rest ends the trial.
  base::Result<void> come_to_rest(Fed first, RecordNumber record) {
    std::deque<Fed> line;
    line.push_back(std::move(first));
    std::uint64_t continued = 0;
    while (!line.empty()) {
      const Fed fed = std::move(line.front());
      line.pop_front();
      ++fed_;
      TRY(reduce(fed.tick, std::exchange(record, 0), line));
      if (!world().has_ready() || !line.empty()) continue;
      if (++continued > kMostContinued) {
        stopped_ = "after " + std::to_string(kMostContinued) +
                   " more turns the instances still send each other messages";
        return {};
      }
      kernel::Tick more = fed.tick;
      more.input = kernel::Continue{};
      line.push_back({{}, more});
    }
    return {};
  }

  base::Result<void> reduce(const kernel::Tick& tick, RecordNumber record, std::deque<Fed>& line) {
    const kernel::Outcome outcome = world().reduce(tick);
    if (outcome.failure) return copy_of(*outcome.failure);
    const std::string why = why_refused(outcome.answer);
    if (!why.empty()) {
      ++refused_;
      if (refusals_.size() < ShadowReport::kMostListed)
        refusals_.push_back((record == 0 ? "" : "record " + std::to_string(record) + ": ") + why);
      return {};
    }
    if (!outcome.record.empty()) {
      const kernel::RecordView view = TRY(kernel::read_record(outcome.record));
      for (const kernel::InstanceView& instance : view.instances)
        touched_.emplace(std::string(instance.workflow),
                         base::Bytes(instance.key.begin(), instance.key.end()));
    }
    for (const kernel::Command& command : outcome.commands) {
      if (const auto* open = std::get_if<kernel::OpenIntent>(&command))
        TRY(take_opened(*open, line));
    }
    return {};
  }

  base::Result<void> take_opened(const kernel::OpenIntent& open, std::deque<Fed>& line) {
    ++opened_[open.effect->name + " of " + kernel::instance_text(open.workflow, open.key)];
    const base::Hash name = asked_for(open.workflow, open.key, open.effect->name, open.params);
    const auto early = early_.find(name);
    if (early == early_.end()) {
      waiting_[name].push_back(open.intent);
      return {};
    }
    Fed fed;
    fed.record = TRY(record_in(setting_.journal, early->second.front()));
    fed.tick = answer_to(open.intent, TRY(kernel::tick_of(fed.record)));
    // The time does not go back.
    fed.tick.time_ns = std::max(fed.tick.time_ns, world().latest_ns());
    early->second.pop_front();
    if (early->second.empty()) early_.erase(early);
    ++answered_;
    line.push_back(std::move(fed));
    return {};
  }

  const Setting& setting_;
  std::unique_ptr<PastWorld> past_;
  RecordNumber from_ = 0;
  std::uint64_t fed_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t answered_ = 0;
  std::vector<std::string> refusals_;
  std::string stopped_;
  std::map<base::Hash, base::Hash> asked_;                // what the open intents of truth ask for
  std::map<base::Hash, std::deque<base::Hash>> waiting_;  // intents of the trial, by what they ask
  std::map<base::Hash, std::deque<RecordNumber>> early_;  // receipts before their intents
  std::map<std::string, std::uint64_t> opened_;
  std::set<Name> touched_;
};

base::Result<ShadowSide> side_of(kernel::World& world, const Name& name) {
  auto found = TRY(world.read(name.first, name.second));
  ShadowSide side;
  if (!found) return side;
  side.status = std::string(kernel::name_of(found->status)) + (found->paused ? ", paused" : "");
  side.state = std::move(found->state);
  side.outcome = std::move(found->outcome);
  return side;
}

void compare_effects(const Trial& present, const Trial& tried, ShadowReport& report) {
  std::set<std::string> names;
  for (const auto& [name, count] : present.opened()) names.insert(name);
  for (const auto& [name, count] : tried.opened()) names.insert(name);
  const auto count_in = [](const Trial& trial, const std::string& name) {
    const auto found = trial.opened().find(name);
    return found == trial.opened().end() ? std::uint64_t{0} : found->second;
  };
  for (const std::string& name : names) {
    const std::uint64_t before = count_in(present, name);
    const std::uint64_t now = count_in(tried, name);
    if (before == now) continue;
    ++report.effects;
    if (report.effect_differences.size() < ShadowReport::kMostListed)
      report.effect_differences.push_back(name + ": " + std::to_string(before) + " at present, " +
                                          std::to_string(now) + " tried");
  }
}

base::Result<void> compare_instances(Trial& present, Trial& tried, ShadowReport& report) {
  std::set<Name> names = present.touched();
  names.insert(tried.touched().begin(), tried.touched().end());
  for (const Name& name : names) {
    ShadowDifference difference{name.first, name.second, {}, {}};
    difference.present = TRY(side_of(present.world(), name));
    difference.tried = TRY(side_of(tried.world(), name));
    ++report.instances;
    if (difference.present.status == difference.tried.status &&
        difference.present.state == difference.tried.state &&
        difference.present.outcome == difference.tried.outcome)
      continue;
    ++report.different;
    if (report.differences.size() < ShadowReport::kMostListed)
      report.differences.push_back(std::move(difference));
  }
  return {};
}

}  // namespace

base::Result<ShadowReport> shadow(const store::JournalFiles& journal, store::BlobsLook* stored,
                                  const kernel::MachineSource& machines, base::ByteView definitions,
                                  const ShadowOptions& options, const ReplayProgress& progress) {
  const Setting setting{journal, stored, machines, options, progress};
  const Beginning beginning = TRY(find_beginning(setting));
  const base::Bytes now = TRY(setting.world_at(journal.last()))->world().program().closure();
  Trial present(setting);
  if (!now.empty()) TRY(present.run(beginning, now));
  Trial tried(setting);
  TRY(tried.run(beginning, definitions));
  if (tried.fed() == 0) {
    return base::Error(base::ErrorCode::kConflict, "nothing has come since record " +
                                                       std::to_string(beginning.behind) +
                                                       ", the last moment to begin the trial with");
  }
  ShadowReport report;
  report.from = tried.from();
  report.to = journal.last();
  report.fed = tried.fed();
  report.refused = tried.refused();
  report.refusals = tried.refusals();
  report.stopped = tried.stopped().empty() ? present.stopped() : tried.stopped();
  report.answered = tried.answered();
  report.unwanted = tried.unwanted();
  compare_effects(present, tried, report);
  if (!now.empty()) TRY(compare_instances(present, tried, report));
  return report;
}

}  // namespace holdfast::node
