// SPDX-License-Identifier: Apache-2.0
// A snapshot is one canonical value: the roots of what is kept in blobs, and the rest in full. The
// same state gives the same bytes, however it came about.
#include <map>
#include <utility>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "codec/well_formed.h"
#include "kernel/cell_codec.h"
#include "kernel/chunks.h"
#include "kernel/list_reader.h"
#include "kernel/snapshot_parts.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

using codec::Buffer;

// How many cells are written ahead at once: few, so that no tick waits long behind them.
constexpr std::size_t kCellsAhead = 64;

void write_trie(Buffer& out, const HashTrie& trie) {
  codec::write_bytes(out, trie.root().bytes);
  codec::write_nat(out, trie.size());
}

base::Result<void> write_settled(Buffer& out, const WorldState& world) {
  ChunkWriter chunks(world.blobs);
  for (std::size_t i = 0; i < world.settled.size(); ++i) {
    const auto& [intent, settled] = world.settled[i];
    codec::write_list_head(chunks.entry(), settled.dispatch == 0 ? 3 : 4);
    codec::write_bytes(chunks.entry(), intent.bytes);
    codec::write_nat(chunks.entry(), settled.record);
    codec::write_nat(chunks.entry(), static_cast<std::uint64_t>(settled.status));
    if (settled.dispatch != 0) codec::write_nat(chunks.entry(), settled.dispatch);
    TRY(chunks.entry_done());
  }
  return chunks.finish(out);
}

bool read_settled(codec::View entry, WorldState& world) {
  ListReader list(entry);
  const base::Hash intent = list.hash();
  const std::uint64_t record = list.nat();
  const ReceiptStatus status = list.choice(ReceiptStatus::kCancelled);
  std::uint64_t dispatch = 0;
  if (!list.at_end()) {
    dispatch = list.nat();
    list.require(dispatch != 0);
  }
  return list.done() && world.settled.add(intent, {record, status, dispatch});
}

// Instances whose turn has not come yet.
base::Result<void> write_ready(Buffer& out, const WorldState& world) {
  ChunkWriter chunks(world.blobs);
  for (const Cell* cell = world.ready.oldest(); cell != nullptr; cell = TurnOrder::after(*cell)) {
    codec::write_list_head(chunks.entry(), 2);
    codec::write_nat(chunks.entry(), cell->workflow);
    codec::write_bytes(chunks.entry(), cell->key);
    TRY(chunks.entry_done());
  }
  return chunks.finish(out);
}

bool read_ready(codec::View entry, WorldState& world) {
  ListReader list(entry);
  const std::uint64_t workflow = list.nat();
  const base::ByteView key = list.bytes();
  if (!list.done() || workflow >= world.cells.size()) return false;
  Cell* cell = world.cells[workflow].find(key_hash(key));
  if (cell == nullptr || (cell->mail.empty() && !cell->doomed) || cell->terminal() || cell->ready)
    return false;
  line_up(world, *cell);
  return true;
}

base::Result<void> write_waiting(Buffer& out, const WorldState& world) {
  ChunkWriter chunks(world.blobs);
  for (const Waiting::Wait& wait : world.waiting.in_order()) {
    codec::write_list_head(chunks.entry(), 4);
    codec::write_nat(chunks.entry(), wait.who.first);
    codec::write_bytes(chunks.entry(), wait.who.second.bytes);
    codec::write_nat(chunks.entry(), wait.for_room_of.first);
    codec::write_bytes(chunks.entry(), wait.for_room_of.second.bytes);
    TRY(chunks.entry_done());
  }
  return chunks.finish(out);
}

bool read_waiting(codec::View entry, WorldState& world) {
  ListReader list(entry);
  CellName who{list.nat32(), list.hash()};
  CellName of{list.nat32(), list.hash()};
  if (!list.done() || who.first >= world.cells.size()) return false;
  if (of != kWholeWorld && of.first >= world.cells.size()) return false;
  const Cell* cell = world.cells[who.first].find(who.second);
  if (cell == nullptr || cell->mail.empty() || cell->paused || world.waiting.contains(who))
    return false;
  world.waiting.add(who, of);
  return true;
}

