// SPDX-License-Identifier: Apache-2.0
// Writes a Doc as JSON with spaces and escapes, or as CBOR with long heads, strings in pieces,
// indefinite lengths and wide floats, as the choices have it. For tests only.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "codec/testing_choices.h"
#include "codec/testing_reference.h"
#include "codec/testing_spelling.h"

namespace holdfast::codec::testing {

class JsonSpeller {
 public:
  explicit JsonSpeller(Choices& choices) : choices_(choices) {}

  std::string write(const Doc& doc) { return space() + item(doc) + space(); }

 private:
  std::string space() {
    constexpr const char* kSpaces[] = {"", " ", "\n", "\t\r "};
    return choices_.rarely() ? kSpaces[choices_.below(4)] : "";
  }

  std::string item(const Doc& doc) {
    switch (doc.kind) {
      case Doc::Kind::kNull: return "null";
      case Doc::Kind::kBool: return doc.number != 0 ? "true" : "false";
      case Doc::Kind::kInt: return integer(doc);
      case Doc::Kind::kFloat: return real(doc.real);
      case Doc::Kind::kLiteral: return doc.text;
      case Doc::Kind::kText: return string(doc.text);
      case Doc::Kind::kList:
      case Doc::Kind::kMap: break;
      case Doc::Kind::kBytes: return "bytes have no JSON";
    }
    const bool map = doc.kind == Doc::Kind::kMap;
    std::string out = map ? "{" : "[";
    for (std::size_t i = 0; i < doc.entries.size(); ++i) {
      if (i > 0) out += ",";
      if (map) out += space() + string(doc.entries[i].first.text) + space() + ":";
      out += space() + item(doc.entries[i].second) + space();
    }
    return out + (doc.entries.empty() ? space() : "") + (map ? "}" : "]");
  }

  std::string integer(const Doc& doc) {
    if (!doc.negative)
      return (doc.number == 0 && choices_.rarely() ? "-" : "") + std::to_string(doc.number);
    return "-" + std::to_string(doc.number + 1);
  }

  std::string real(double value) {
    std::array<char, 40> text{};
    switch (choices_.below(3)) {
      case 0: *std::to_chars(text.data(), text.data() + text.size(), value).ptr = 0; break;
      case 1: std::snprintf(text.data(), text.size(), "%.17g", value); break;
      default: std::snprintf(text.data(), text.size(), "%.16E", value); break;
    }
    std::string out = text.data();
    return out.find_first_of(".eE") == std::string::npos ? out + (choices_.flip() ? "e0" : ".0")
                                                         : out;
  }

  std::string unit_escape(unsigned unit) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), choices_.flip() ? "\\u%04X" : "\\u%04x", unit);
    return text.data();
  }

  std::string string(const std::string& text) {
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size();) {
      const auto lead = static_cast<unsigned char>(text[i]);
      const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      const std::string character = text.substr(i, size);
      i += size;
      const bool must = lead < 0x20 || lead == '"' || lead == '\\';
      out += must || choices_.rarely() ? escaped(character) : character;
    }
    return out + "\"";
  }

  std::string escaped(const std::string& character) {
    constexpr std::string_view kShort = "\"\"\\\\//\bb\ff\nn\rr\tt";
    for (std::size_t i = 0; i < kShort.size(); i += 2) {
      if (character[0] == kShort[i] && choices_.flip()) return std::string("\\") + kShort[i + 1];
    }
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(character[at]); };
    switch (character.size()) {
      case 1: return unit_escape(byte(0));
      case 2: return unit_escape((byte(0) & 0x1fu) << 6 | (byte(1) & 0x3fu));
      case 3:
        return unit_escape((byte(0) & 0xfu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu));
      default: break;
    }
    const unsigned code = ((byte(0) & 7u) << 18 | (byte(1) & 0x3fu) << 12 | (byte(2) & 0x3fu) << 6 |
                           (byte(3) & 0x3fu)) -
                          0x10000;
    return unit_escape(0xd800 + (code >> 10)) + unit_escape(0xdc00 + (code & 0x3ff));
  }

  Choices& choices_;
};

class CborSpeller {
 public:
  explicit CborSpeller(Choices& choices) : choices_(choices) {}

  std::string write(const Doc& doc) {
    switch (doc.kind) {
      case Doc::Kind::kNull: return "\xf6";
      case Doc::Kind::kBool: return doc.number != 0 ? "\xf5" : "\xf4";
      case Doc::Kind::kInt: return head(doc.negative ? 1 : 0, doc.number, width());
      case Doc::Kind::kFloat: return real(doc.real);
      case Doc::Kind::kLiteral: return "literals are for JSON";
      case Doc::Kind::kText: return string(3, doc.text);
      case Doc::Kind::kBytes: return string(2, doc.text);
      case Doc::Kind::kList:
      case Doc::Kind::kMap: break;
    }
    const bool map = doc.kind == Doc::Kind::kMap;
    const bool indefinite = choices_.rarely();
    std::string out =
        indefinite ? (map ? "\xbf" : "\x9f") : head(map ? 5 : 4, doc.entries.size(), width());
    for (const auto& [key, item] : doc.entries) {
      if (map) out += write(key);
      out += write(item);
    }
    return out + (indefinite ? "\xff" : "");
  }

 private:
  // Mostly the shortest, so that whole values come out canonical now and then.
  unsigned width() {
    constexpr unsigned kWidths[] = {0, 1, 2, 4, 8};
    return choices_.rarely() ? kWidths[choices_.below(5)] : 0;
  }

  std::string real(double value) {
    if (std::isnan(value)) {
      constexpr std::string_view kNans[] = {{"\xf9\x7e\0", 3},
                                            {"\xf9\x7e\1", 3},
                                            {"\xfa\xff\xc0\0\0", 5},
                                            {"\xfb\x7f\xf8\0\0\0\0\0\0", 9},
                                            {"\xfb\x7f\xf0\0\0\0\0\0\1", 9}};
      return std::string(kNans[choices_.below(5)]);
    }
    unsigned bytes = float_width(value);
    while (bytes < 8 && choices_.rarely()) bytes *= 2;
    return float_bytes(value, bytes);
  }

  std::string string(unsigned major, const std::string& text) {
    if (!choices_.rarely()) return head(major, text.size(), width()) + text;
    std::string out(1, static_cast<char>(major << 5 | 31));
    for (std::size_t i = 0; i < text.size();) {
      std::size_t size = 1 + choices_.below(4);
      while (i + size < text.size() && (static_cast<unsigned char>(text[i + size]) & 0xc0) == 0x80)
        ++size;  // a piece ends where a character ends
      const std::string piece = text.substr(i, size);
      out += head(major, piece.size(), width()) + piece;
      i += piece.size();
    }
    return out + "\xff";
  }

  Choices& choices_;
};

}  // namespace holdfast::codec::testing
