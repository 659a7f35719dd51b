// SPDX-License-Identifier: Apache-2.0
#include "tasks/template_merge.h"

#include <algorithm>

#include "base/check.h"
#include "codec/cbor_reader.h"
#include "codec/cbor_writer.h"
#include "codec/skip.h"

namespace holdfast::tasks {
namespace {

using codec::CborReader;
using codec::View;

bool is_map_at(CborReader::Mark place) noexcept {
  return static_cast<codec::Major>(*place.at >> 5) == codec::Major::kMap;
}

void copy(codec::Buffer& out, CborReader::Mark begin, CborReader::Mark end) {
  out.append(begin.at, static_cast<std::size_t>(end.at - begin.at));
}

// One side of a merge: a mapping whose entries are taken one by one. Every byte is read once,
// however deep mappings nest: a short document must not cost more than it weighs.
class Side {
 public:
  explicit Side(CborReader& reader) : reader_(reader) {
    codec::Item item;
    CHECK(reader_.value(item, cursor_));
    count_ = cursor_.left;
    next();
  }

  std::uint64_t count() const noexcept { return count_; }
  bool has_entry() const noexcept { return has_entry_; }
  base::ByteView key() const noexcept {
    return {key_begin_.at, static_cast<std::size_t>(value_begin_.at - key_begin_.at)};
  }
  bool holds_map() const noexcept { return is_map_at(value_begin_); }
  CborReader& reader() noexcept { return reader_; }

  // Passes over the value of the entry, or copies it.
  void skip_value() { CHECK(codec::skip_value(reader_)); }
  void copy_value(codec::Buffer& out) {
    skip_value();
    copy(out, value_begin_, reader_.mark());
  }

  // The value of the entry has been read; goes on to the next entry.
  void next() {
    has_entry_ = reader_.more(cursor_) == codec::More::kYes;
    if (!has_entry_) return;
    codec::Item ignored;
    key_begin_ = reader_.mark();
    CHECK(reader_.key(ignored));
    value_begin_ = reader_.mark();
  }

 private:
  CborReader& reader_;
  codec::Cursor cursor_;
  std::uint64_t count_ = 0;
  bool has_entry_ = false;
  CborReader::Mark key_begin_{nullptr};
  CborReader::Mark value_begin_{nullptr};
};

void merge_maps(codec::Buffer& out, CborReader& under, CborReader& over) {
  Side low(under);
  Side high(over);
  const std::size_t begin = out.size();
  const std::size_t guess = codec::head_size(std::max(low.count(), high.count()));
  out.room(guess);
  out.advance(guess);
  std::uint64_t count = 0;
  for (; low.has_entry() || high.has_entry(); ++count) {
    int order = 0;
    if (!low.has_entry()) {
      order = 1;
    } else if (!high.has_entry()) {
      order = -1;
    } else {
      order = base::compare(low.key(), high.key());
    }
    out.append(order <= 0 ? low.key() : high.key());
    if (order < 0) {
      low.copy_value(out);
    } else if (order > 0) {
      high.copy_value(out);
    } else if (low.holds_map() && high.holds_map()) {
      merge_maps(out, low.reader(), high.reader());
    } else {
      low.skip_value();
      high.copy_value(out);
    }
    if (order <= 0) low.next();
    if (order >= 0) high.next();
  }
  const std::size_t size = codec::head_size(count);
  if (size > guess) out.make_gap(begin, size - guess);
  codec::put_head(out.data() + begin, codec::Major::kMap, count);
}

}  // namespace

void write_merged(codec::Buffer& out, View under, View over) {
  const base::ByteView below = under.encoded();
  const base::ByteView above = over.encoded();
  if (!is_map_at({below.data()}) || !is_map_at({above.data()})) return out.append(above);
  CborReader low(below, codec::Strictness::kLenient);
  CborReader high(above, codec::Strictness::kLenient);
  merge_maps(out, low, high);
}

void write_without(codec::Buffer& out, View map, std::span<const std::string_view> keys) {
  const auto is_left_out = [&](View key) {
    const auto text = key.text();
    return text && std::find(keys.begin(), keys.end(), *text) != keys.end();
  };
  std::uint64_t count = 0;
  for (const auto& [key, value] : map.entries()) count += is_left_out(key) ? 0U : 1U;
  codec::write_map_head(out, count);
  for (const auto& [key, value] : map.entries()) {
    if (is_left_out(key)) continue;
    out.append(key.encoded());
    out.append(value.encoded());
  }
}

std::size_t depth_of(View value) {
  codec::Cursor open[codec::kMaxDepth];
  std::size_t depth = 0;
  std::size_t deepest = 0;
  CborReader reader(value.encoded(), codec::Strictness::kLenient);
  codec::Item item;
  for (;;) {
    codec::Cursor cursor;
    CHECK(reader.value(item, cursor));
    if (item.kind == codec::ItemKind::kList || item.kind == codec::ItemKind::kMap) {
      CHECK(depth < codec::kMaxDepth);
      open[depth++] = cursor;
      deepest = std::max(deepest, depth);
    }
    while (depth > 0 && reader.more(open[depth - 1]) == codec::More::kNo) --depth;
    if (depth == 0) return deepest;
    if (open[depth - 1].map) CHECK(reader.key(item));
  }
}

}  // namespace holdfast::tasks
