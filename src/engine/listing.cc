// SPDX-License-Identifier: Apache-2.0
// Lists of instances, from the index behind the world.
#include <utility>

#include "engine/body.h"
#include "engine/ticket.h"
#include "engine/translate.h"
#include "kernel/record_view.h"
#include "node/stream_entries.h"
#include "store/journal.h"

namespace holdfast {
namespace {

store::HistoryQuery inside(ListOptions options) {
  return {.workflow = std::move(options.workflow),
          .status = std::move(options.status),
          .paused = options.paused,
          .since_ns = options.since_ns,
          .until_ns = options.until_ns,
          .key = std::move(options.key),
          .code = std::move(options.code),
          .words = std::move(options.words),
          .after = options.after,
          .limit = options.limit,
          .counts = options.counts,
          .rates_from_ns = options.rates_from_ns,
          .rates_step_ns = options.rates_step_ns};
}

// Rows of what was deleted also stand for events that began nothing.
bool is_counted(const store::InstanceCount& count) { return count.status != "deleted"; }

// When an instance ended: the index has the record, and its time if none came after it. 0: the
// journal does not have the record any more.
std::uint64_t time_of(store::Journal& journal, store::RecordNumber record) {
  if (record < journal.first()) return 0;
  const auto pinned = journal.pin(record);
  const auto reader = journal.read(record);
  if (!reader) return 0;
  const auto found = (*reader)->next();
  if (!found || !*found || (*found)->number != record) return 0;
  const auto read = kernel::read_record((*found)->bytes);
  return read ? read->tick.time_ns : 0;
}

InstanceList outside(node::HistoryList list, store::Journal& journal) {
  InstanceList made;
  made.next = list.page.next;
  made.seen = list.seen;
  made.lag = list.lag;
  for (store::InstanceCount& each : list.page.counts) {
    if (is_counted(each))
      made.counts.push_back({std::move(each.workflow), std::move(each.status), each.count});
  }
  for (const store::InstanceRate& each : list.page.rates)
    made.rates.push_back({each.from_ns, each.begun, each.completed, each.failed, each.cancelled});
  made.instances.reserve(list.page.rows.size());
  for (store::InstanceRow& row : list.page.rows) {
    const store::RecordNumber ended = row.ended == 0 ? 0 : node::record_of(row.ended);
    made.instances.push_back({.workflow = std::move(row.workflow),
                              .key = std::move(row.key),
                              .status = std::move(row.status),
                              .is_paused = row.paused,
                              .first_record = row.first_record,
                              .first_ns = row.first_ns,
                              .last_record = row.last_record,
                              .last_ns = row.last_ns,
                              .ended_record = ended,
                              .ended_ns = ended == row.last_record ? row.last_ns
                                          : ended == 0             ? 0
                                                                   : time_of(journal, ended),
                              .steps = row.steps,
                              .error_code = std::move(row.error_code),
                              .error_message = std::move(row.error_message),
                              .place = row.id});
  }
  return made;
}

}  // namespace

void Engine::list_raw(ListOptions options, Then<InstanceList> then) {
  if (!body_->history)
    return then(Error{ErrorCode::kConflict, "the engine was opened without history"});
  const auto ticket = engine::ticket(std::move(then));
  store::Journal& journal = body_->world->journal();
  const auto asked = body_->history->ask(inside(std::move(options)),
                                         [ticket, &journal](base::Result<node::HistoryList> list) {
                                           if (!list)
                                             return ticket->tell(engine::outside(list.error()));
                                           ticket->tell(outside(std::move(*list), journal));
                                         });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

}  // namespace holdfast