base::Result<void> write_proposals(Buffer& out, const WorldState& world) {
  ChunkWriter chunks(world.blobs);
  for (const auto& [id, proposal] : world.proposals) {
    write_proposal(chunks.entry(), id, proposal);
    TRY(chunks.entry_done());
  }
  return chunks.finish(out);
}

bool read_proposal_into(codec::View entry, WorldState& world) {
  std::uint64_t id = 0;
  Proposal proposal;
  if (!read_proposal(entry, id, proposal)) return false;
  return world.proposals.emplace(id, std::move(proposal)).second;
}

// Workflows of the system that have no instances are left out: a world that does not use them has
// the snapshot of a program without them.
bool is_written(const WorldState& world, std::uint32_t workflow) {
  if (world.program->workflow(workflow).name.empty()) return false;
  return !world.program->workflow(workflow).is_system || world.cells[workflow].index().size() != 0;
}

void write_cells(Buffer& out, const WorldState& world) {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < world.cells.size(); ++i) count += is_written(world, i) ? 1U : 0U;
  codec::write_list_head(out, 4 * count);
  for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
    if (!is_written(world, i)) continue;
    codec::write_text(out, world.program->workflow(i).name);
    write_trie(out, world.cells[i].index());
    codec::write_nat(out, world.cells[i].active());
  }
  codec::write_list_head(out, 3 * world.retired.size());
  for (const auto& [name, cells] : world.retired) {
    codec::write_text(out, name);
    write_trie(out, cells.index());
  }
}

bool restore_cells(const SnapshotParts& parts, WorldState& world) {
  auto next = parts.workflows.begin();
  for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
    if (world.program->workflow(i).name.empty()) continue;
    const bool is_there =
        next != parts.workflows.end() && next->name == world.program->workflow(i).name;
    if (!is_there && world.program->workflow(i).is_system) continue;
    if (!is_there || next->active > next->index.size()) return false;
    world.cells[i].restore(next->index, next->active);
    ++next;
  }
  if (next != parts.workflows.end()) return false;
  for (const SnapshotParts::Workflow& workflow : parts.retired)
    retire(world, std::string(workflow.name), workflow.index);
  return true;
}

// A root that is not there must not be found out about later.
base::Result<void> check_roots(const WorldState& world) {
  for (const Cells& cells : world.cells) TRY(cells.index().check_root(world.blobs));
  for (const auto& [name, cells] : world.retired) TRY(cells.index().check_root(world.blobs));
  return world.intents.trie().check_root(world.blobs);
}

// The names and forms by number, and the versions that are kept.
base::Result<void> write_numbering(Buffer& out, const WorldState& world) {
  const Numbering numbering = world.program->numbering();
  codec::write_list_head(out, 3);
  for (const auto* names : {&numbering.workflows, &numbering.effects}) {
    codec::write_list_head(out, 2 * names->size());
    for (const Named& each : *names) {
      codec::write_text(out, each.name);
      codec::write_bytes(out, each.hash.bytes);
    }
  }
  const std::vector<Pin>& pins = world.program->pins();
  codec::write_list_head(out, 3 * pins.size());
  for (const Pin& pin : pins) {
    codec::write_text(out, pin.workflow.name);
    codec::write_bytes(out, pin.workflow.hash.bytes);
    codec::write_bytes(out, TRY(world.blobs.put(*pin.closure)).bytes);
  }
  return {};
}

base::Result<void> read_numbering(const WorldState& world, codec::View view, Numbering& numbering,
                                  std::vector<Pin>& pins) {
  ListReader list(view);
  for (auto* names : {&numbering.workflows, &numbering.effects}) {
    ListReader each(list.next());
    while (each.good() && !each.at_end()) {
      std::string name(each.text());
      names->push_back({std::move(name), each.hash()});
    }
    list.require(each.done());
  }
  std::map<base::Hash, std::shared_ptr<const base::Bytes>> closures;
  ListReader each(list.next());
  while (each.good() && !each.at_end() && pins.size() <= kMaxPins) {
    std::string name(each.text());
    const base::Hash form = each.hash();
    const base::Hash hash = each.hash();
    if (!each.good()) break;
    auto& closure = closures[hash];
    if (closure == nullptr)
      closure = std::make_shared<const base::Bytes>(TRY(world.blobs.get(hash)));
    if (!codec::is_well_formed(*closure))
      return corrupt("definitions of an earlier version are no value");
    pins.push_back({{std::move(name), form}, closure});
  }
  list.require(each.done());
  if (!list.done()) return corrupt("the snapshot's numbers cannot be used");
  return {};
}

