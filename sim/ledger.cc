// SPDX-License-Identifier: Apache-2.0
#include "sim/ledger.h"

#include <algorithm>

#include "base/sha256.h"
#include "codec/view.h"
#include "kernel/forget_list.h"
#include "sim/census.h"
#include "sim/survey.h"
#include "sim/workflows.h"

namespace holdfast::sim {

namespace {

constexpr std::string_view kTimer = "sys/timer.set@1";

// Whose annotations are a stream that somebody reads.
bool has_stream(std::string_view workflow) {
  return workflow == Alarm::kWorkflow || workflow == Survey::kWorkflow ||
         workflow == Vigil::kWorkflow || workflow == Census::kWorkflow;
}

}  // namespace

void Ledger::violation(std::uint64_t record, const std::string& what) {
  report_.violation("record " + std::to_string(record) + ": " + what);
}

const Ledger::Intent* Ledger::find(const base::Hash& intent) const {
  const auto found = intents_.find(intent);
  return found == intents_.end() ? nullptr : &found->second;
}

std::uint64_t Ledger::record_of(const std::string& event) const {
  const auto found = events_.find(event);
  return found == events_.end() ? 0 : found->second;
}

void Ledger::catch_up(store::Journal& journal) {
  if (journal.durable() > records()) read(journal, records() + 1);
}

void Ledger::reopened(store::Journal& journal) {
  if (journal.durable() < records())
    return violation(journal.durable() + 1, "was durable, and is lost");
  read(journal, journal.first());
}

void Ledger::read(store::Journal& journal, std::uint64_t from) {
  auto reader = journal.read(from);
  if (!reader) return violation(from, reader.error().to_string());
  while (true) {
    const auto record = (*reader)->next();
    if (!record) return violation((*reader)->cursor(), record.error().to_string());
    if (!*record) return;
    add(**record);
  }
}

void Ledger::add(const store::Record& record) {
  const base::Hash hash = base::sha256(record.bytes);
  if (record.number <= records()) {
    if (hash != hashes_[record.number - 1]) violation(record.number, "is not what it was");
    return;
  }
  if (record.number != records() + 1) return violation(record.number, "leaves a gap");
  hashes_.push_back(hash);
  report_.trace(hash.bytes);
  const auto view = kernel::read_record(record.bytes);
  if (!view) return violation(record.number, view.error().to_string());
  if (view->number != record.number) violation(record.number, "says that it is another");
  if (view->tick.time_ns < last_ns_) violation(record.number, "goes back in time");
  last_ns_ = view->tick.time_ns;
  check_tick(*view);
  for (const kernel::Halt& halt : view->tick.halts) {
    if (halt.kind == kernel::HaltKind::kOutOfMemory)
      report_.sometimes("an instance is paused as memory ran out");
  }
  if (view->kind() == kernel::TickKind::kContinue)
    report_.sometimes("a cascade goes on in another tick");
  for (const kernel::InstanceView& instance : view->instances) add(*view, instance);
}

void Ledger::check_tick(const kernel::RecordView& record) {
  if (const auto* event = std::get_if<kernel::EventArrived>(&record.tick.input)) {
    if (!event->id.empty() && !events_.emplace(event->id, record.number).second)
      violation(record.number, "takes event " + std::string(event->id) + " again");
  }
  if (const auto* forget = std::get_if<kernel::ForgetEnded>(&record.tick.input))
    return check_forgotten(record, *forget);
  const auto* receipt = std::get_if<kernel::ReceiptArrived>(&record.tick.input);
  if (receipt == nullptr) return;
  const auto found = intents_.find(receipt->intent);
  if (found == intents_.end()) return violation(record.number, "settles what was never opened");
  const Intent& intent = found->second;
  if (intent.is_settled) violation(record.number, "settles an intent again");
  const auto code = codec::View::of(receipt->payload).find("code");
  if (receipt->status == kernel::ReceiptStatus::kError && code && code->text() == "executor.busy")
    violation(record.number, "an effect fails because its executor is busy");
  const bool reaches_origin = std::any_of(
      record.instances.begin(), record.instances.end(), [&](const kernel::InstanceView& instance) {
        return instance.workflow == intent.origin.first &&
               std::equal(instance.key.begin(), instance.key.end(), intent.origin.second.begin(),
                          intent.origin.second.end());
      });
  if (!reaches_origin) violation(record.number, "a receipt does not reach its origin");
  if (intent.effect == kTimer && record.tick.time_ns < intent.due_ns)
    violation(record.number, "a timer rings early");
}

// Everybody who is named, has ended and was not touched since goes, and nobody else.
void Ledger::check_forgotten(const kernel::RecordView& record, const kernel::ForgetEnded& forget) {
  const auto names = kernel::read_forget_list(forget.instances);
  if (!names) return violation(record.number, "forgets nobody");
  std::size_t gone = 0;
  for (const kernel::ForgetName& name : *names) {
    const auto found = instances_.find(
        {std::string(name.workflow), base::Bytes(name.key.begin(), name.key.end())});
    if (found == instances_.end()) continue;
    if (found->second.has_ended() && found->second.last_record <= name.last_record) ++gone;
  }
  if (gone != record.instances.size())
    violation(record.number, "forgets " + std::to_string(record.instances.size()) +
                                 " instances where " + std::to_string(gone) + " are to go");
  for (const kernel::InstanceView& instance : record.instances) {
    const auto found = instances_.find(
        {std::string(instance.workflow), base::Bytes(instance.key.begin(), instance.key.end())});
    if (found == instances_.end() || !found->second.has_ended())
      violation(record.number, "forgets an instance that has not ended");
    report_.sometimes("an instance is forgotten");
  }
}

void Ledger::add_stream(const kernel::RecordView& record, const kernel::InstanceView& instance,
                        Stream& stream) {
  std::uint64_t sequence = record.number * 65536;
  for (const base::ByteView entry : instance.annotations)
    stream.entries.emplace(sequence++, base::Bytes(entry.begin(), entry.end()));
  const bool is_over = instance.status != "running" && instance.status != "waiting";
  if (is_over && stream.ended == 0) stream.ended = sequence;
}

void Ledger::add(const kernel::RecordView& record, const kernel::InstanceView& instance) {
  Name name(instance.workflow, base::Bytes(instance.key.begin(), instance.key.end()));
  Instance& known = instances_[name];
  const bool begins = known.last_record == 0 || known.status == "deleted";
  if (instance.previous != known.last_record && !(instance.previous == 0 && begins))
    violation(record.number, "names record " + std::to_string(instance.previous) + " and not " +
                                 std::to_string(known.last_record) + " before it");
  const bool is_forgotten = record.kind() == kernel::TickKind::kForget;
  if (known.has_ended() && known.status != instance.status && !is_forgotten)
    violation(record.number, "an instance that has ended goes on");
  if (has_stream(instance.workflow)) {
    Lives& lives = streams_[name];
    if (begins) lives.push_back({record.number * 65536, {}, 0});
    add_stream(record, instance, lives.back());
  }
  known = {std::string(instance.status), instance.paused, record.number};
  if (instance_watch_) instance_watch_(record, instance, begins);
  for (const kernel::OpenedView& opened : instance.opened) {
    Intent intent{name, std::string(opened.effect), record.tick.time_ns, 0, false};
    if (opened.effect == kTimer) {
      intent.due_ns = codec::View::of(opened.params).find("deliver_at_ns")->nat().value_or(0);
      if (timer_watch_) timer_watch_(opened.intent, intent);
    }
    if (!intents_.emplace(opened.intent, std::move(intent)).second)
      violation(record.number, "opens an intent again");
    ++open_;
  }
  for (const kernel::SettledView& settled : instance.settled) {
    const auto found = intents_.find(settled.intent);
    if (found == intents_.end()) {
      violation(record.number, "settles what was never opened");
    } else if (found->second.is_settled) {
      violation(record.number, "settles an intent again");
    } else if (found->second.origin != name) {
      violation(record.number, "an instance settles what another one opened");
    } else {
      found->second.is_settled = true;
      --open_;
      if (timer_watch_ && found->second.effect == kTimer)
        timer_watch_(settled.intent, found->second);
    }
  }
}

}  // namespace holdfast::sim
