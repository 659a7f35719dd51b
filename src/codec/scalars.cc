// SPDX-License-Identifier: Apache-2.0
#include "codec/scalars.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/base64.h"
#include "codec/cbor_writer.h"
#include "codec/float_bits.h"
#include "codec/json_writer.h"
#include "codec/scalar_text.h"

namespace holdfast::codec {
namespace {

constexpr std::uint64_t kIntMax =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

bool is_whole(std::string_view number) noexcept {
  return number.find_first_of(".eE") == std::string_view::npos;
}

constexpr const char* kNotInt =
    "out of range, which is -9223372036854775808 to 9223372036854775807";
constexpr const char* kNotNat = "out of range, which is 0 to 18446744073709551615";
constexpr const char* kNot64Bits = "the integer does not fit 64 bits; write it as text";

bool write_integer(Buffer& out, const Item& item, const char*& refusal) {
  if (item.kind == ItemKind::kNat || item.kind == ItemKind::kNegative) {
    if (item.number > kIntMax) return refusal = kNotInt, false;
    write_head(out, item.kind == ItemKind::kNat ? Major::kNat : Major::kNegative, item.number);
    return true;
  }
  if (item.kind == ItemKind::kNumber && is_whole(item.text)) refusal = kNotInt;
  return false;
}

bool write_natural(Buffer& out, const Item& item, const char*& refusal) {
  if (item.kind == ItemKind::kNat) return write_nat(out, item.number), true;
  if (item.kind == ItemKind::kNumber && is_whole(item.text)) refusal = kNotNat;
  return false;
}

bool to_double(std::string_view number, double& value) noexcept {
  const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
  return problem == std::errc() && end == number.data() + number.size();
}

bool write_number_as_float(Buffer& out, std::string_view number, const char*& refusal) {
  double value = 0;
  if (!to_double(number, value)) {
    refusal = "the number does not fit a float";
    return false;
  }
  write_float(out, value);
  return true;
}

bool write_real(Buffer& out, const Item& item, const char*& refusal) {
  switch (item.kind) {
    case ItemKind::kFloat: write_float(out, item.real); return true;
    case ItemKind::kNat: write_float(out, static_cast<double>(item.number)); return true;
    case ItemKind::kNegative: write_float(out, negative_to_double(item.number)); return true;
    case ItemKind::kNumber: return write_number_as_float(out, item.text, refusal);
    case ItemKind::kText:  // JSON has no other way to write these
      if (item.text == "NaN")
        return write_float(out, std::numeric_limits<double>::quiet_NaN()), true;
      if (item.text == "Infinity")
        return write_float(out, std::numeric_limits<double>::infinity()), true;
      if (item.text == "-Infinity")
        return write_float(out, -std::numeric_limits<double>::infinity()), true;
      return false;
    default: return false;
  }
}

bool write_decimal(Buffer& out, const Item& item, const char*& refusal) {
  ShortText canonical;
  if (item.kind == ItemKind::kNat || item.kind == ItemKind::kNegative) {
    Buffer digits;
    write_integer_json(digits, item.kind == ItemKind::kNegative, item.number);
    canonical_dec128(base::as_text(digits.view()), canonical);
  } else if (item.kind != ItemKind::kText && item.kind != ItemKind::kNumber) {
    return false;
  } else if (!canonical_dec128(item.text, canonical)) {
    refusal = "not a decimal number of at most 34 digits";
    return false;
  }
  write_text(out, canonical.view());
  return true;
}

bool write_base64(Buffer& out, const Item& item, const char*& refusal) {
  if (item.kind == ItemKind::kBytes) return write_bytes(out, base::as_bytes(item.text)), true;
  if (item.kind != ItemKind::kText) return false;
  base::Bytes decoded;
  if (!base::base64_decode_append(item.text, decoded)) {
    refusal = "not base64 (RFC 4648 alphabet, padded)";
    return false;
  }
  write_bytes(out, decoded);
  return true;
}

bool write_time(Buffer& out, const Item& item, const char*& refusal) {
  if (item.kind != ItemKind::kText) return write_natural(out, item, refusal);
  std::uint64_t nanoseconds = 0;
  if (!parse_time(item.text, nanoseconds)) {
    refusal = "not a time (nanoseconds, or a text such as 2026-01-31T12:00:00Z)";
    return false;
  }
  write_nat(out, nanoseconds);
  return true;
}

bool write_duration(Buffer& out, const Item& item, const char*& refusal) {
  if (item.kind != ItemKind::kText) return write_integer(out, item, refusal);
  std::int64_t nanoseconds = 0;
  if (!parse_duration(item.text, nanoseconds)) {
    refusal = "not a duration (nanoseconds, or a text such as 1h30m or 250ms)";
    return false;
  }
  write_int(out, nanoseconds);
  return true;
}

bool write_hash(Buffer& out, const Item& item, const char*& refusal) {
  if (item.kind != ItemKind::kText) return false;
  if (!is_hash_text(item.text)) {
    refusal = "not a hash (sha256: and 64 lower-case hexadecimal digits)";
    return false;
  }
  write_text(out, item.text);
  return true;
}

bool write_uuid(Buffer& out, const Item& item, const char*& refusal) {
  if (item.kind != ItemKind::kText) return false;
  ShortText canonical;
  if (!canonical_uuid(item.text, canonical)) {
    refusal = "not a uuid (8-4-4-4-12 hexadecimal digits)";
    return false;
  }
  write_text(out, canonical.view());
  return true;
}

// What JSON can say: null, true, false, numbers, texts.
bool write_any(Buffer& out, const Item& item, const char*& refusal) {
  switch (item.kind) {
    case ItemKind::kNull: write_null(out); return true;
    case ItemKind::kBool: write_bool(out, item.number != 0); return true;
    case ItemKind::kText: write_text(out, item.text); return true;
    case ItemKind::kNat: write_nat(out, item.number); return true;
    case ItemKind::kNegative:
      if (write_integer(out, item, refusal)) return true;
      refusal = kNot64Bits;
      return false;
    case ItemKind::kNumber:
      if (!is_whole(item.text)) return write_number_as_float(out, item.text, refusal);
      refusal = kNot64Bits;
      return false;
    case ItemKind::kFloat:
      if (std::isfinite(item.real)) return write_float(out, item.real), true;
      refusal = "NaN and infinity are not JSON values";
      return false;
    default: return false;
  }
}

bool write_item(Buffer& out, const Item& item, const char*& refusal) {
  switch (item.kind) {
    case ItemKind::kNull: write_null(out); return true;
    case ItemKind::kBool: write_bool(out, item.number != 0); return true;
    case ItemKind::kNat: write_nat(out, item.number); return true;
    case ItemKind::kNegative: write_head(out, Major::kNegative, item.number); return true;
    case ItemKind::kFloat: write_float(out, item.real); return true;
    case ItemKind::kText: write_text(out, item.text); return true;
    case ItemKind::kBytes: write_bytes(out, base::as_bytes(item.text)); return true;
    case ItemKind::kSimple: write_head(out, Major::kSimple, item.number); return true;
    default: return write_any(out, item, refusal);
  }
}

}  // namespace

bool write_scalar(Buffer& out, TypeKind type, const Item& item, const char*& refusal) {
  switch (type) {
    case TypeKind::kBool:
      if (item.kind != ItemKind::kBool) return false;
      write_bool(out, item.number != 0);
      return true;
    case TypeKind::kInt: return write_integer(out, item, refusal);
    case TypeKind::kNat: return write_natural(out, item, refusal);
    case TypeKind::kFloat: return write_real(out, item, refusal);
    case TypeKind::kDec128: return write_decimal(out, item, refusal);
    case TypeKind::kBytes: return write_base64(out, item, refusal);
    case TypeKind::kText:
      if (item.kind != ItemKind::kText) return false;
      write_text(out, item.text);
      return true;
    case TypeKind::kTime: return write_time(out, item, refusal);
    case TypeKind::kDuration: return write_duration(out, item, refusal);
    case TypeKind::kHash: return write_hash(out, item, refusal);
    case TypeKind::kUuid: return write_uuid(out, item, refusal);
    case TypeKind::kUnit:
      if (item.kind != ItemKind::kNull) return false;
      write_null(out);
      return true;
    case TypeKind::kAny: return write_any(out, item, refusal);
    case TypeKind::kItem: return write_item(out, item, refusal);
    default: return false;
  }
}

bool write_key(Buffer& out, TypeKind type, const Item& key, const char*& refusal) {
  if (key.kind != ItemKind::kText || (type != TypeKind::kInt && type != TypeKind::kNat)) {
    return write_scalar(out, type, key, refusal);
  }
  const bool negative = !key.text.empty() && key.text.front() == '-';
  const std::string_view digits = key.text.substr(negative ? 1 : 0);
  std::uint64_t magnitude = 0;
  const auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  const bool plain = problem == std::errc() && end == digits.data() + digits.size() &&
                     (digits.front() != '0' || digits.size() == 1);
  if (!plain || (negative && magnitude == 0)) {
    refusal = problem == std::errc::result_out_of_range
                  ? (type == TypeKind::kInt ? kNotInt : kNotNat)
                  : "expected a whole number";
    return false;
  }
  if (negative && type == TypeKind::kNat) return refusal = kNotNat, false;
  Item number{
      negative ? ItemKind::kNegative : ItemKind::kNat, negative ? magnitude - 1 : magnitude, 0, {}};
  return write_scalar(out, type, number, refusal);
}

}  // namespace holdfast::codec
