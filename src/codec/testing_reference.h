// SPDX-License-Identifier: Apache-2.0
// The canonical encoding of a value, worked out in the simplest way: recursion and sorted copies.
// It shares no code with the codec, so that the two can be compared. For tests only.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codec/testing_values.h"

namespace holdfast::codec::testing {

// Bytes are strings here, so that they join and compare simply.
inline std::string big_endian(std::uint64_t n, unsigned width) {
  std::string bytes;
  for (unsigned i = width; i > 0; --i) bytes += static_cast<char>(n >> (8 * (i - 1)) & 0xff);
  return bytes;
}

// The head of an item with at least `width` bytes of number; 0 asks for the shortest.
inline std::string head(unsigned major, std::uint64_t n, unsigned width = 0) {
  const unsigned least = n < 24 ? 0 : n < 0x100 ? 1 : n < 0x10000 ? 2 : n < 0x100000000 ? 4 : 8;
  width = std::max(width, least);
  const unsigned info = width == 0   ? static_cast<unsigned>(n)
                        : width == 1 ? 24
                        : width == 2 ? 25
                        : width == 4 ? 26
                                     : 27;
  return std::string(1, static_cast<char>(major << 5 | info)) + big_endian(n, width);
}

// The half of each double that has one.
inline const std::unordered_map<std::uint64_t, std::uint16_t>& halves() {
  static const auto table = [] {
    std::unordered_map<std::uint64_t, std::uint16_t> made;
    for (unsigned half = 0; half < 0x10000; ++half) {
      const unsigned exponent = half >> 10 & 31;
      const double fraction = half & 1023;
      double value = exponent == 31  ? INFINITY
                     : exponent == 0 ? std::ldexp(fraction, -24)
                                     : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
      if (exponent == 31 && fraction != 0) continue;
      value = std::copysign(value, half >= 0x8000 ? -1.0 : 1.0);
      made[std::bit_cast<std::uint64_t>(value)] = static_cast<std::uint16_t>(half);
    }
    return made;
  }();
  return table;
}

inline bool fits_single(double value) {
  return std::isinf(value) || (std::fabs(value) <= 0x1.fffffep127 &&
                               static_cast<double>(static_cast<float>(value)) == value);
}

// The float in half (2), single (4) or double (8); the caller knows that it fits.
inline std::string float_bytes(double value, unsigned width) {
  if (width == 2) return "\xf9" + big_endian(halves().at(std::bit_cast<std::uint64_t>(value)), 2);
  if (width == 4)
    return "\xfa" + big_endian(std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4);
  return "\xfb" + big_endian(std::bit_cast<std::uint64_t>(value), 8);
}

inline unsigned float_width(double value) {
  if (halves().contains(std::bit_cast<std::uint64_t>(value))) return 2;
  return fits_single(value) ? 4 : 8;
}

inline std::string canonical_float(double value) {
  return std::isnan(value) ? std::string("\xf9\x7e\0", 3) : float_bytes(value, float_width(value));
}

inline std::string text_item(const std::string& text) { return head(3, text.size()) + text; }

inline std::string decimal_text(const Value& value) {
  const std::string& digits = value.text;
  if (digits.empty()) return "0";
  const auto count = static_cast<std::int64_t>(digits.size());
  const std::int64_t power = value.exponent + count - 1;
  std::string text;
  if (power < -7 || power > 33) {
    text = digits.substr(0, 1) + (count > 1 ? "." + digits.substr(1) : "") + "e" +
           std::to_string(power);
  } else if (power < 0) {
    text = "0." + std::string(static_cast<std::size_t>(-power - 1), '0') + digits;
  } else if (value.exponent >= 0) {
    text = digits + std::string(static_cast<std::size_t>(value.exponent), '0');
  } else {
    text = digits;
    text.insert(static_cast<std::size_t>(power + 1), ".");
  }
  return (value.negative ? "-" : "") + text;
}

inline std::string canonical_map(std::vector<std::pair<std::string, std::string>> entries) {
  std::sort(entries.begin(), entries.end());
  std::string bytes = head(5, entries.size());
  for (const auto& [key, item] : entries) bytes += key + item;
  return bytes;
}

inline std::string canonical(const Value& value) {
  switch (value.type->kind) {
    case TypeKind::kBool: return value.number != 0 ? "\xf5" : "\xf4";
    case TypeKind::kInt:
    case TypeKind::kNat:
    case TypeKind::kTime:
    case TypeKind::kDuration: return head(value.negative ? 1 : 0, value.number);
    case TypeKind::kFloat: return canonical_float(value.real);
    case TypeKind::kDec128: return text_item(decimal_text(value));
    case TypeKind::kBytes: return head(2, value.text.size()) + value.text;
    case TypeKind::kText:
    case TypeKind::kHash:
    case TypeKind::kUuid: return text_item(value.text);
    case TypeKind::kUnit: return "\xf6";
    case TypeKind::kOption: return value.items.empty() ? "\xf6" : canonical(value.items[0]);
    case TypeKind::kList:
    case TypeKind::kSet: {
      std::vector<std::string> items;
      for (const Value& item : value.items) items.push_back(canonical(item));
      if (value.type->kind == TypeKind::kSet) {
        std::sort(items.begin(), items.end());
        items.erase(std::unique(items.begin(), items.end()), items.end());
      }
      std::string bytes = head(4, items.size());
      for (const std::string& item : items) bytes += item;
      return bytes;
    }
    case TypeKind::kMap: {
      std::vector<std::pair<std::string, std::string>> entries;
      for (std::size_t i = 0; i < value.keys.size(); ++i)
        entries.emplace_back(canonical(value.keys[i]), canonical(value.items[i]));
      return canonical_map(std::move(entries));
    }
    case TypeKind::kRecord: {
      std::vector<std::pair<std::string, std::string>> entries;
      for (std::size_t i = 0; i < value.items.size(); ++i)
        entries.emplace_back(text_item(value.type->members[i].name), canonical(value.items[i]));
      return canonical_map(std::move(entries));
    }
    case TypeKind::kVariant: {
      std::vector<std::pair<std::string, std::string>> entries = {
          {text_item("$tag"), text_item(value.type->members[value.arm].name)}};
      if (value.items[0].type->kind != TypeKind::kUnit)
        entries.emplace_back(text_item("$value"), canonical(value.items[0]));
      return canonical_map(std::move(entries));
    }
    default: break;
  }
  switch (value.any) {
    case ItemKind::kNull: return "\xf6";
    case ItemKind::kBool: return value.number != 0 ? "\xf5" : "\xf4";
    case ItemKind::kFloat: return canonical_float(value.real);
    case ItemKind::kText: return text_item(value.text);
    case ItemKind::kList: {
      std::string bytes = head(4, value.items.size());
      for (const Value& item : value.items) bytes += canonical(item);
      return bytes;
    }
    case ItemKind::kMap: {
      std::vector<std::pair<std::string, std::string>> entries;
      for (std::size_t i = 0; i < value.keys.size(); ++i)
        entries.emplace_back(text_item(value.keys[i].text), canonical(value.items[i]));
      return canonical_map(std::move(entries));
    }
    default: return head(value.negative ? 1 : 0, value.number);
  }
}

}  // namespace holdfast::codec::testing
