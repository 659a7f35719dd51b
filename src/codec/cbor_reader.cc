// SPDX-License-Identifier: Apache-2.0
#include "codec/cbor_reader.h"

#include <bit>
#include <cstring>

#include "codec/float_bits.h"
#include "codec/utf8.h"

namespace holdfast::codec {

bool CborReader::self_describe() noexcept {
  if (bytes_left() < sizeof kSelfDescribe ||
      std::memcmp(at_, kSelfDescribe, sizeof kSelfDescribe) != 0) {
    return false;
  }
  at_ += sizeof kSelfDescribe;
  return true;
}

bool CborReader::long_number(std::uint8_t info, std::uint64_t& n) {
  if (info > kEightBytes) return fail("reserved or misplaced length");
  const std::size_t size = std::size_t{1} << (info - kOneByte);
  if (bytes_left() < size) return fail("the bytes end inside an item");
  n = load_big_endian(at_, size);
  if (strict_ && head_size(n) != size + 1)
    return fail("not canonical: a number is not in its shortest form");
  at_ += size;
  return true;
}

bool CborReader::indefinite(Major major, Item& item, Cursor& cursor) {
  if (strict_) return fail("not canonical: an indefinite length");
  if (major == Major::kBytes || major == Major::kText) return chunks(major, item);
  if (major != Major::kList && major != Major::kMap) return fail("reserved or misplaced length");
  item.kind = major == Major::kList ? ItemKind::kList : ItemKind::kMap;
  cursor = {Cursor::kOpenEnd, true, major == Major::kMap};
  return true;
}

bool CborReader::simple(std::uint8_t info, Item& item) {
  switch (info) {
    case kFalseByte & 0x1f:
    case kTrueByte & 0x1f:
      item.kind = ItemKind::kBool;
      item.number = info & 1;
      return true;
    case kNullByte & 0x1f: item.kind = ItemKind::kNull; return true;
    case kHalfByte & 0x1f:
    case kSingleByte & 0x1f:
    case kDoubleByte & 0x1f: {
      const std::size_t size = std::size_t{1} << (info - kOneByte);
      if (bytes_left() < size) return fail("the bytes end inside an item");
      const std::uint64_t bits = load_big_endian(at_, size);
      at_ += size;
      item.kind = ItemKind::kFloat;
      item.real = size == 2 ? half_to_double(static_cast<std::uint16_t>(bits))
                  : size == 4
                      ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                      : std::bit_cast<double>(bits);
      return true;
    }
    case kOneByte:
      if (at_ == end_) return fail("the bytes end inside an item");
      if (*at_ < 32) return fail("a simple value in a reserved form");
      item.kind = ItemKind::kSimple;
      item.number = *at_++;
      return true;
    default:
      if (info > kOneByte)
        return fail(info == kIndefinite ? "a break where an item should be"
                                        : "reserved or misplaced length");
      item.kind = ItemKind::kSimple;
      item.number = info;
      return true;
  }
}

// A string in pieces; joined, because it is one value however it was cut.
bool CborReader::chunks(Major major, Item& item) {
  joined_.clear();
  for (;;) {
    if (at_ == end_) return fail("the bytes end inside an item");
    if (*at_ == kBreakByte) break;
    const auto info = static_cast<std::uint8_t>(*at_ & 0x1f);
    if (static_cast<Major>(*at_ >> 5) != major || info == kIndefinite)
      return fail("a piece of another kind in a string");
    ++at_;
    std::uint64_t size = 0;
    if (!number(info, size)) return false;
    if (size > bytes_left()) return fail("a length passes the end of the bytes");
    const std::string_view piece = base::as_text({at_, static_cast<std::size_t>(size)});
    if (major == Major::kText && !is_utf8(piece)) return fail("a text is not valid UTF-8");
    joined_ += piece;
    at_ += size;
  }
  ++at_;
  item.kind = major == Major::kText ? ItemKind::kText : ItemKind::kBytes;
  item.text = joined_;
  return true;
}

bool CborReader::finish() { return at_ == end_ || fail("unexpected bytes after the value"); }

std::string CborReader::problem() const {
  return std::string(problem_) + " (byte " + std::to_string(at_ - begin_) + ")";
}

}  // namespace holdfast::codec
