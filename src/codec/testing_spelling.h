// SPDX-License-Identifier: Apache-2.0
// Writes a random value in one of the many ways that people and programs may: fields in any order,
// options left out, every form of variants, units, bytes, decimals, times and floats, sets with
// repetitions; in JSON with spaces and escapes, in CBOR with long heads, pieces and wide floats.
// All of them mean the same value. For tests only.
#pragma once

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/testing_base64.h"
#include "codec/testing_choices.h"
#include "codec/testing_reference.h"
#include "codec/testing_values.h"

namespace holdfast::codec::testing {

// What stands in the input, before JSON or CBOR spell it.
struct Doc {
  enum class Kind { kNull, kBool, kInt, kFloat, kLiteral, kText, kBytes, kList, kMap };
  Kind kind = Kind::kNull;
  std::uint64_t number = 0;
  bool negative = false;
  double real = 0;
  std::string text = {};                          // kLiteral: a JSON number
  std::vector<std::pair<Doc, Doc>> entries = {};  // kList: the second of each

  static Doc null() { return {}; }
  static Doc integer(std::uint64_t n, bool below_zero = false) {
    Doc doc{Kind::kInt};
    doc.number = n;
    doc.negative = below_zero;
    return doc;
  }
  static Doc of(Kind kind, std::string text) {
    Doc doc{kind};
    doc.text = std::move(text);
    return doc;
  }
  static Doc string(std::string text) { return of(Kind::kText, std::move(text)); }
  static Doc map(std::vector<std::pair<Doc, Doc>> entries) {
    Doc doc{Kind::kMap};
    doc.entries = std::move(entries);
    return doc;
  }
};

enum class Route { kJson, kCbor };

class Speller {
 public:
  Speller(Choices& choices, Route route) : choices_(choices), route_(route) {}

  Doc spell(const Value& value) {
    switch (value.type->kind) {
      case TypeKind::kBool: return boolean(value);
      case TypeKind::kInt:
      case TypeKind::kNat: return Doc::integer(value.number, value.negative);
      case TypeKind::kTime: return time(value);
      case TypeKind::kDuration: return duration(value);
      case TypeKind::kFloat: return real(value.real);
      case TypeKind::kDec128: return decimal(value);
      case TypeKind::kBytes: return bytes(value.text);
      case TypeKind::kText:
      case TypeKind::kHash: return Doc::string(value.text);
      case TypeKind::kUuid: return uuid(value.text);
      case TypeKind::kUnit: return unit();
      case TypeKind::kOption: return value.items.empty() ? Doc::null() : spell(value.items[0]);
      case TypeKind::kList: return list(value);
      case TypeKind::kSet: return set(value);
      case TypeKind::kMap: return map(value);
      case TypeKind::kRecord: return record(value);
      case TypeKind::kVariant: return variant(value);
      default: return any(value);
    }
  }

 private:
  static Doc boolean(const Value& value) {
    Doc doc{Doc::Kind::kBool};
    doc.number = value.number;
    return doc;
  }

  Doc unit() { return choices_.flip() ? Doc::map({}) : Doc::null(); }

  Doc real(double value) {
    if (std::isnan(value) || std::isinf(value)) {
      if (route_ == Route::kJson || choices_.flip())
        return Doc::string(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    } else if (std::trunc(value) == value && std::fabs(value) < 0x1p62 && !std::signbit(value) &&
               choices_.flip()) {
      return Doc::integer(static_cast<std::uint64_t>(value));
    }
    Doc doc{Doc::Kind::kFloat};
    doc.real = value;
    return doc;
  }

  Doc decimal(const Value& value) {
    const std::string sign = value.negative ? "-" : "";
    const std::size_t more = choices_.below(3);
    std::string text = decimal_text(value);
    if (choices_.flip()) {  // digits and an exponent, with zeros behind
      const std::string digits = value.text.empty() ? "0" : value.text + std::string(more, '0');
      text =
          sign + digits + (choices_.flip() ? "e" : "E") +
          std::to_string(value.exponent - static_cast<std::int64_t>(value.text.empty() ? 0 : more));
    } else if (text.find('.') != std::string::npos && text.find('e') == std::string::npos) {
      text += std::string(more, '0');
    }
    if (route_ == Route::kJson && choices_.flip()) return Doc::of(Doc::Kind::kLiteral, text);
    if (!value.negative && choices_.flip()) text = "+" + text;
    if (choices_.flip()) text.insert(text.front() == '-' || text.front() == '+' ? 1 : 0, "00");
    if (route_ == Route::kCbor && value.exponent == 0 && value.text.size() < 19 &&
        choices_.flip()) {
      const std::uint64_t n = value.text.empty() ? 0 : std::stoull(value.text);
      return Doc::integer(value.negative ? n - 1 : n, value.negative);
    }
    return Doc::string(text);
  }

  Doc bytes(const std::string& raw) {
    const std::string encoded = base::testing::to_base64(base::as_bytes(raw));
    switch (choices_.below(route_ == Route::kCbor ? 3 : 2)) {
      case 0: return Doc::string(encoded);
      case 1: return Doc::map({{Doc::string("$bytes"), Doc::string(encoded)}});
      default: return Doc::of(Doc::Kind::kBytes, raw);
    }
  }

  Doc uuid(std::string text) {
    for (char& c : text) {
      if (c >= 'a' && c <= 'f' && choices_.flip()) c = static_cast<char>(c - 'a' + 'A');
    }
    return Doc::string(std::move(text));
  }

  Doc time(const Value& value) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    constexpr std::uint64_t kLastSecondAsText = 18446744072;
    if (value.number / kSecond > kLastSecondAsText || !choices_.flip())
      return Doc::integer(value.number);
    const int offset =
        (static_cast<int>(choices_.below(2 * 1439)) - 1439) * (choices_.flip() ? 1 : 0);
    const std::chrono::sys_seconds local(
        std::chrono::seconds(static_cast<std::int64_t>(value.number / kSecond) + offset * 60));
    const auto day = std::chrono::floor<std::chrono::days>(local);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(local - day);
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", int(date.year()),
                  unsigned(date.month()), unsigned(date.day()), int(clock.hours().count()),
                  int(clock.minutes().count()), int(clock.seconds().count()));
    std::string out = text.data();
    std::string fraction = std::to_string(kSecond + value.number % kSecond).substr(1);
    while (!fraction.empty() && fraction.back() == '0' && choices_.below(4) != 3)
      fraction.pop_back();
    if (!fraction.empty()) out += "." + fraction;
    if (offset == 0 && choices_.flip()) return Doc::string(out + "Z");
    std::snprintf(text.data(), text.size(), "%c%02d:%02d", offset < 0 ? '-' : '+',
                  std::abs(offset) / 60, std::abs(offset) % 60);
    return Doc::string(out + text.data());
  }

