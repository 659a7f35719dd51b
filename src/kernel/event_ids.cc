// SPDX-License-Identifier: Apache-2.0
#include "kernel/event_ids.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "kernel/chunks.h"
#include "kernel/list_reader.h"

namespace holdfast::kernel {
namespace {

// So many full chunks stay in memory between snapshots.
constexpr std::size_t kChunksInMemory = 64;

base::Error damaged() { return {base::ErrorCode::kCorrupt, "a chunk of event ids is damaged"}; }

bool read_entry(codec::View view, std::string& id, KnownEvent& event) {
  ListReader list(view);
  id = list.text();
  event.record = list.nat();
  event.fingerprint = list.nat32();
  event.deliveries = list.nat32();
  event.ignored = list.nat32();
  if (!list.at_end()) event.unhandled = list.nat32();
  return list.done();
}

void write_entry(codec::Buffer& out, std::string_view id, const KnownEvent& event) {
  codec::write_list_head(out, event.unhandled == 0 ? 5 : 6);
  codec::write_text(out, id);
  codec::write_nat(out, event.record);
  codec::write_nat(out, event.fingerprint);
  codec::write_nat(out, event.deliveries);
  codec::write_nat(out, event.ignored);
  if (event.unhandled != 0) codec::write_nat(out, event.unhandled);
}

template <class Entries>
base::Result<base::Hash> put_entries(Blobs& blobs, const Entries& entries) {
  codec::Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, entries.size());
  for (const auto& entry : entries) write_entry(out, entry.id, entry.event);
  return blobs.put(out.view());
}

}  // namespace

base::Result<bool> same_but_for_unhandled(const Blobs& blobs, codec::View before, codec::View now) {
  const std::vector<base::Hash> first = TRY(chunk_hashes(before));
  const std::vector<base::Hash> second = TRY(chunk_hashes(now));
  if (first.size() != second.size()) return false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] == second[i]) continue;
    using Known = std::pair<std::string, KnownEvent>;
    const auto read = [&](const base::Hash& hash) -> base::Result<std::vector<Known>> {
      std::vector<Known> all;
      TRY(visit_chunk(TRY(blobs.get(hash)), [&](codec::View view) {
        Known& known = all.emplace_back();
        return read_entry(view, known.first, known.second);
      }));
      return all;
    };
    const std::vector<Known> was = TRY(read(first[i]));
    std::vector<Known> is = TRY(read(second[i]));
    if (was.size() != is.size()) return false;
    for (std::size_t at = 0; at < is.size(); ++at) {
      if (was[at].second.unhandled == 0) is[at].second.unhandled = 0;
    }
    if (was != is) return false;
  }
  return true;
}

// Never 0, and with bits enough that two ids seldom share one.
std::uint64_t EventIds::tag_of(std::string_view id) {
  return (std::uint64_t{base::HashOfText()(id)} >> kPlaceBits) | 1;
}

void EventIds::insert(std::vector<std::uint64_t>& slots, std::uint64_t slot) {
  const std::size_t mask = slots.size() - 1;
  std::size_t at = (slot >> (kPlaceBits + 1)) & mask;
  while (slots[at] != 0) at = (at + 1) & mask;
  slots[at] = slot;
}

void EventIds::note_place(std::string_view id, std::uint64_t number) {
  if (groups_.empty()) first_group_ = number / kPerGroup;
  while (first_group_ + groups_.size() <= number / kPerGroup) groups_.emplace_back();
  Group& group = groups_.back();
  if ((group.used + 1) * 4 > group.slots.size() * 3) {
    std::vector<std::uint64_t> more(std::max<std::size_t>(16, group.slots.size() * 2));
    for (const std::uint64_t slot : group.slots) {
      if (slot != 0) insert(more, slot);
    }
    group.slots = std::move(more);
  }
  insert(group.slots, (tag_of(id) << kPlaceBits) | (number % kPerGroup));
  ++group.used;
}

