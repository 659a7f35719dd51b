// SPDX-License-Identifier: Apache-2.0
// Writes a canonical value as JSON, without recursion. Values that JSON cannot say are written so
// that they can be read back where the schema is known: bytes as {"$bytes":"base64"}, NaN and the
// infinities as text, whole-number keys as text. What is left of CBOR has forms of its own, for
// people: {"$simple":n}, {"$tagged":[tag,value]}, {"$map":[[key,value],...]}.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "codec/buffer.h"
#include "codec/view.h"

namespace holdfast::codec {

enum class JsonStyle : std::uint8_t { kCompact, kIndented };

// `depth`: how many levels further in it is written than where it begins, for whoever writes what
// is around it.
void write_json(Buffer& out, View value, JsonStyle style = JsonStyle::kCompact,
                std::size_t depth = 0);
std::string to_json(View value, JsonStyle style = JsonStyle::kCompact);

// The same, compact, in pieces: what a large value comes to need not be in memory at once. The
// value must stay while they are taken, and this must not move meanwhile.
class JsonPieces {
 public:
  explicit JsonPieces(View value);  // walks over all of it, to find its size
  ~JsonPieces();
  JsonPieces(JsonPieces&&) noexcept;

  std::uint64_t size() const noexcept { return size_; }  // of all pieces together

  // The next piece, of about so many bytes, in place of what is in `out`. False: it is the last.
  bool next(Buffer& out, std::size_t about);

 private:
  struct Body;
  std::unique_ptr<Body> body_;
  std::uint64_t size_ = 0;
};

// A text in quotes, escaped.
void write_string_json(Buffer& out, std::string_view text);

// n, or -1 - n.
void write_integer_json(Buffer& out, bool negative, std::uint64_t n);

}  // namespace holdfast::codec
