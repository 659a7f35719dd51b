// SPDX-License-Identifier: Apache-2.0
// What an engine says of its world: why an instance waits, how much there is, what happened.
#include <algorithm>
#include <utility>
#include <variant>

#include "codec/buffer.h"
#include "engine/body.h"
#include "engine/ticket.h"
#include "engine/translate.h"
#include "env/disk_space.h"
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
  measures.stale_reports = counters.stale_reports;
  measures.workers = world.workers().all().size();
  measures.leases = world.workers().leases();
  measures.repeated_progress = counters.repeated_progress;
  measures.bad_signatures = counters.bad_signatures;
  measures.forgotten_event_ids = counters.forgotten_event_ids;
  return measures;
}

void put_open(const kernel::World& world, std::uint64_t now_ns, Measures& measures) {
  for (const kernel::World::OpenEffects& open : world.open_effects()) {
    const std::uint64_t age = now_ns > open.oldest_ns ? now_ns - open.oldest_ns : 0;
    measures.open_by_effect.push_back(
        {std::string(open.effect), std::string(open.executor), open.count, age});
  }
}

void put_refusals(const node::Core::Refusals& refusals, Measures& measures) {
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    const auto code = static_cast<base::ErrorCode>(i);
    if (refusals[i] != 0)
      measures.refusals.push_back({std::string(base::to_string(code)), refusals[i]});
  }
}

base::Result<std::uint64_t> bytes_in(env::Disk& disk, const std::string& folder) {
  std::uint64_t bytes = 0;
  for (const std::string& name : TRY(disk.list(folder))) {
    // What is a folder, or was removed meanwhile, is not counted.
    std::string path = folder;
    path.append("/").append(name);
    const auto file = disk.open(path, env::OpenMode::kRead);
    if (!file) continue;
    if (const auto size = (*file)->size()) bytes += *size;
  }
  return bytes;
}

base::Result<DiskUse> use_of(store::WorldFolder& folder) {
  const env::DiskSpace space = TRY(env::disk_space_of(folder.path()));
  DiskUse use{.free_bytes = space.free_bytes, .total_bytes = space.total_bytes};
  use.journal_bytes = TRY(bytes_in(folder.disk(), folder.journal_path()));
  use.other_bytes = TRY(bytes_in(folder.disk(), folder.path()));
  return use;
}

Bytes document_of(const kernel::RecordView& record) {
  codec::Buffer out;
  node::write_document(out, record);
  return out.to_bytes();
}