bool EventIds::is_over(const Chunk& chunk, std::uint64_t now_ns) const noexcept {
  if (marked_ && chunk.newest_record > *marked_) return false;
  return now_ns > chunk.newest_ns && now_ns - chunk.newest_ns > limits_.window_ns;
}

std::optional<KnownEvent> EventIds::find(const Blobs& blobs, std::string_view id,
                                         std::uint64_t now_ns) {
  const std::uint64_t tag = tag_of(id);
  for (std::size_t i = groups_.size(); i-- != 0;) {
    const std::vector<std::uint64_t>& slots = groups_[i].slots;
    if (slots.empty()) continue;
    const std::size_t mask = slots.size() - 1;
    std::optional<KnownEvent> found;
    std::uint64_t newest = 0;
    for (std::size_t at = (tag >> 1) & mask; slots[at] != 0; at = (at + 1) & mask) {
      if (slots[at] >> kPlaceBits != tag) continue;
      const std::uint64_t place = slots[at] & ((std::uint64_t{1} << kPlaceBits) - 1);
      const std::uint64_t number = (first_group_ + i) * kPerGroup + place;
      if (number / kPerChunk < first_chunk_ || (found && number < newest)) continue;
      if (is_over(chunks_[number / kPerChunk - first_chunk_], now_ns)) continue;
      const Entry* entry = entry_at(blobs, number);
      if (entry == nullptr) return std::nullopt;
      if (entry->id != id) continue;
      found = entry->event;
      newest = number;
    }
    if (found) return found;
  }
  return std::nullopt;
}

// Null: it cannot be had.
const EventIds::Entry* EventIds::entry_at(const Blobs& blobs, std::uint64_t number) {
  const std::uint64_t at = number / kPerChunk;
  const std::size_t place = number % kPerChunk;
  const Chunk& chunk = chunks_[at - first_chunk_];
  if (!chunk.blob) return &chunk.entries[place];
  for (const Loaded& loaded : loaded_) {
    if (loaded.chunk == at) return &loaded.entries[place];
  }
  Loaded& loaded = loaded_[next_loaded_];
  next_loaded_ = (next_loaded_ + 1) % loaded_.size();
  loaded.chunk = UINT64_MAX;
  loaded.entries.clear();
  auto bytes = blobs.get(*chunk.blob);
  if (!bytes) {
    failure_ = std::move(bytes).error();
    return nullptr;
  }
  const auto read = visit_chunk(*bytes, [&](codec::View view) {
    Entry& entry = loaded.entries.emplace_back();
    return read_entry(view, entry.id, entry.event);
  });
  if (!read || loaded.entries.size() != kPerChunk) {
    failure_ = damaged();
    return nullptr;
  }
  loaded.chunk = at;
  return &loaded.entries[place];
}

void EventIds::append(std::string_view id, const KnownEvent& event, std::uint64_t now_ns) {
  if (next_ % kPerChunk == 0) chunks_.emplace_back();
  Chunk& chunk = chunks_.back();
  chunk.newest_ns = std::max(chunk.newest_ns, now_ns);
  chunk.newest_record = std::max(chunk.newest_record, event.record);
  chunk.entries.push_back({std::string(id), event});
  note_place(id, next_);
  ++next_;
}

void EventIds::add(std::string_view id, const KnownEvent& event, std::uint64_t now_ns) {
  append(id, event, now_ns);
  forget(now_ns);
}

// The newest chunk goes to a blob between ticks only.
void EventIds::set_unhandled(std::uint32_t unhandled) {
  CHECK(!chunks_.empty() && !chunks_.back().entries.empty());
  chunks_.back().entries.back().event.unhandled = unhandled;
}

void EventIds::mark(std::uint64_t record, std::uint64_t now_ns) {
  if (record <= marked()) return;
  for (std::size_t i = chunks_.size(); i-- != 0;) {
    Chunk& chunk = chunks_[i];
    if (chunk.newest_record <= marked()) break;  // so are those before it
    if (chunk.newest_record <= record) chunk.newest_ns = std::max(chunk.newest_ns, now_ns);
  }
  marked_ = record;
  forget(now_ns);
}