  Doc duration(const Value& value) {
    const std::uint64_t magnitude = value.number + (value.negative ? 1 : 0);
    if (magnitude >> 63 != 0 || !choices_.flip()) return Doc::integer(value.number, value.negative);
    std::string text = value.negative ? "-" : "";
    std::uint64_t left = magnitude;
    for (const auto& [unit, size] :
         std::initializer_list<std::pair<const char*, std::uint64_t>>{{"d", 86'400'000'000'000},
                                                                      {"h", 3'600'000'000'000},
                                                                      {"m", 60'000'000'000},
                                                                      {"s", 1'000'000'000},
                                                                      {"ms", 1'000'000},
                                                                      {"us", 1000}}) {
      if (left / size == 0 && !choices_.rarely()) continue;
      if (choices_.rarely()) continue;
      text += std::to_string(left / size) + unit;
      left %= size;
    }
    if (left != 0 || text.empty() || text == "-") text += std::to_string(left) + "ns";
    return Doc::string(std::move(text));
  }

  Doc list(const Value& value) {
    Doc doc{Doc::Kind::kList};
    for (const Value& item : value.items) doc.entries.emplace_back(Doc(), spell(item));
    return doc;
  }

  Doc set(const Value& value) {
    Doc doc = list(value);
    for (const Value& item : value.items) {
      if (choices_.rarely()) doc.entries.emplace_back(Doc(), spell(item));
    }
    choices_.shuffle(doc.entries);
    return doc;
  }

  Doc key(const Value& value) {
    const TypeKind kind = value.type->kind;
    if (kind != TypeKind::kInt && kind != TypeKind::kNat) return spell(value);
    if (route_ == Route::kCbor && !choices_.flip()) return spell(value);
    return Doc::string((value.negative ? "-" : "") +
                       std::to_string(value.number + (value.negative ? 1 : 0)));
  }

  Doc map(const Value& value) {
    std::vector<std::pair<Doc, Doc>> entries;
    for (std::size_t i = 0; i < value.keys.size(); ++i)
      entries.emplace_back(key(value.keys[i]), spell(value.items[i]));
    choices_.shuffle(entries);
    return Doc::map(std::move(entries));
  }

  Doc record(const Value& value) {
    std::vector<std::pair<Doc, Doc>> entries;
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const Value& field = value.items[i];
      const bool absent = field.type->kind == TypeKind::kOption && field.items.empty();
      if (absent && choices_.flip()) continue;
      entries.emplace_back(Doc::string(value.type->members[i].name), spell(field));
    }
    choices_.shuffle(entries);
    return Doc::map(std::move(entries));
  }

  Doc variant(const Value& value) {
    const Doc name = Doc::string(value.type->members[value.arm].name);
    const Value& held = value.items[0];
    const bool may_be_absent = held.type->kind == TypeKind::kUnit ||
                               (held.type->kind == TypeKind::kOption && held.items.empty());
    const auto tag = std::pair(Doc::string("$tag"), name);
    const auto content = std::pair(Doc::string("$value"), spell(held));
    switch (choices_.below(may_be_absent ? 4 : 3)) {
      case 0: return Doc::map({tag, content});
      case 1: return Doc::map({content, tag});
      case 2: return Doc::map({{name, content.second}});
      default: return Doc::map({tag});
    }
  }

  Doc any(const Value& value) {
    switch (value.any) {
      case ItemKind::kNull: return Doc::null();
      case ItemKind::kBool: return boolean(value);
      case ItemKind::kText: return Doc::string(value.text);
      case ItemKind::kList: return list(value);
      case ItemKind::kMap: return map(value);
      case ItemKind::kFloat: {
        Doc doc{Doc::Kind::kFloat};
        doc.real = value.real;
        return doc;
      }
      default: return Doc::integer(value.number, value.negative);
    }
  }

  Choices& choices_;
  Route route_;
};

}  // namespace holdfast::codec::testing