base::Result<void> write_sources(Buffer& out, WorldState& world) {
  codec::write_list_head(out, 5 * world.sources.size());
  for (EventSource& source : world.sources) {
    codec::write_text(out, source.name);
    codec::write_nat(out, source.heard_ns);
    codec::write_nat(out, source.ids.marked());
    TRY(source.ids.write_chunks(out, world.blobs));
    source.ids.write_times(out);
  }
  return {};
}

base::Result<void> restore_sources(const SnapshotParts& parts, WorldState& world) {
  const EventIdLimits limits{world.options.event_ids.window_ns, kMostSourceIds};
  for (const SnapshotParts::Source& part : parts.sources) {
    EventSource& source = world.sources.emplace_back(
        EventSource{std::string(part.name), part.heard_ns, EventIds(limits, part.marked)});
    TRY(source.ids.restore(world.blobs, part.chunks, part.times, parts.latest_ns));
  }
  return {};
}

// The program whose definitions are in a blob; the zero hash is the program that does nothing.
base::Result<std::shared_ptr<const Program>> read_program(
    const WorldState& world, const base::Hash& hash, const std::optional<codec::View>& numbers) {
  if (hash.is_zero()) return Program::none(world.machines, world.origin);
  const base::Bytes definitions = TRY(world.blobs.get(hash));
  std::optional<Numbering> numbering;
  std::vector<Pin> pins;
  if (numbers) TRY(read_numbering(world, *numbers, numbering.emplace(), pins));
  Refused refusal;
  auto program =
      load_program_again(world, definitions, numbering ? &*numbering : nullptr, pins, refusal);
  if (program != nullptr) return program;
  for (const std::string& detail : refusal.details) refusal.message += "; " + detail;
  return base::Error(refusal.code, refusal.message);
}

base::Result<base::Bytes> write_snapshot(WorldState& world) {
  for (Cells& cells : world.cells) TRY(cells.flush());
  for (auto& [name, cells] : world.retired) TRY(cells.flush());
  std::erase_if(world.retired, [](const auto& of) { return of.second.index().size() == 0; });
  TRY(world.intents.flush(world.blobs));
  base::Hash definitions;
  if (!world.program->closure().empty())
    definitions = TRY(world.blobs.put(world.program->closure()));
  Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  const bool has_sources = !world.sources.empty();
  const bool is_numbered = !world.program->is_numbered_in_order();
  const bool has_numbering = has_sources || is_numbered;
  const bool has_workers = has_numbering || !world.workers.empty();
  const bool has_waiting = has_workers || !world.waiting.empty();
  const bool has_ids = has_waiting || world.event_ids.size() != 0;
  codec::write_list_head(out, 14u + (has_ids ? 1u : 0u) + (has_waiting ? 1u : 0u) +
                                  (has_workers ? 2u : 0u) + (has_numbering ? 1u : 0u) +
                                  (has_sources ? 1u : 0u));
  codec::write_nat(out, kSnapshotVersion);
  codec::write_nat(out, world.next_record);
  codec::write_nat(out, world.latest_ns);
  codec::write_nat(out, world.mail_bytes);
  codec::write_bytes(out, world.origin);
  codec::write_bytes(out, definitions.bytes);
  write_cells(out, world);
  write_trie(out, world.intents.trie());
  TRY(world.event_ids.write_chunks(out, world.blobs));
  TRY(write_settled(out, world));
  TRY(write_ready(out, world));
  TRY(write_proposals(out, world));
  if (has_ids) world.event_ids.write_times(out);
  if (has_waiting) TRY(write_waiting(out, world));
  if (has_workers) TRY(world.workers.write_chunks(out, world.blobs));
  if (is_numbered) {
    TRY(write_numbering(out, world));
  } else if (has_numbering) {
    codec::write_null(out);
  }
  if (has_sources) TRY(write_sources(out, world));
  return out.to_bytes();
}

}  // namespace

