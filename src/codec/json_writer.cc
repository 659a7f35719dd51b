// SPDX-License-Identifier: Apache-2.0
#include "codec/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "base/base64.h"
#include "base/check.h"
#include "codec/cbor_reader.h"
#include "codec/json_scan.h"
#include "codec/limits.h"

namespace holdfast::codec {
namespace {

void append(Buffer& out, std::string_view text) { out.append(text.data(), text.size()); }

// What a JSON object can hold as keys without two of them becoming one: only texts, or only
// integers.
enum class Keys : std::uint8_t { kTexts, kIntegers, kOthers };

Keys keys_like(std::uint8_t head) noexcept {
  switch (static_cast<Major>(head >> 5)) {
    case Major::kText: return Keys::kTexts;
    case Major::kNat:
    case Major::kNegative: return Keys::kIntegers;
    default: return Keys::kOthers;
  }
}

class Writer {
 public:
  Writer(Buffer& out, View value, JsonStyle style, std::size_t depth)
      : out_(out),
        bytes_(value.encoded()),
        reader_(bytes_, Strictness::kLenient),
        indented_(style == JsonStyle::kIndented),
        outer_depth_(depth) {}

  void run() {
    Item item;
    Cursor cursor;
    for (;;) {
      CHECK(reader_.value(item, cursor));
      if (item.kind == ItemKind::kList || item.kind == ItemKind::kMap ||
          item.kind == ItemKind::kTag) {
        open(item, cursor);
      } else {
        scalar(item);
      }
      while (depth_ > 0 && !advance(open_[depth_ - 1])) close();
      if (depth_ == 0) return;
    }
  }

 private:
  static constexpr std::string_view kPairsBegin = "{\"$map\":[";
  enum class Form : std::uint8_t { kList, kObject, kPairs, kTag };
  struct Open {
    Form form;
    Cursor cursor;
    bool any;           // something stands in it already
    bool awaits_value;  // kPairs: the key is written
    Keys keys;          // kObject: what all of them must be
    // Where a map begins in the input and in the output, to begin again from.
    CborReader::Mark content;
    std::uint64_t entries;
    std::size_t out_begin;
  };

  void open(const Item& item, const Cursor& cursor) {
    CHECK(depth_ < kMaxDepth);
    Open& frame = open_[depth_++];
    frame.form = Form::kList;
    frame.cursor = cursor;
    frame.any = frame.awaits_value = false;
    if (item.kind == ItemKind::kTag) {
      frame.form = Form::kTag;
      append(out_, "{\"$tagged\":[");
      write_integer_json(out_, false, item.number);
    } else if (item.kind == ItemKind::kMap) {
      frame.content = reader_.mark();
      frame.entries = cursor.left;
      frame.out_begin = out_.size();
      const bool plain = pairs_.empty() || !pairs_.contains(frame.content.at);
      frame.form = plain ? Form::kObject : Form::kPairs;
      append(out_, plain ? "{" : kPairsBegin);
    } else {
      out_.push('[');
    }
  }

  // Writes what stands before the next value of a container; false at its end.
  bool advance(Open& frame) {
    if (frame.awaits_value) {
      frame.awaits_value = false;
      out_.push(',');
      return true;
    }
    if (frame.form == Form::kPairs && frame.any) out_.push(']');
    if (reader_.more(frame.cursor) != More::kYes) return false;
    if (frame.form == Form::kObject && !fits_object(frame)) return begin_again(frame);
    if (frame.any || frame.form == Form::kTag) out_.push(',');
    frame.any = true;
    if (frame.form != Form::kTag) line(depth_);
    if (frame.form == Form::kObject) {
      key();
    } else if (frame.form == Form::kPairs) {
      out_.push('[');
      frame.awaits_value = true;
    }
    return true;
  }

  bool fits_object(Open& frame) noexcept {
    const Keys keys = keys_like(*reader_.mark().at);
    if (!frame.any) frame.keys = keys;
    return keys == frame.keys && keys != Keys::kOthers;
  }

