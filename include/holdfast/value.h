// SPDX-License-Identifier: Apache-2.0
// Writer and Reader: a value, item by item, front to back. What they stand on is the engine's own
// codec. Most code never sees them: a plain struct is written and read by its type
// (holdfast/detail/record.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "holdfast/types.h"

namespace holdfast {

namespace codec {
class Buffer;
class CborReader;
}  // namespace codec

class Writer {
 public:
  explicit Writer(codec::Buffer& out) noexcept : out_(&out) {}

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

 private:
  codec::Buffer* out_;
};

// Each call takes the next item if it is of that kind, and says whether it was. After a call that
// failed the place is lost, unless the call says otherwise.
class Reader {
 public:
  // `end` is where the bytes of `in` end.
  Reader(codec::CborReader& in, const std::uint8_t* end) noexcept : in_(&in), end_(end) {}

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
  bool key(std::string_view expected);  // exactly this text
  bool skip();                          // one item, whatever it is

 private:
  codec::CborReader* in_;
  const std::uint8_t* end_;
};

}  // namespace holdfast