base::Result<base::Bytes> World::snapshot() {
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  auto made = write_snapshot(*state_);
  // Without room nothing is lost: what was put is there, the rest is as dirty as before.
  if (!made && made.error().code() != base::ErrorCode::kUnavailable) fail(made.error());
  return made;
}

base::Result<bool> World::write_ahead() {
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  WorldState& world = *state_;
  std::size_t budget = kCellsAhead;
  for (; world.ahead < world.cells.size() && budget != 0; ++world.ahead) {
    const auto more = world.cells[world.ahead].flush_ahead(budget);
    if (!more && more.error().code() != base::ErrorCode::kUnavailable) fail(more.error());
    if (!more) return base::Error(more.error().code(), more.error().to_string());
    if (*more) return true;
  }
  if (world.ahead < world.cells.size()) return true;
  const auto put = world.event_ids.put_away(world.blobs, 0);
  if (!put && put.error().code() != base::ErrorCode::kUnavailable) fail(put.error());
  if (!put) return base::Error(put.error().code(), put.error().to_string());
  if (*put != 0) return true;
  for (EventSource& source : world.sources) {
    const auto more = source.ids.put_away(world.blobs, 0);
    if (!more && more.error().code() != base::ErrorCode::kUnavailable) fail(more.error());
    if (!more) return base::Error(more.error().code(), more.error().to_string());
    if (*more != 0) return true;
  }
  world.ahead = 0;
  return false;
}

std::size_t World::dirty_cells() const noexcept {
  std::size_t dirty = 0;
  for (const Cells& cells : state_->cells) dirty += cells.dirty();
  return dirty;
}

base::Result<base::Bytes> World::snapshot_as_another(const Entropy& origin) {
  if (auto failure = failure_of(*state_)) return std::move(*failure);
  state_->origin = origin;
  auto made = write_snapshot(*state_);
  // Its program still has the sites of the one that it was.
  fail({base::ErrorCode::kEnded, "the world has become another one"});
  return made;
}

base::Result<World> World::restore(const MachineSource& machines, Blobs& blobs,
                                   base::ByteView snapshot, WorldOptions options) {
  const SnapshotParts parts = TRY(read_snapshot(snapshot));
  World made(machines, blobs, options);
  WorldState& world = *made.state_;
  world.next_record = parts.next_record;
  world.latest_ns = parts.latest_ns;
  world.mail_bytes = parts.mail_bytes;
  world.origin = parts.origin;
  world.program = TRY(read_program(world, parts.definitions, parts.numbering));
  begin_cells(world);
  if (!restore_cells(parts, world)) {
    return base::Error(base::ErrorCode::kCorrupt,
                       "the workflows of the snapshot are not those of its definitions");
  }
  world.intents.restore(parts.intents);
  TRY(check_roots(world));
  const auto read = [&](codec::View chunks, bool (*entry)(codec::View, WorldState&)) {
    return visit_chunks(blobs, chunks, [&](codec::View view) { return entry(view, world); });
  };
  TRY(world.event_ids.restore(blobs, parts.event_ids, parts.event_id_times, parts.latest_ns));
  TRY(restore_sources(parts, world));
  TRY(read(parts.settled, read_settled));
  TRY(read(parts.ready, read_ready));
  TRY(read(parts.proposals, read_proposal_into));
  if (parts.waiting) TRY(read(*parts.waiting, read_waiting));
  if (parts.workers) {
    TRY(read(*parts.workers,
             [](codec::View entry, WorldState& into) { return into.workers.read_worker(entry); }));
    TRY(read(*parts.cordons,
             [](codec::View entry, WorldState& into) { return into.workers.read_cordon(entry); }));
  }
  return made;
}

}  // namespace holdfast::kernel
