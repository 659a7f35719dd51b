// SPDX-License-Identifier: Apache-2.0
// A snapshot is one canonical value: the roots of what is kept in blobs, and the rest in full. The
// same state gives the same bytes, however it came about.
#include <utility>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "kernel/list_reader.h"
#include "kernel/world.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

using codec::Buffer;

constexpr std::uint64_t kSnapshotVersion = 1;

base::Error damaged(std::string_view what) {
  return {base::ErrorCode::kCorrupt, "the snapshot's " + std::string(what) + " cannot be used"};
}

void write_trie(Buffer& out, const HashTrie& trie) {
  codec::write_bytes(out, trie.root().bytes);
  codec::write_nat(out, trie.size());
}

HashTrie read_trie(ListReader& list) {
  const base::Hash root = list.hash();
  return HashTrie(root, list.nat());
}

void write_windows(Buffer& out, const WorldState& world) {
  codec::write_list_head(out, 2 * world.event_ids.keys().size());
  for (const std::string& id : world.event_ids.keys()) {
    codec::write_text(out, id);
    codec::write_nat(out, *world.event_ids.find(id));
  }
  codec::write_list_head(out, 3 * world.settled.keys().size());
  for (const base::Hash& intent : world.settled.keys()) {
    const SettledIntent& settled = *world.settled.find(intent);
    codec::write_bytes(out, intent.bytes);
    codec::write_nat(out, settled.record);
    codec::write_nat(out, static_cast<std::uint64_t>(settled.status));
  }
}

bool read_windows(ListReader& list, WorldState& world) {
  const codec::View ids = list.next();
  ListReader id(ids);
  for (std::uint64_t i = 0; i < ids.size() / 2; ++i) {
    std::string text(id.text());
    world.event_ids.add(std::move(text), id.nat());
  }
  const codec::View settled = list.next();
  ListReader entry(settled);
  for (std::uint64_t i = 0; i < settled.size() / 3; ++i) {
    const base::Hash intent = entry.hash();
    const std::uint64_t record = entry.nat();
    world.settled.add(intent, {record, entry.choice(ReceiptStatus::kCancelled)});
  }
  return id.good() && entry.good();
}

// Instances whose turn has not come yet.
bool read_ready(codec::View queue, WorldState& world) {
  ListReader list(queue);
  for (std::uint64_t i = 0; i < queue.size() / 2; ++i) {
    const std::uint64_t workflow = list.nat();
    const base::ByteView key = list.bytes();
    if (!list.good() || workflow >= world.cells.size()) return false;
    Cell* cell = world.cells[workflow].find(key);
    if (cell == nullptr || cell->mail.empty() || cell->ready) return false;
    cell->ready = true;
    world.ready.push_back(cell);
  }
  return true;
}

}  // namespace

base::Result<base::Bytes> World::snapshot() {
  WorldState& world = *state_;
  for (Cells& cells : world.cells) TRY(cells.flush());
  TRY(world.intents.flush(world.blobs));
  Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, 9);
  codec::write_nat(out, kSnapshotVersion);
  codec::write_nat(out, world.next_record);
  codec::write_bytes(out, world.program->manifest_hash().bytes);
  codec::write_list_head(out, 3 * world.cells.size());
  for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
    codec::write_text(out, world.program->workflow(i).name);
    write_trie(out, world.cells[i].index());
  }
  write_trie(out, world.intents.trie());
  write_windows(out, world);
  codec::write_list_head(out, 2 * world.ready.size());
  for (const Cell* cell : world.ready) {
    codec::write_nat(out, cell->workflow);
    codec::write_bytes(out, cell->key);
  }
  return out.to_bytes();
}

base::Result<World> World::restore(std::shared_ptr<const Program> program, Blobs& blobs,
                                   base::ByteView snapshot, CellLimits limits) {
  codec::Normaliser normaliser;
  if (!normaliser.from_cbor(codec::Schema::item(), snapshot, codec::Strictness::kStrict))
    return damaged("bytes");
  World made(std::move(program), blobs, limits);
  WorldState& world = *made.state_;
  ListReader list(codec::View::of(snapshot));
  if (list.nat() != kSnapshotVersion) return damaged("version");
  world.next_record = list.nat();
  if (list.hash() != world.program->manifest_hash()) return damaged("manifest");
  const codec::View workflows = list.next();
  ListReader roots(workflows);
  if (workflows.size() != 3 * world.cells.size()) return damaged("list of workflows");
  for (std::uint32_t i = 0; i < world.cells.size(); ++i) {
    if (roots.text() != world.program->workflow(i).name) return damaged("list of workflows");
    world.cells[i].restore(read_trie(roots));
  }
  const HashTrie intents = read_trie(list);
  if (!list.good() || !roots.good()) return damaged("list of roots");
  TRY(world.intents.restore(blobs, intents));
  if (!read_windows(list, world)) return damaged("window of ids");
  if (!read_ready(list.next(), world) || !list.good()) return damaged("queue");
  return made;
}

}  // namespace holdfast::kernel