  // A map is taken for an object until a key shows that it is none, which is rare; then it is
  // written again as pairs. It is remembered, so that it is not mistaken twice when a map around it
  // begins again.
  bool begin_again(Open& frame) {
    pairs_.insert(frame.content.at);
    reader_.rewind(frame.content);
    out_.truncate(frame.out_begin);
    append(out_, kPairsBegin);
    frame.form = Form::kPairs;
    frame.cursor.left = frame.entries;
    frame.any = false;
    return advance(frame);
  }

  void close() {
    const Open& frame = open_[--depth_];
    if (frame.any && frame.form != Form::kTag) line(depth_);
    switch (frame.form) {
      case Form::kList: return out_.push(']');
      case Form::kObject: return out_.push('}');
      case Form::kPairs:
      case Form::kTag: return append(out_, "]}");
    }
  }

  void key() {
    Item item;
    CHECK(reader_.key(item));
    if (item.kind == ItemKind::kText) {
      write_string_json(out_, item.text);
    } else {
      out_.push('"');
      write_integer_json(out_, item.kind == ItemKind::kNegative, item.number);
      out_.push('"');
    }
    append(out_, indented_ ? ": " : ":");
  }

  void line(std::size_t depth) {
    if (!indented_) return;
    out_.push('\n');
    for (std::size_t i = 0; i < outer_depth_ + depth; ++i) append(out_, "  ");
  }

  void scalar(const Item& item) {
    switch (item.kind) {
      case ItemKind::kNull: return append(out_, "null");
      case ItemKind::kBool: return append(out_, item.number != 0 ? "true" : "false");
      case ItemKind::kNat: return write_integer_json(out_, false, item.number);
      case ItemKind::kNegative: return write_integer_json(out_, true, item.number);
      case ItemKind::kFloat: return real(item.real);
      case ItemKind::kText: return write_string_json(out_, item.text);
      case ItemKind::kBytes: {
        std::string text;
        base::base64_encode_append(base::as_bytes(item.text), text);
        append(out_, "{\"$bytes\":\"");
        append(out_, text);
        return append(out_, "\"}");
      }
      default:
        append(out_, "{\"$simple\":");
        write_integer_json(out_, false, item.number);
        return out_.push('}');
    }
  }

  // Always with a point or an exponent, so that it reads back as a float.
  void real(double value) {
    if (std::isnan(value)) return append(out_, "\"NaN\"");
    if (std::isinf(value)) return append(out_, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
    append(out_, text);
    if (text.find_first_of(".e") == std::string_view::npos) append(out_, ".0");
  }

  Buffer& out_;
  base::ByteView bytes_;
  CborReader reader_;
  bool indented_;
  std::size_t outer_depth_;
  std::array<Open, kMaxDepth> open_;
  std::set<const std::uint8_t*> pairs_;  // the maps that are no objects
  std::size_t depth_ = 0;
};

}  // namespace

void write_json(Buffer& out, View value, JsonStyle style, std::size_t depth) {
  Writer(out, value, style, depth).run();
}

std::string to_json(View value, JsonStyle style) {
  Buffer out;
  write_json(out, value, style);
  return std::string(base::as_text(out.view()));
}

void write_string_json(Buffer& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out.push('"');
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();; ++at) {
    bool high = false;
    const char* const run = at;
    at = scan_plain(at, end, high);
    append(out, {run, static_cast<std::size_t>(at - run)});
    if (at == end) break;
    const auto c = static_cast<unsigned char>(*at);
    switch (c) {
      case '"': append(out, "\\\""); break;
      case '\\': append(out, "\\\\"); break;
      case '\n': append(out, "\\n"); break;
      case '\r': append(out, "\\r"); break;
      case '\t': append(out, "\\t"); break;
      default:
        append(out, "\\u00");
        out.push(static_cast<std::uint8_t>(kHex[c >> 4]));
        out.push(static_cast<std::uint8_t>(kHex[c & 15]));
    }
  }
  out.push('"');
}

void write_integer_json(Buffer& out, bool negative, std::uint64_t n) {
  std::array<char, 24> digits;
  char* at = digits.data();
  if (negative && n == ~std::uint64_t{0}) return append(out, "-18446744073709551616");  // -2^64
  if (negative) *at++ = '-';
  const auto end = std::to_chars(at, digits.data() + digits.size(), negative ? n + 1 : n).ptr;
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

}  // namespace holdfast::codec
