// SPDX-License-Identifier: Apache-2.0
#include "engine/graph_submission.h"

#include <utility>

#include "codec/buffer.h"
#include "defs/system_names.h"
#include "tasks/messages.h"

namespace holdfast::engine {
namespace {

// Others that enter the same graph at the same time make one look again.
constexpr int kMostLooks = 8;

}  // namespace

GraphEntry::GraphEntry(Engine& engine, std::string id, tasks::GraphHeader header,
                       std::unique_ptr<GraphParts> parts, Engine::Then<GraphSubmitted> then)
    : engine_(engine),
      id_(std::move(id)),
      header_(std::move(header)),
      parts_(std::move(parts)),
      then_(std::move(then)) {}

void GraphEntry::begin(bool may_exist) { may_exist ? look() : open(); }

void GraphEntry::read(std::function<void(Result<tasks::GraphCell>)> next) {
  engine_.query_raw(defs::kGraphWorkflow, tasks::key_bytes(id_),
                    [self = shared_from_this(), next = std::move(next)](Result<RawInstance> found) {
                      if (!found) return next(found.error());
                      auto cell = tasks::read_graph_cell(codec::View::of(found->state));
                      if (!cell) return next(Error{ErrorCode::kCorrupt, "the state of the graph"});
                      next(std::move(*cell));
                    });
}

void GraphEntry::look() {
  if (++looks_ > kMostLooks)
    return then_(Error{ErrorCode::kUnavailable, "others enter the same graph at the moment"});
  read([self = shared_from_this()](Result<tasks::GraphCell> cell) {
    if (!cell && cell.error().code == ErrorCode::kNotFound) return self->open();
    if (!cell) return self->then_(cell.error());
    if (cell->header != self->header_)
      return self->then_(
          Error{ErrorCode::kConflict, "the id '" + self->id_ + "' belongs to another graph"});
    if (cell->phase == tasks::GraphPhase::kIntake) return self->send_part(cell->intake.next());
    if (cell->phase == tasks::GraphPhase::kDiscarding)
      return self->then_(
          Error{ErrorCode::kUnavailable, "the graph was not sealed in time and is being removed"});
    self->finish(true);
  });
}

void GraphEntry::open() {
  parts_->part_from(0, [self = shared_from_this()](Result<GraphParts::Part> part) {
    if (!part) return self->then_(part.error());
    codec::Buffer header;
    tasks::write_header(header, self->header_);
    codec::Buffer event;
    const bool is_all = part->next == self->header_.total_count;
    tasks::write_opened(event, self->id_, header.view(), part->bytes, is_all);
    const tasks::TaskIndex next = part->next;
    self->engine_.send_raw({.schema = tasks::kGraphOpened,
                            .value = event.to_bytes(),
                            .workflow = defs::kGraphWorkflow,
                            .key = tasks::key_bytes(self->id_)},
                           [self, is_all, next](const Result<Sent>& sent) {
                             // Somebody else was faster.
                             if (!sent && sent.error().code == ErrorCode::kConflict)
                               return self->look();
                             if (!sent) return self->then_(sent.error());
                             is_all ? self->confirm() : self->send_part(next);
                           });
  });
}

void GraphEntry::send(std::string_view schema, Bytes value, bool starts,
                      std::function<void()> next) {
  engine_.send_raw({.schema = schema,
                    .value = std::move(value),
                    .workflow = defs::kGraphWorkflow,
                    .key = tasks::key_bytes(id_),
                    .starts = starts},
                   [self = shared_from_this(), next = std::move(next)](const Result<Sent>& sent) {
                     if (!sent) return self->then_(sent.error());
                     next();
                   });
}

void GraphEntry::send_part(tasks::TaskIndex first) {
  if (first == header_.total_count) return seal();
  parts_->part_from(first, [self = shared_from_this()](Result<GraphParts::Part> part) {
    if (!part) return self->then_(part.error());
    codec::Buffer event;
    tasks::write_part(event, self->id_, part->bytes);
    self->send(tasks::kGraphPart, event.to_bytes(), false,
               [self, next = part->next] { self->send_part(next); });
  });
}

void GraphEntry::seal() {
  codec::Buffer event;
  tasks::write_sealed(event, id_);
  send(tasks::kGraphSealed, event.to_bytes(), false,
       [self = shared_from_this()] { self->confirm(); });
}

// An answer says that an event is durable, not what the graph made of it.
void GraphEntry::confirm() {
  read([self = shared_from_this()](Result<tasks::GraphCell> cell) {
    if (!cell) return self->then_(cell.error());
    // Somebody who entered the same graph at the same time was between two parts.
    if (cell->phase == tasks::GraphPhase::kIntake && cell->header == self->header_)
      return self->look();
    if (cell->header != self->header_ || cell->phase == tasks::GraphPhase::kDiscarding)
      return self->then_(Error{ErrorCode::kConflict, "the graph was replaced or discarded"});
    self->finish(false);
  });
}

void GraphEntry::finish(bool is_repeated) {
  then_(GraphSubmitted{.id = id_, .tasks = header_.run_count, .is_repeated = is_repeated});
}

}  // namespace holdfast::engine
