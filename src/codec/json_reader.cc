// SPDX-License-Identifier: Apache-2.0
#include "codec/json_reader.h"

#include <algorithm>

#include "codec/utf8.h"

namespace holdfast::codec {

// The slow half of string(): text with escapes, or with bytes that need a look at their UTF-8.
bool JsonReader::escaped_string(std::string_view& text, const char* start, bool high) {
  unescaped_.clear();
  const char* run = start;
  at_ = start;
  for (;;) {
    at_ = scan_plain(at_, end_, high);
    if (at_ == end_) return fail("the text ends inside a string");
    if (*at_ == '"') break;
    if (*at_ != '\\') return fail("a control character inside a string must be escaped");
    unescaped_.append(run, at_);
    if (!escape()) return false;
    run = at_;
  }
  if (run == start) {
    text = {start, static_cast<std::size_t>(at_ - start)};
  } else {
    unescaped_.append(run, at_);
    text = unescaped_;
  }
  if (high && !is_utf8(text)) return fail("a string is not valid UTF-8");
  ++at_;
  return true;
}

bool JsonReader::escape() {
  if (++at_ == end_) return fail("the text ends inside a string");
  switch (*at_++) {
    case '"': unescaped_.push_back('"'); return true;
    case '\\': unescaped_.push_back('\\'); return true;
    case '/': unescaped_.push_back('/'); return true;
    case 'b': unescaped_.push_back('\b'); return true;
    case 'f': unescaped_.push_back('\f'); return true;
    case 'n': unescaped_.push_back('\n'); return true;
    case 'r': unescaped_.push_back('\r'); return true;
    case 't': unescaped_.push_back('\t'); return true;
    case 'u': break;
    default: --at_; return fail("unknown escape in a string");
  }
  std::uint32_t unit = 0;
  if (!hex4(unit)) return false;
  if (unit >= 0xdc00 && unit <= 0xdfff) return fail("half of a surrogate pair in a string");
  if (unit >= 0xd800 && unit <= 0xdbff) {
    std::uint32_t low = 0;
    if (end_ - at_ < 2 || at_[0] != '\\' || at_[1] != 'u')
      return fail("half of a surrogate pair in a string");
    at_ += 2;
    if (!hex4(low)) return false;
    if (low < 0xdc00 || low > 0xdfff) return fail("half of a surrogate pair in a string");
    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(unescaped_, unit);
  return true;
}

bool JsonReader::hex4(std::uint32_t& unit) {
  if (end_ - at_ < 4) return fail("the text ends inside a string");
  unit = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = *at_;
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return fail("expected four hexadecimal digits after \\u");
    unit = unit << 4 | static_cast<std::uint32_t>(digit);
  }
  return true;
}

bool JsonReader::literal(std::string_view word, Item& item, ItemKind kind, std::uint64_t number) {
  if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, word.size()) != word) {
    return fail("unexpected character");
  }
  at_ += word.size();
  item.kind = kind;
  item.number = number;
  return true;
}

bool JsonReader::finish() {
  at_ = after_space(at_);
  return at_ == end_ || fail("unexpected text after the value");
}

std::string JsonReader::problem() const {
  const auto line = 1 + std::count(begin_, at_, '\n');
  const char* line_start = at_;
  while (line_start > begin_ && line_start[-1] != '\n') --line_start;
  return std::string(problem_) + " (line " + std::to_string(line) + ", column " +
         std::to_string(at_ - line_start + 1) + ")";
}

}  // namespace holdfast::codec