base::Result<JournalPart> part_of(store::Journal& journal, std::uint64_t from,
                                  const PartLimits& limits) {
  const auto pinned = journal.pin(from);
  JournalPart part;
  part.first = std::min(pinned->first(), journal.first());
  part.last = journal.durable();
  if (from > part.last + 1) {
    return base::Error(base::ErrorCode::kNotFound,
                       "the last record is " + std::to_string(part.last));
  }
  if (from != 0 && from < part.first) {
    return base::Error(base::ErrorCode::kNotFound, "record " + std::to_string(from),
                       "trimmed: the journal begins with record " + std::to_string(part.first));
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

Result<Engine::RawSituation> situation_of(kernel::World& world, const kernel::InstanceName& name) {
  auto instance = engine::read(world, name);
  if (!instance) return instance.error();
  auto reasons = engine::reasons_of(world, name);
  if (!reasons) return reasons.error();
  auto version = engine::kept_version_of(world, name);
  if (!version) return version.error();
  return Engine::RawSituation{std::move(*instance), std::move(*reasons), std::move(*version)};
}

// What is performed by functions of the program may wait for one of their threads.
void put_waits_for_threads(const std::set<std::string, std::less<>>& here,
                           executors::Functions* handlers, std::vector<WaitReason>& reasons) {
  if (handlers == nullptr) return;
  for (WaitReason& reason : reasons) {
    if (reason.kind != WaitReason::Kind::kReceipt || !here.contains(reason.effect)) continue;
    if (handlers->waits_for_thread(base::Hash{reason.intent.bytes}))
      reason.busy_handler_threads = handlers->threads();
  }
}

}  // namespace

void Engine::why_raw(std::string_view workflow, Bytes key, Then<std::vector<WaitReason>> then) {
  const auto ticket = engine::ticket(std::move(then));
  kernel::InstanceName name{std::string(workflow), std::move(key)};
  const auto asked = body_->node->look([this, name = std::move(name), ticket](node::Core& core) {
    core.ask([&](kernel::World& world) -> std::function<void()> {
      auto seen =
          std::make_shared<Result<std::vector<WaitReason>>>(engine::reasons_of(world, name));
      if (*seen) put_waits_for_threads(body_->performed_here, body_->handler_threads, **seen);
      return [ticket, seen] { ticket->tell(std::move(*seen)); };
    });
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

void Engine::situation_raw(std::string_view workflow, Bytes key, Then<RawSituation> then) {
  const auto ticket = engine::ticket(std::move(then));
  kernel::InstanceName name{std::string(workflow), std::move(key)};
  const auto asked = body_->node->look([this, name = std::move(name), ticket](node::Core& core) {
    core.ask([&](kernel::World& world) -> std::function<void()> {
      auto seen = std::make_shared<Result<RawSituation>>(situation_of(world, name));
      if (*seen)
        put_waits_for_threads(body_->performed_here, body_->handler_threads, (*seen)->reasons);
      return [ticket, seen] { ticket->tell(std::move(*seen)); };
    });
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

void Engine::measure(Then<Measures> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = body_->node->look([this, ticket](node::Core& core) {
    core.ask([&](kernel::World& world) -> std::function<void()> {
      auto measures = std::make_shared<Measures>(measures_of(world));
      const auto now_ns =
          static_cast<std::uint64_t>(std::max<std::int64_t>(body_->clock->wall_ns(), 0));
      put_open(world, now_ns, *measures);
      put_refusals(core.refusals(), *measures);
      measures->clock_ahead_ns = core.clock_ahead_ns();
      return [this, ticket, measures] {
        body_->put_figures(*measures);
        ticket->tell(std::move(*measures));
      };
    });
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

Measures Engine::measure_at_once() {
  Measures measures;
  body_->put_figures(measures);
  return measures;
}

void Engine::take_snapshot(Then<std::uint64_t> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = body_->node->ask_for_snapshot([this, ticket](const base::Result<void>& taken) {
    if (!taken) return ticket->tell(engine::outside(taken.error()));
    ticket->tell(body_->snapshot_before.load());
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

Engine::Stop Engine::when_durable(std::uint64_t record, Then<std::uint64_t> then) {
  const std::uint64_t number = body_->next_question++;
  const auto ticket = engine::ticket(std::move(then));
  if (!body_->durable_watch->add(number, record, ticket)) {
    ticket->tell(Error{ErrorCode::kUnavailable, "too many wait for records, or the engine ended"});
    return [] {};
  }
  // It may have become so before anybody could be woken.
  body_->durable_watch->became_durable(body_->world->journal().durable());
  return [watch = std::weak_ptr(body_->durable_watch), number] {
    if (const auto held = watch.lock()) held->remove(number);
  };
}

void Engine::Body::put_figures(Measures& measures) {
  const node::LoopFigures loop = node->figures();
  measures.sync_ns = loop.sync_ns;
  measures.batch_records = loop.batch_records;
  measures.waiting_results = loop.waiting_results;
  if (loop.refused_for_room != 0) measures.refusals.push_back({"room", loop.refused_for_room});
  measures.recovery_ns = recovery_ns;
  measures.replayed_records = world->restoring().replayed;
  // A snapshot may have been finished since the world was looked at.
  const std::uint64_t before = std::max<std::uint64_t>(snapshot_before, 1);
  measures.behind_snapshot = std::max(measures.next_record, before) - before;
  measures.replay_ns = loop.replay_ns;
  measures.replay_bound_ns =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(options.replay_bound).count());
  measures.figures = figures();
  if (history) measures.history_seen = history->figures().seen;
  if (handler_threads != nullptr) {
    measures.handler_threads = handler_threads->threads();
    measures.busy_handler_threads = handler_threads->busy_threads();
  }
  failed_effects.put(measures.failed);
  failed_instances.put(measures.failed_instances);
}

Result<DiskUse> Engine::disk_use() {
  auto use = use_of(body_->world->folder());
  if (!use) return engine::outside(use.error());
  return *use;
}

Result<JournalPart> Engine::read_journal(std::uint64_t from, PartLimits limits) {
  auto part = part_of(body_->world->journal(), from, limits);
  if (!part) return engine::outside(part.error());
  return std::move(*part);
}

std::shared_ptr<const void> Engine::hold_journal(std::uint64_t from) {
  return std::shared_ptr<const store::JournalPin>(body_->world->journal().pin(from));
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
