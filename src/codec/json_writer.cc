// SPDX-License-Identifier: Apache-2.0
#include "codec/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "base/base64.h"
#include "base/check.h"
#include "codec/cbor_reader.h"
#include "codec/json_scan.h"
#include "codec/limits.h"

namespace holdfast::codec {
namespace {

// A value nests kMaxDepth deep at most, and documents put values into lists and maps of their own.
constexpr std::size_t kMaxWrittenDepth = 2 * kMaxDepth;

// Counts what would be written.
class Count {
 public:
  std::size_t size() const noexcept { return size_; }
  void push(std::uint8_t) noexcept { ++size_; }
  void append(const void*, std::size_t count) noexcept { size_ += count; }
  void truncate(std::size_t size) noexcept { size_ = size; }

 private:
  std::size_t size_ = 0;
};

// A long text is written in slices, of so many bytes of it; a multiple of 3, for base64.
constexpr std::size_t kSliceBytes = std::size_t{48} << 10;

template <class Out>
void append(Out& out, std::string_view text) {
  out.append(text.data(), text.size());
}

// What stands between the quotes.
template <class Out>
void write_escaped(Out& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
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
}

template <class Out>
void write_integer(Out& out, bool negative, std::uint64_t n) {
  std::array<char, 24> digits;
  char* at = digits.data();
  if (negative && n == ~std::uint64_t{0}) return append(out, "-18446744073709551616");  // -2^64
  if (negative) *at++ = '-';
  const auto end = std::to_chars(at, digits.data() + digits.size(), negative ? n + 1 : n).ptr;
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

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

template <class Out>
class Writer {
 public:
  Writer(Out& out, View value, JsonStyle style, std::size_t depth)
      : out_(out),
        bytes_(value.encoded()),
        reader_(bytes_, Strictness::kLenient),
        indented_(style == JsonStyle::kIndented),
        outer_depth_(depth) {}

  // Until there are so many bytes, or a few more. False: that was all. A map that turns out to be
  // no object is written again from its beginning: whoever takes bytes away before the end must
  // have said which maps these are.
  bool run(std::size_t most) {
    Item item;
    Cursor cursor;
    for (;;) {
      if (!rest_.empty() && !write_rest(most)) return true;
      if (is_value_written_) {
        is_value_written_ = false;
        while (depth_ > 0 && !advance(open_[depth_ - 1])) close();
        if (depth_ == 0) return false;
      }
      if (out_.size() >= most) return true;
      CHECK(reader_.value(item, cursor));
      is_value_written_ = true;
      if (item.kind == ItemKind::kList || item.kind == ItemKind::kMap ||
          item.kind == ItemKind::kTag) {
        open(item, cursor);
      } else {
        scalar(item);
      }
    }
  }

  using Maps = std::set<const std::uint8_t*>;
  const Maps& maps_of_pairs() const noexcept { return pairs_; }
  void know_maps_of_pairs(Maps maps) { pairs_ = std::move(maps); }

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
    CHECK(depth_ < kMaxWrittenDepth);
    Open& frame = open_[depth_++];
    frame.form = Form::kList;
    frame.cursor = cursor;
    frame.any = frame.awaits_value = false;
    if (item.kind == ItemKind::kTag) {
      frame.form = Form::kTag;
      append(out_, "{\"$tagged\":[");
      write_integer(out_, false, item.number);
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
      out_.push('"');
      write_escaped(out_, item.text);
      out_.push('"');
    } else {
      out_.push('"');
      write_integer(out_, item.kind == ItemKind::kNegative, item.number);
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
      case ItemKind::kNat: return write_integer(out_, false, item.number);
      case ItemKind::kNegative: return write_integer(out_, true, item.number);
      case ItemKind::kFloat: return real(item.real);
      case ItemKind::kText: out_.push('"'); return begin_text(item.text, false);
      case ItemKind::kBytes: append(out_, "{\"$bytes\":\""); return begin_text(item.text, true);
      default:
        append(out_, "{\"$simple\":");
        write_integer(out_, false, item.number);
        return out_.push('}');
    }
  }

  // Most are short, and written at once.
  void begin_text(std::string_view text, bool is_bytes) {
    rest_is_bytes_ = is_bytes;
    if (text.size() > kSliceBytes) {
      rest_ = text;
      return;
    }
    write_slice(text);
    end_text();
  }
  void end_text() { append(out_, rest_is_bytes_ ? "\"}" : "\""); }

  void write_slice(std::string_view slice) {
    if (!rest_is_bytes_) return write_escaped(out_, slice);
    base64_.clear();
    base::base64_encode_append(base::as_bytes(slice), base64_);
    append(out_, base64_);
  }

  // What is left of a text; false: there is more of it.
  bool write_rest(std::size_t most) {
    while (!rest_.empty()) {
      if (out_.size() >= most) return false;
      const std::string_view slice = rest_.substr(0, kSliceBytes);
      rest_.remove_prefix(slice.size());
      write_slice(slice);
    }
    end_text();
    return true;
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

  Out& out_;
  base::ByteView bytes_;
  CborReader reader_;
  bool indented_;
  std::size_t outer_depth_;
  std::array<Open, kMaxWrittenDepth> open_;
  std::set<const std::uint8_t*> pairs_;  // the maps that are no objects
  std::size_t depth_ = 0;
  bool is_value_written_ = false;  // and what stands behind it is not
  std::string_view rest_;          // of a text, or of bytes
  bool rest_is_bytes_ = false;
  std::string base64_;
};

}  // namespace

void write_json(Buffer& out, View value, JsonStyle style, std::size_t depth) {
  Writer(out, value, style, depth).run(SIZE_MAX);
}

std::string to_json(View value, JsonStyle style) {
  Buffer out;
  write_json(out, value, style);
  return std::string(base::as_text(out.view()));
}

struct JsonPieces::Body {
  explicit Body(View value) : writer(out, value, JsonStyle::kCompact, 0) {}
  Buffer out;
  Writer<Buffer> writer;
  bool has_more = true;
};

JsonPieces::JsonPieces(View value) : body_(std::make_unique<Body>(value)) {
  Count count;
  Writer<Count> counter(count, value, JsonStyle::kCompact, 0);
  counter.run(SIZE_MAX);
  size_ = count.size();
  body_->writer.know_maps_of_pairs(counter.maps_of_pairs());
}
JsonPieces::~JsonPieces() = default;
JsonPieces::JsonPieces(JsonPieces&&) noexcept = default;

bool JsonPieces::next(Buffer& out, std::size_t about) {
  body_->out.clear();
  if (body_->has_more) body_->has_more = body_->writer.run(about);
  std::swap(out, body_->out);
  return body_->has_more;
}

void write_string_json(Buffer& out, std::string_view text) {
  out.push('"');
  write_escaped(out, text);
  out.push('"');
}

void write_integer_json(Buffer& out, bool negative, std::uint64_t n) {
  write_integer(out, negative, n);
}

}  // namespace holdfast::codec
