// SPDX-License-Identifier: Apache-2.0
// What an engine says of its world: why an instance waits, how much there is, what happened.
#include <utility>
#include <variant>

#include "codec/buffer.h"
#include "engine/body.h"
#include "engine/ticket.h"
#include "engine/translate.h"
#include "holdfast/engine.h"
#include "kernel/record_view.h"
#include "node/record_document.h"
#include "node/timeline.h"

namespace holdfast {
namespace {

Measures measures_of(const kernel::World& world) {
  const kernel::Counters& counters = world.counters();
  Measures measures;
  measures.next_record = world.next_record();
  measures.open_effects = world.open_intents();
  measures.refused = counters.refused;
  measures.repeated_events = counters.repeated_events;
  measures.repeated_receipts = counters.repeated_receipts;
  return measures;
}

Bytes document_of(const kernel::RecordView& record) {
  codec::Buffer out;
  node::write_document(out, record);
  return out.to_bytes();
}

base::Result<JournalPart> part_of(store::Journal& journal, std::uint64_t from,
                                  const PartLimits& limits) {
  JournalPart part;
  part.first = journal.first();
  part.last = journal.durable();
  if (from > part.last + 1) {
    return base::Error(base::ErrorCode::kNotFound,
                       "the last record is " + std::to_string(part.last));
  }
  const auto reader = TRY(journal.read(from == 0 ? part.first : from));
  std::size_t bytes = 0;
  while (part.records.size() < limits.records && (bytes < limits.bytes || part.records.empty())) {
    const auto record = TRY(reader->next());
    if (!record) break;
    bytes += record->bytes.size();
    part.records.push_back(document_of(TRY(kernel::read_record(record->bytes))));
  }
  part.next = reader->cursor();
  return part;
}

}  // namespace

void Engine::why_raw(std::string_view workflow, Bytes key, Then<std::vector<WaitReason>> then) {
  const auto ticket = engine::ticket(std::move(then));
  kernel::InstanceName name{std::string(workflow), std::move(key)};
  const auto asked = body_->node->look([name = std::move(name), ticket](node::Core& core) {
    core.ask([&](kernel::World& world) -> std::function<void()> {
      auto seen =
          std::make_shared<Result<std::vector<WaitReason>>>(engine::reasons_of(world, name));
      return [ticket, seen] { ticket->tell(std::move(*seen)); };
    });
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

void Engine::measure(Then<Measures> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = body_->node->look([ticket, figures = figures()](node::Core& core) {
    core.ask([&](kernel::World& world) -> std::function<void()> {
      Measures measures = measures_of(world);
      measures.figures = figures;
      return [ticket, measures] { ticket->tell(measures); };
    });
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

void Engine::take_snapshot(Then<std::uint64_t> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = body_->node->ask_for_snapshot([this, ticket](const base::Result<void>& taken) {
    if (!taken) return ticket->tell(engine::outside(taken.error()));
    ticket->tell(body_->snapshot_before.load());
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

Result<JournalPart> Engine::read_journal(std::uint64_t from, PartLimits limits) {
  auto part = part_of(body_->world->journal(), from, limits);
  if (!part) return engine::outside(part.error());
  return std::move(*part);
}

Result<TimelinePart> Engine::read_timeline(std::string_view workflow, const Bytes& key,
                                           std::uint64_t from, PartLimits limits) {
  const auto walk = node::timeline(body_->world->journal(), workflow, key, from,
                                   {.records = limits.records, .bytes = limits.bytes});
  if (!walk) return engine::outside(walk.error());
  TimelinePart part;
  for (const node::TimelineEntry& entry : walk->entries)
    part.records.push_back(document_of(entry.view));
  part.next = walk->end == node::TimelineEnd::kBegun ? 0 : walk->next;
  part.is_trimmed = walk->end == node::TimelineEnd::kTrimmed;
  return part;
}

}  // namespace holdfast