void EventIds::forget(std::uint64_t now_ns) {
  while (chunks_.size() > 1) {
    const bool is_young = !is_over(chunks_.front(), now_ns);
    if (is_young && size() - kPerChunk < limits_.most) return;
    if (is_young) forgotten_early_ += kPerChunk;
    forget_oldest();
  }
}

void EventIds::forget_oldest() {
  chunks_.pop_front();
  if (put_ != 0) --put_;
  ++first_chunk_;
  while (!groups_.empty() && (first_group_ + 1) * kPerGroup <= first_chunk_ * kPerChunk) {
    groups_.pop_front();
    ++first_group_;
  }
}

base::Result<std::size_t> EventIds::put_away(Blobs& blobs, std::size_t most_left) {
  const std::size_t full = chunks_.size() - (next_ % kPerChunk == 0 ? 0 : 1);
  std::size_t done = 0;
  for (; put_ + most_left < full && done < kPutsAtOnce; ++done) {
    Chunk& chunk = chunks_[put_];
    chunk.blob = TRY(put_entries(blobs, chunk.entries));
    chunk.entries = {};
    ++put_;
  }
  refused_at_ = 0;
  return done;
}

void EventIds::trim(Blobs& blobs) {
  // Where there was no room it is tried again when there is more to put, not with every tick.
  const std::size_t waiting = chunks_.size() - put_;
  if (waiting <= std::max(kChunksInMemory, refused_at_) + 1) return;
  const auto put = put_away(blobs, kChunksInMemory);
  if (put) return;
  if (put.error().code() == base::ErrorCode::kUnavailable) {
    refused_at_ = waiting + kPutsAtOnce;
  } else {
    failure_ = base::Error(put.error().code(), put.error().to_string());
  }
}

base::Result<void> EventIds::write_chunks(codec::Buffer& out, Blobs& blobs) {
  while (TRY(put_away(blobs, 0)) != 0) {
  }
  codec::write_list_head(out, chunks_.size());
  for (const Chunk& chunk : chunks_) {
    const base::Hash hash = chunk.blob ? *chunk.blob : TRY(put_entries(blobs, chunk.entries));
    codec::write_bytes(out, hash.bytes);
  }
  return {};
}

void EventIds::write_times(codec::Buffer& out) const {
  codec::write_list_head(out, 2 + chunks_.size());
  codec::write_nat(out, first_chunk_);
  codec::write_bool(out, is_complete_);
  for (const Chunk& chunk : chunks_) codec::write_nat(out, chunk.newest_ns);
}

base::Result<void> EventIds::restore(const Blobs& blobs, codec::View chunks,
                                     std::optional<codec::View> times, std::uint64_t latest_ns) {
  const std::vector<base::Hash> hashes = TRY(chunk_hashes(chunks));
  std::vector<std::uint64_t> newest;
  if (times) {
    ListReader list(*times);
    first_chunk_ = list.nat();
    is_complete_ = list.boolean();
    while (list.good() && !list.at_end()) newest.push_back(list.nat());
    if (!list.done() || newest.size() != hashes.size() || first_chunk_ > UINT64_MAX / kPerGroup / 2)
      return damaged();
  } else {
    is_complete_ = hashes.empty();
  }
  next_ = first_chunk_ * kPerChunk;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::size_t before = chunks_.size();
    TRY(visit_chunk(TRY(blobs.get(hashes[i])), [&](codec::View view) {
      std::string id;
      KnownEvent event;
      if (!read_entry(view, id, event)) return false;
      append(id, event, times ? newest[i] : latest_ns);
      return true;
    }));
    if (!times) continue;
    // All chunks are full but the last, and none is empty.
    if (chunks_.size() != before + 1 || (i + 1 < hashes.size() && next_ % kPerChunk != 0))
      return damaged();
    if (next_ % kPerChunk != 0) continue;
    chunks_.back().blob = hashes[i];
    chunks_.back().entries = {};
    ++put_;
  }
  return {};
}

}  // namespace holdfast::kernel
