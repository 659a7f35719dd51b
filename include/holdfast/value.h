// SPDX-License-Identifier: Apache-2.0
// Writer and Reader: a value, item by item, front to back. What they stand on is the engine's own
// codec. Most code never sees them: a plain struct is written and read by its type
// (holdfast/detail/record.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "holdfast/types.h"

namespace holdfast {

namespace codec {
class Buffer;
}
// Writes into room that it takes from a buffer in large pieces, so that most items are a few
// instructions. The buffer knows of them when the writer is gone.
class Writer {
 public:
  explicit Writer(codec::Buffer& out) noexcept : out_(out) {}
  ~Writer() { give_back(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void null();
  void boolean(bool value);
  void nat(std::uint64_t value);
  void integer(std::int64_t value);
  void real(double value);
  void text(std::string_view value);
  void bytes(std::span<const std::uint8_t> value);
  void hash(const Hash& value);
  void uuid(const Uuid& value);
  void list(std::uint64_t count);  // `count` items follow
  void map(std::uint64_t count);   // `count` keys follow, each with its item

  // Bytes that are known to be items already.
  template <std::size_t Size>
  void items(const std::array<std::uint8_t, Size>& encoded) {
    std::memcpy(room(Size), encoded.data(), Size);
    at_ += Size;
  }

 private:
  std::uint8_t* room(std::size_t count) {
    if (static_cast<std::size_t>(end_ - at_) < count) take_room(count);
    return at_;
  }
  void take_room(std::size_t count);
  void give_back();

  codec::Buffer& out_;
  std::uint8_t* begin_ = nullptr;
  std::uint8_t* at_ = nullptr;
  std::uint8_t* end_ = nullptr;
};

// Each call takes the next item if it is of that kind, and says whether it was. After a call that
// failed the place is lost, unless the call says otherwise. What it reads is canonical; other bytes
// are refused or read as something, but do no harm.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) noexcept
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool null();  // takes nothing if it fails
  bool boolean(bool& value);
  bool nat(std::uint64_t& value);
  bool integer(std::int64_t& value);
  bool real(double& value);
  bool text(std::string_view& value);  // good for as long as the bytes that are read
  bool bytes(std::span<const std::uint8_t>& value);
  bool hash(Hash& value);
  bool uuid(Uuid& value);
  bool list(std::uint64_t& count);  // never more than there are bytes left
  bool map(std::uint64_t& count);
  bool skip();  // one item, whatever it is

  // Exactly these bytes.
  template <std::size_t Size>
  bool items(const std::array<std::uint8_t, Size>& encoded) {
    if (static_cast<std::size_t>(end_ - at_) < Size) return false;
    if (std::memcmp(at_, encoded.data(), Size) != 0) return false;
    at_ += Size;
    return true;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

}  // namespace holdfast
