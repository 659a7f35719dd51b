// SPDX-License-Identifier: Apache-2.0
#include "codec/canonical_order.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "codec/cbor_writer.h"

namespace holdfast::codec {
namespace {

// A head of one byte was left room for; most containers are that small.
void put_count(Buffer& out, std::uint32_t head, Major major, std::uint64_t count) {
  const std::size_t size = head_size(count);
  if (size > 1) out.make_gap(head + 1, size - 1);
  put_head(out.data() + head, major, count);
}

std::span<Entry> entries_of(Workspace& work, const Frame& frame) {
  return std::span(work.entries).subspan(frame.first, frame.count);
}

// Writes the entries over what stands there now, in their present order.
void rewrite(Workspace& work, const Frame& frame, std::span<const Entry> entries) {
  work.scratch.clear();
  for (const Entry& entry : entries) work.scratch.append(work.out.view(entry.begin, entry.end));
  work.out.truncate(frame.head + 1);
  work.out.append(work.scratch.view());
}

void sort_by_key(Workspace& work, std::span<Entry> entries) {
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    const int order = compare_keys(work.out, a, b);
    return order != 0 ? order < 0 : a.begin < b.begin;
  });
}

bool same_key(const Workspace& work, const Entry& a, const Entry& b) {
  return compare_keys(work.out, a, b) == 0;
}

}  // namespace

void close_list(Workspace& work, const Frame& frame) {
  if (!frame.counted) put_count(work.out, frame.head, Major::kList, frame.count);
}

void close_set(Workspace& work, const Frame& frame) {
  const std::span<Entry> all = entries_of(work, frame);
  std::size_t count = all.size();
  if (!frame.in_order) {
    sort_by_key(work, all);
    const auto last = std::unique(all.begin(), all.end(), [&](const Entry& a, const Entry& b) {
      return same_key(work, a, b);
    });
    count = static_cast<std::size_t>(last - all.begin());
    rewrite(work, frame, all.first(count));
  }
  work.entries.resize(frame.first);
  put_count(work.out, frame.head, Major::kList, count);
}

std::optional<std::uint32_t> close_map(Workspace& work, const Frame& frame) {
  const std::span<Entry> all = entries_of(work, frame);
  if (!frame.in_order) {
    sort_by_key(work, all);
    const auto twice =
        std::adjacent_find(all.begin(), all.end(),
                           [&](const Entry& a, const Entry& b) { return same_key(work, a, b); });
    if (twice != all.end()) return static_cast<std::uint32_t>(twice - all.begin());
    rewrite(work, frame, all);
  }
  work.entries.resize(frame.first);
  put_count(work.out, frame.head, Major::kMap, frame.count);
  return std::nullopt;
}

std::optional<std::uint32_t> close_record(Workspace& work, const Schema& schema,
                                          const Frame& frame) {
  const std::uint32_t fields = frame.node->member_count;
  if (!frame.in_order || frame.count != fields) {
    const std::uint32_t body = frame.head + static_cast<std::uint32_t>(head_size(fields));
    work.scratch.clear();
    for (std::uint32_t i = 0; i < fields; ++i) {
      const Slot& slot = work.slots[frame.first + i];
      if (slot.begin != slot.end) {
        work.scratch.append(work.out.view(slot.begin, slot.end));
        continue;
      }
      const Schema::Member& field = schema.member(*frame.node, i);
      if (!field.optional) return i;
      work.scratch.append(field.prefix);
      work.scratch.push(kNullByte);
    }
    work.out.truncate(body);
    work.out.append(work.scratch.view());
  }
  work.slots.resize(frame.first);
  return std::nullopt;
}

}  // namespace holdfast::codec
