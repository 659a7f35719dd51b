// SPDX-License-Identifier: Apache-2.0
// Lists of instances, from the index behind the world.
#include <utility>

#include "engine/body.h"
#include "engine/ticket.h"
#include "engine/translate.h"
#include "node/stream_entries.h"

namespace holdfast {
namespace {

store::HistoryQuery inside(ListOptions options) {
  return {.workflow = std::move(options.workflow),
          .status = std::move(options.status),
          .paused = options.paused,
          .since_ns = options.since_ns,
          .words = std::move(options.words),
          .after = options.after,
          .limit = options.limit,
          .counts = options.counts};
}

// An event came for an instance that was not there, and began none.
bool is_unhandled(const store::InstanceRow& row) {
  return row.status == "deleted" && row.first_record == row.last_record && row.steps <= 1;
}

InstanceList outside(node::HistoryList list) {
  InstanceList made;
  made.next = list.page.next;
  made.seen = list.seen;
  made.lag = list.lag;
  for (store::InstanceCount& each : list.page.counts)
    made.counts.push_back({std::move(each.workflow), std::move(each.status), each.count});
  made.instances.reserve(list.page.rows.size());
  for (store::InstanceRow& row : list.page.rows) {
    if (is_unhandled(row)) continue;
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
                              .ended_ns = ended != 0 && ended == row.last_record ? row.last_ns : 0,
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
  const auto asked = body_->history->ask(inside(std::move(options)),
                                         [ticket](base::Result<node::HistoryList> list) {
                                           if (!list)
                                             return ticket->tell(engine::outside(list.error()));
                                           ticket->tell(outside(std::move(*list)));
                                         });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

}  // namespace holdfast
