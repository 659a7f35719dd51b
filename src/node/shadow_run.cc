// SPDX-License-Identifier: Apache-2.0
#include "node/shadow_run.h"

#include <algorithm>
#include <optional>

#include "base/sha256.h"
#include "codec/buffer.h"
#include "kernel/forget_list.h"

namespace holdfast::node {
namespace {

using store::RecordNumber;

// So many turns may be left over by one tick; what does not come to rest by then never may.
constexpr std::uint64_t kMostContinued = 1000;

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

}  // namespace

base::Result<void> ShadowRun::run(const ShadowBeginning& beginning, base::ByteView definitions) {
  past_ = TRY(setting_.world_at(beginning.behind));
  TRY(apply(beginning, definitions));
  const auto reader = TRY(setting_.source.read(from_));
  while (stopped_.empty()) {
    const auto record = TRY(reader->next());
    if (!record || record->number > setting_.to) break;
    TRY(past_->take(record->bytes.size()));
    const base::Bytes kept(record->bytes.begin(), record->bytes.end());
    const kernel::RecordView view = TRY(kernel::read_record(kept));
    take_note(view);
    TRY(feed(view));
    if (setting_.progress && record->number % 4096 == 0) setting_.progress(record->number);
  }
  return {};
}

// In the place of those that were applied in truth, if we have come to that place.
base::Result<void> ShadowRun::apply(const ShadowBeginning& beginning, base::ByteView definitions) {
  from_ = world().next_record();
  kernel::Tick tick;
  tick.time_ns = world().latest_ns();
  base::Bytes recorded;
  if (beginning.replaced != 0) {
    recorded = TRY(record_in(setting_.source, beginning.replaced));
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
void ShadowRun::take_note(const kernel::RecordView& record) {
  for (const kernel::InstanceView& instance : record.instances) {
    for (const kernel::OpenedView& opened : instance.opened)
      asked_.insert_or_assign(
          opened.intent, asked_for(instance.workflow, instance.key, opened.effect, opened.params));
    for (const kernel::SettledView& settled : instance.settled) {
      // By the receipt of this record it is looked for below.
      const auto* receipt = std::get_if<kernel::ReceiptArrived>(&record.tick.input);
      if (receipt == nullptr || receipt->intent != settled.intent) asked_.erase(settled.intent);
    }
  }
}

base::Result<void> ShadowRun::feed(const kernel::RecordView& record) {
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
base::Result<void> ShadowRun::feed_forgetting(const kernel::ForgetEnded& forget,
                                              const kernel::Tick& tick) {
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

base::Result<void> ShadowRun::feed_receipt(RecordNumber record, const kernel::Tick& tick) {
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
base::Result<std::optional<base::Hash>> ShadowRun::take_waiting(const base::Hash& name) {
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

kernel::Tick ShadowRun::answer_to(const base::Hash& intent, const kernel::Tick& recorded) {
  kernel::Tick tick = recorded;
  auto receipt = std::get<kernel::ReceiptArrived>(recorded.input);
  receipt.intent = intent;
  receipt.signature = {};  // it was for the other intent, and was checked then
  receipt.fence = {};      // nothing is leased in a trial
  tick.input = receipt;
  return tick;
}

base::Result<void> ShadowRun::feed_progress(const kernel::ProgressArrived& progress,
                                            const kernel::Tick& tick) {
  const auto asked = asked_.find(progress.intent);
  const auto waiting = asked == asked_.end() ? waiting_.end() : waiting_.find(asked->second);
  if (waiting == waiting_.end() || waiting->second.empty()) return {};
  kernel::Tick fed = tick;
  kernel::ProgressArrived frame = progress;
  frame.intent = waiting->second.front();
  frame.fence = {};
  fed.input = frame;
  return come_to_rest({{}, fed}, 0);
}

// The tick, what is left over of it, and the receipts that have waited for what it opens. One
// line for all of them; what does not come to rest ends the trial.
base::Result<void> ShadowRun::come_to_rest(Fed first, RecordNumber record) {
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

base::Result<void> ShadowRun::reduce(const kernel::Tick& tick, RecordNumber record,
                                     std::deque<Fed>& line) {
  const kernel::Outcome outcome = world().reduce(tick);
  if (outcome.failure) return copy_of(*outcome.failure);
  const std::string why = why_refused(outcome.answer);
  if (!why.empty()) {
    ++refused_;
    if (refusals_.size() < ShadowReport::kMostListed)
      refusals_.push_back((record == 0 ? "" : "record " + std::to_string(record) + ": ") + why);
    return {};
  }
  if (!outcome.record.empty()) TRY(count(outcome.record));
  for (const kernel::Command& command : outcome.commands) {
    if (const auto* open = std::get_if<kernel::OpenIntent>(&command)) TRY(take_opened(*open, line));
  }
  return {};
}

base::Result<void> ShadowRun::count(base::ByteView record) {
  TRY(past_->take(record.size()));
  const kernel::RecordView view = TRY(kernel::read_record(record));
  for (const kernel::InstanceView& instance : view.instances) {
    touched_.emplace(std::string(instance.workflow),
                     base::Bytes(instance.key.begin(), instance.key.end()));
    for (const kernel::OpenedView& opened : instance.opened) {
      ++opened_[std::string(opened.effect)];
      ++opened_of_instances_[std::string(opened.effect) + " of " +
                             kernel::instance_text(instance.workflow, instance.key)];
    }
  }
  return {};
}

base::Result<void> ShadowRun::take_opened(const kernel::OpenIntent& open, std::deque<Fed>& line) {
  const base::Hash name = asked_for(open.workflow, open.key, open.effect->name, open.params);
  const auto early = early_.find(name);
  if (early == early_.end()) {
    waiting_[name].push_back(open.intent);
    return {};
  }
  Fed fed;
  fed.record = TRY(record_in(setting_.source, early->second.front()));
  fed.tick = answer_to(open.intent, TRY(kernel::tick_of(fed.record)));
  // The time does not go back.
  fed.tick.time_ns = std::max(fed.tick.time_ns, world().latest_ns());
  early->second.pop_front();
  if (early->second.empty()) early_.erase(early);
  ++answered_;
  line.push_back(std::move(fed));
  return {};
}

std::uint64_t ShadowRun::unwanted() const {
  std::uint64_t count = 0;
  for (const auto& [asked, records] : early_) count += records.size();
  return count;
}

}  // namespace holdfast::node
