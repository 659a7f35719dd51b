// SPDX-License-Identifier: Apache-2.0
// Lists of instances, from the index behind the world.
#include <utility>

#include "engine/body.h"
#include "engine/ticket.h"
#include "engine/translate.h"

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

InstanceList outside(node::HistoryList list) {
  InstanceList made;
  made.next = list.page.next;
  made.seen = list.seen;
  made.lag = list.lag;
  for (store::InstanceCount& each : list.page.counts)
    made.counts.push_back({std::move(each.workflow), std::move(each.status), each.count});
  made.instances.reserve(list.page.rows.size());
  for (store::InstanceRow& row : list.page.rows) {
    made.instances.push_back({.workflow = std::move(row.workflow),
                              .key = std::move(row.key),
                              .status = std::move(row.status),
                              .is_paused = row.paused,
                              .first_record = row.first_record,
                              .first_ns = row.first_ns,
                              .last_record = row.last_record,
                              .last_ns = row.last_ns,
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
