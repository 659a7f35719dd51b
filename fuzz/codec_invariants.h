// SPDX-License-Identifier: Apache-2.0
// What must hold for every value that a normaliser accepts, whatever it was read from.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "codec/json_reader.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"

namespace holdfast::fuzz {

// Whether JSON can hold the values of a schema so that they can be read back.
enum class Json : std::uint8_t { kReadsBack, kForPeople };

// JSON for people may nest deeper than a value does, so its syntax is checked without a limit.
inline bool is_json(std::string_view text) {
  codec::JsonReader reader(text);
  std::vector<codec::Cursor> open;
  for (;;) {
    codec::Item item;
    codec::Cursor cursor;
    if (!reader.value(item, cursor)) return false;
    if (item.kind == codec::ItemKind::kList || item.kind == codec::ItemKind::kMap)
      open.push_back(cursor);
    for (;;) {
      if (open.empty()) return reader.finish();
      const codec::More more = reader.more(open.back());
      if (more == codec::More::kError) return false;
      if (more == codec::More::kYes) break;
      open.pop_back();
    }
    if (open.back().map && !reader.key(item)) return false;
  }
}

inline void check_canonical(codec::Normaliser& normaliser, const codec::Schema& schema, Json json,
                            base::ByteView accepted) {
  const base::Bytes canonical(accepted.begin(), accepted.end());
  for (const auto strictness : {codec::Strictness::kStrict, codec::Strictness::kLenient}) {
    const auto again = normaliser.from_cbor(schema, canonical, strictness);
    CHECK(again && base::equal(*again, canonical));
  }
  for (const auto style : {codec::JsonStyle::kCompact, codec::JsonStyle::kIndented}) {
    const std::string text = codec::to_json(codec::View::of(canonical), style);
    CHECK(is_json(text));
    if (json == Json::kForPeople) continue;
    const auto back = normaliser.from_json(schema, text);
    CHECK(back && base::equal(*back, canonical));
  }
}

inline void check_cbor(codec::Normaliser& normaliser, const codec::Schema& schema, Json json,
                       base::ByteView bytes) {
  const auto strict = normaliser.from_cbor(schema, bytes, codec::Strictness::kStrict);
  const bool is_canonical = strict.has_value();
  if (strict) CHECK(base::equal(*strict, bytes));
  const auto lenient = normaliser.from_cbor(schema, bytes, codec::Strictness::kLenient);
  if (!lenient) {
    CHECK(!is_canonical);
    CHECK(lenient.error().where().starts_with("$") && !lenient.error().message().empty());
    return;
  }
  CHECK(is_canonical == base::equal(*lenient, bytes));
  check_canonical(normaliser, schema, json, *lenient);
}

inline void check_json(codec::Normaliser& normaliser, const codec::Schema& schema, Json json,
                       std::string_view text) {
  const auto canonical = normaliser.from_json(schema, text);
  if (canonical) return check_canonical(normaliser, schema, json, *canonical);
  CHECK(canonical.error().where().starts_with("$") && !canonical.error().message().empty());
}

}  // namespace holdfast::fuzz
