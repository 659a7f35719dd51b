// SPDX-License-Identifier: Apache-2.0
#include "holdfast/value.h"

#include <cstring>
#include <limits>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/cbor_reader.h"
#include "codec/cbor_writer.h"
#include "codec/skip.h"
#include "native/uuid.h"

namespace holdfast {

using codec::Item;
using codec::ItemKind;

void Writer::null() { codec::write_null(*out_); }
void Writer::boolean(bool value) { codec::write_bool(*out_, value); }
void Writer::nat(std::uint64_t value) { codec::write_nat(*out_, value); }
void Writer::integer(std::int64_t value) { codec::write_int(*out_, value); }
void Writer::real(double value) { codec::write_float(*out_, value); }
void Writer::text(std::string_view value) { codec::write_text(*out_, value); }
void Writer::bytes(std::span<const std::uint8_t> value) { codec::write_bytes(*out_, value); }
void Writer::hash(const Hash& value) { codec::write_text(*out_, to_text(value)); }
void Writer::uuid(const Uuid& value) { codec::write_text(*out_, to_text(value)); }
void Writer::list(std::uint64_t count) { codec::write_list_head(*out_, count); }
void Writer::map(std::uint64_t count) { codec::write_map_head(*out_, count); }

namespace {

// The next item, if it is of that kind.
inline bool take(codec::CborReader& in, ItemKind kind, Item& item) {
  codec::Cursor cursor;
  return in.value(item, cursor) && item.kind == kind;
}

}  // namespace

bool Reader::null() {
  const auto mark = in_->mark();
  Item item;
  if (take(*in_, ItemKind::kNull, item)) return true;
  in_->rewind(mark);
  return false;
}

bool Reader::boolean(bool& value) {
  Item item;
  if (!take(*in_, ItemKind::kBool, item)) return false;
  value = item.number != 0;
  return true;
}

bool Reader::nat(std::uint64_t& value) {
  Item item;
  if (!take(*in_, ItemKind::kNat, item)) return false;
  value = item.number;
  return true;
}

bool Reader::integer(std::int64_t& value) {
  Item item;
  codec::Cursor cursor;
  if (!in_->value(item, cursor)) return false;
  if (item.number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return false;
  const auto magnitude = static_cast<std::int64_t>(item.number);
  value = item.kind == ItemKind::kNat ? magnitude : -1 - magnitude;
  return item.kind == ItemKind::kNat || item.kind == ItemKind::kNegative;
}

bool Reader::real(double& value) {
  Item item;
  if (!take(*in_, ItemKind::kFloat, item)) return false;
  value = item.real;
  return true;
}

bool Reader::text(std::string_view& value) {
  Item item;
  if (!take(*in_, ItemKind::kText, item)) return false;
  value = item.text;
  return true;
}

bool Reader::bytes(std::span<const std::uint8_t>& value) {
  Item item;
  if (!take(*in_, ItemKind::kBytes, item)) return false;
  value = base::as_bytes(item.text);
  return true;
}

bool Reader::hash(Hash& value) {
  std::string_view written;
  if (!text(written)) return false;
  const auto parsed = base::Hash::parse(written);
  if (!parsed) return false;
  value.bytes = parsed->bytes;
  return true;
}

bool Reader::uuid(Uuid& value) {
  std::string_view written;
  return text(written) && native::parse_uuid(written, value);
}

bool Reader::list(std::uint64_t& count) {
  Item item;
  if (!take(*in_, ItemKind::kList, item)) return false;
  count = item.number;
  return true;
}

bool Reader::map(std::uint64_t& count) {
  Item item;
  if (!take(*in_, ItemKind::kMap, item)) return false;
  count = item.number;
  return true;
}

// Half of all items are keys that are known beforehand, so their bytes are compared, not read.
bool Reader::key(std::string_view expected) {
  std::uint8_t head[codec::kMaxHeadBytes];
  const std::size_t size = codec::put_head(head, codec::Major::kText, expected.size());
  const std::uint8_t* at = in_->mark().at;
  if (static_cast<std::size_t>(end_ - at) < size + expected.size()) return false;
  if (std::memcmp(at, head, size) != 0) return false;
  if (std::memcmp(at + size, expected.data(), expected.size()) != 0) return false;
  in_->rewind({at + size + expected.size()});
  return true;
}

bool Reader::skip() { return codec::skip_value(*in_); }

}  // namespace holdfast
