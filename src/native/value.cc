// SPDX-License-Identifier: Apache-2.0
#include "holdfast/value.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "base/copy.h"
#include "base/hash.h"
#include "codec/buffer.h"
#include "codec/cbor_head.h"
#include "codec/cbor_reader.h"
#include "codec/cbor_writer.h"
#include "codec/skip.h"
#include "native/uuid.h"

namespace holdfast {

using codec::Major;

namespace {

// Room for a small state or a few params, taken at once.
constexpr std::size_t kPiece = 128;

}  // namespace

void Writer::take_room(std::size_t count) {
  give_back();
  const std::size_t size = std::max(count, kPiece);
  begin_ = at_ = out_.room(size);
  end_ = begin_ + size;
}

void Writer::give_back() {
  out_.advance(static_cast<std::size_t>(at_ - begin_));
  begin_ = at_ = end_ = nullptr;
}

void Writer::null() {
  *room(1) = codec::kNullByte;
  ++at_;
}
void Writer::boolean(bool value) {
  *room(1) = value ? codec::kTrueByte : codec::kFalseByte;
  ++at_;
}
void Writer::nat(std::uint64_t value) {
  at_ += codec::put_head(room(codec::kMaxHeadBytes), Major::kNat, value);
}
void Writer::integer(std::int64_t value) {
  if (value >= 0) return nat(static_cast<std::uint64_t>(value));
  at_ += codec::put_head(room(codec::kMaxHeadBytes), Major::kNegative,
                         ~static_cast<std::uint64_t>(value));
}
void Writer::real(double value) {
  give_back();
  codec::write_float(out_, value);
}
void Writer::text(std::string_view value) {
  std::uint8_t* at = room(codec::kMaxHeadBytes + value.size());
  at += codec::put_head(at, Major::kText, value.size());
  base::copy_bytes(at, value.data(), value.size());
  at_ = at + value.size();
}
void Writer::bytes(std::span<const std::uint8_t> value) {
  give_back();
  codec::write_bytes(out_, value);
}
void Writer::hash(const Hash& value) { text(to_text(value)); }
void Writer::uuid(const Uuid& value) { text(to_text(value)); }
void Writer::list(std::uint64_t count) {
  at_ += codec::put_head(room(codec::kMaxHeadBytes), Major::kList, count);
}
void Writer::map(std::uint64_t count) {
  at_ += codec::put_head(room(codec::kMaxHeadBytes), Major::kMap, count);
}

namespace {

// The number in the head of the next item, if the item is of that kind; the place is then behind
// it.
inline bool take_head(const std::uint8_t*& at, const std::uint8_t* end, Major major,
                      std::uint64_t& number) {
  if (at == end || static_cast<Major>(*at >> 5) != major) return false;
  const auto info = static_cast<std::uint8_t>(*at++ & 0x1f);
  number = info;
  if (info < codec::kOneByte) return true;
  if (info > codec::kEightBytes) return false;
  const std::size_t size = std::size_t{1} << (info - codec::kOneByte);
  if (static_cast<std::size_t>(end - at) < size) return false;
  number = codec::load_big_endian(at, size);
  at += size;
  return true;
}

inline bool take_string(const std::uint8_t*& at, const std::uint8_t* end, Major major,
                        std::span<const std::uint8_t>& value) {
  std::uint64_t size = 0;
  if (!take_head(at, end, major, size)) return false;
  if (size > static_cast<std::uint64_t>(end - at)) return false;
  value = {at, static_cast<std::size_t>(size)};
  at += size;
  return true;
}

}  // namespace

bool Reader::null() {
  if (at_ == end_ || *at_ != codec::kNullByte) return false;
  ++at_;
  return true;
}

bool Reader::boolean(bool& value) {
  if (at_ == end_ || (*at_ != codec::kTrueByte && *at_ != codec::kFalseByte)) return false;
  value = *at_++ == codec::kTrueByte;
  return true;
}

bool Reader::nat(std::uint64_t& value) { return take_head(at_, end_, Major::kNat, value); }

bool Reader::integer(std::int64_t& value) {
  const bool negative = at_ != end_ && static_cast<Major>(*at_ >> 5) == Major::kNegative;
  std::uint64_t number = 0;
  if (!take_head(at_, end_, negative ? Major::kNegative : Major::kNat, number)) return false;
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return false;
  value = static_cast<std::int64_t>(negative ? ~number : number);
  return true;
}

bool Reader::real(double& value) {
  codec::CborReader reader({at_, end_}, codec::Strictness::kStrict);
  codec::Item item;
  codec::Cursor cursor;
  if (!reader.value(item, cursor) || item.kind != codec::ItemKind::kFloat) return false;
  value = item.real;
  at_ = reader.mark().at;
  return true;
}

bool Reader::text(std::string_view& value) {
  std::span<const std::uint8_t> found;
  if (!take_string(at_, end_, Major::kText, found)) return false;
  value = base::as_text(found);
  return true;
}

bool Reader::bytes(std::span<const std::uint8_t>& value) {
  return take_string(at_, end_, Major::kBytes, value);
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

// Every item is a byte at least, so a count that passes the end is no count.
bool Reader::list(std::uint64_t& count) {
  return take_head(at_, end_, Major::kList, count) &&
         count <= static_cast<std::uint64_t>(end_ - at_);
}

bool Reader::map(std::uint64_t& count) {
  return take_head(at_, end_, Major::kMap, count) &&
         count <= static_cast<std::uint64_t>(end_ - at_) / 2;
}

bool Reader::skip() {
  codec::CborReader reader({at_, end_}, codec::Strictness::kStrict);
  if (!codec::skip_value(reader)) return false;
  at_ = reader.mark().at;
  return true;
}

}  // namespace holdfast
