// SPDX-License-Identifier: Apache-2.0
#include "node/list_order.h"

#include <algorithm>

#include "base/sha256.h"
#include "kernel/forget_list.h"
#include "node/instance_key.h"

namespace holdfast::node {
namespace {

// Empty: the records behind it are all there, and it is of this journal.
base::Result<std::string> misfit(const store::JournalFiles& journal,
                                 const store::HistoryCursor& cursor) {
  if (cursor.record > journal.last()) return std::string("it has seen more than the journal has");
  if (cursor.record + 1 < journal.first())
    return std::string("records that it would need next were trimmed");
  if (cursor.record < journal.first()) return std::string();
  if (base::sha256(TRY(record_in(journal, cursor.record))) == cursor.hash) return std::string();
  return std::string("it is of another journal");
}

}  // namespace

// The last record that it has seen; the one before the first of the journal: it is not used.
base::Result<store::RecordNumber> ListOrder::read_index(const store::JournalFiles& journal,
                                                        const store::WorldPlace& world) {
  const auto cursor = store::look_at_history(world, [this](const store::InstanceRow& row) {
    seen_[instance_key(row.workflow, row.key)] = {row.id, row.last_record,
                                                  store::is_over(row.status)};
    last_place_ = std::max(last_place_, row.id);
  });
  if (cursor && !*cursor) return journal.first() - 1;
  if (cursor) {
    passed_over_ = TRY(misfit(journal, **cursor));
    if (passed_over_.empty()) return (*cursor)->record;
  } else {
    passed_over_ = cursor.error().to_string();
  }
  seen_.clear();
  last_place_ = 0;
  return journal.first() - 1;
}

void ListOrder::forget(const kernel::ForgetEnded& forget) {
  const auto names = kernel::read_forget_list(forget.instances);
  if (!names) return;
  for (const kernel::ForgetName& name : *names) {
    const auto known = seen_.find(instance_key(name.workflow, name.key));
    if (known == seen_.end() || !known->second.is_over ||
        known->second.last_record > name.last_record)
      continue;
    seen_.erase(known);
  }
}

void ListOrder::add(const kernel::RecordView& record) {
  if (const auto* ended = std::get_if<kernel::ForgetEnded>(&record.tick.input))
    return forget(*ended);
  for (const kernel::InstanceView& instance : record.instances) {
    const auto [known, is_new] = seen_.try_emplace(instance_key(instance.workflow, instance.key));
    if (is_new && instance.previous == 0) known->second.place = ++last_place_;
    known->second.last_record = record.number;
    known->second.is_over = store::is_over(instance.status);
  }
}

base::Result<ListOrder> ListOrder::read(const store::JournalFiles& journal,
                                        const store::WorldPlace& world,
                                        const ReplayProgress& progress) {
  ListOrder order;
  store::RecordNumber at = TRY(order.read_index(journal, world));
  if (at >= journal.last()) return order;
  const auto reader = TRY(journal.read(at + 1));
  while (at < journal.last()) {
    const auto record = TRY(reader->next());
    if (!record) break;
    order.add(TRY(kernel::read_record(record->bytes)));
    at = record->number;
    if (progress && at % kRecordsPerReport == 0) progress(at);
  }
  return order;
}

std::optional<std::uint64_t> ListOrder::place_of(std::string_view workflow,
                                                 base::ByteView key) const {
  const auto known = seen_.find(instance_key(workflow, key));
  if (known == seen_.end() || known->second.place == 0) return std::nullopt;
  return known->second.place;
}

}  // namespace holdfast::node
