// SPDX-License-Identifier: Apache-2.0
// Pen: writes many small items to the end of a buffer. It takes room in large pieces, so that an
// item costs a comparison and not a look at the buffer. What it wrote is in the buffer once it is
// gone or has been put down; meanwhile nobody else touches the buffer. All of it is inlined, so
// that its place is in a register and heads that are known beforehand are single bytes: it is for
// the few functions that write on every tick. Others use a buffer as it is (codec/cbor_writer.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/copy.h"
#include "codec/buffer.h"
#include "codec/cbor_head.h"

namespace holdfast::codec {

class Pen {
 public:
  explicit Pen(Buffer& out) noexcept : out_(out) {}
  ~Pen() { put_down(); }
  Pen(const Pen&) = delete;
  Pen& operator=(const Pen&) = delete;

  // As Buffer has them.
  [[gnu::always_inline]] std::uint8_t* room(std::size_t count) {
    if (left_ < count) {
      const std::size_t size = std::max(count, kPiece);
      at_ = begin_ = take(out_, written(), size);
      left_ = size;
    }
    return at_;
  }
  [[gnu::always_inline]] void advance(std::size_t count) noexcept {
    at_ += count;
    left_ -= count;
  }
  [[gnu::always_inline]] void push(std::uint8_t byte) {
    *room(1) = byte;
    advance(1);
  }
  [[gnu::always_inline]] void append(base::ByteView bytes) {
    base::copy_bytes(room(bytes.size()), bytes.data(), bytes.size());
    advance(bytes.size());
  }

  void put_down() noexcept {
    out_.advance(written());
    at_ = begin_;
    left_ = 0;
  }

 private:
  static constexpr std::size_t kPiece = 256;

  // Knows the buffer and numbers only: the rest of the pen can stay in registers.
  [[gnu::noinline]] static std::uint8_t* take(Buffer& out, std::size_t written, std::size_t count) {
    out.advance(written);
    return out.room(count);
  }
  std::size_t written() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  Buffer& out_;
  std::uint8_t* begin_ = nullptr;
  std::uint8_t* at_ = nullptr;
  std::size_t left_ = 0;
};

// As codec/cbor_writer.h has them for a buffer.
[[gnu::always_inline]] inline void write_head(Pen& out, Major major, std::uint64_t n) {
  out.advance(put_head(out.room(kMaxHeadBytes), major, n));
}
[[gnu::always_inline]] inline void write_null(Pen& out) { out.push(kNullByte); }
[[gnu::always_inline]] inline void write_bool(Pen& out, bool value) {
  out.push(value ? kTrueByte : kFalseByte);
}
[[gnu::always_inline]] inline void write_nat(Pen& out, std::uint64_t value) {
  write_head(out, Major::kNat, value);
}
[[gnu::always_inline]] inline void write_text(Pen& out, std::string_view value) {
  std::uint8_t* at = out.room(kMaxHeadBytes + value.size());
  const std::size_t head = put_head(at, Major::kText, value.size());
  base::copy_bytes(at + head, value.data(), value.size());
  out.advance(head + value.size());
}
[[gnu::always_inline]] inline void write_bytes(Pen& out, base::ByteView value) {
  std::uint8_t* at = out.room(kMaxHeadBytes + value.size());
  const std::size_t head = put_head(at, Major::kBytes, value.size());
  base::copy_bytes(at + head, value.data(), value.size());
  out.advance(head + value.size());
}
[[gnu::always_inline]] inline void write_list_head(Pen& out, std::uint64_t count) {
  write_head(out, Major::kList, count);
}

}  // namespace holdfast::codec
