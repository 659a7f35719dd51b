// SPDX-License-Identifier: Apache-2.0
// ChunkReader: takes a chunked body apart, byte by byte, so that nothing waits for the rest of a
// line. Strict: a size is up to 16 hexadecimal digits, lines end with CR LF, and there are neither
// extensions nor fields behind the body.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::gateway {

class ChunkReader {
 public:
  // How many bytes it took from the front: all of them, unless the body is whole or refused. What
  // is in chunks is appended to `body`, up to `most` bytes in all.
  std::size_t take(std::string_view bytes, std::string& body, std::size_t most) {
    std::size_t at = 0;
    while (at < bytes.size() && place_ != Place::kEnd && problem_ == nullptr) {
      if (place_ != Place::kData) {
        take_one(bytes[at++], body.size(), most);
        continue;
      }
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size() - at));
      body.append(bytes.substr(at, count));
      at += count;
      left_ -= count;
      if (left_ == 0) place_ = Place::kAfterData;
    }
    return at;
  }

  bool is_whole() const noexcept { return place_ == Place::kEnd; }

  // Null: there is none.
  const char* problem() const noexcept { return problem_; }
  bool is_too_large() const noexcept { return is_too_large_; }

 private:
  enum class Place : std::uint8_t {
    kSize,
    kAfterSize,  // the CR is there
    kData,
    kAfterData,
    kBeforeSize,  // the CR behind data is there
    kLastLine,    // behind the chunk of no bytes
    kLastEnd,
    kEnd,
  };
  static constexpr unsigned kMostDigits = 16;

  static std::optional<unsigned> digit_of_size(char c) noexcept {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
  }

  void expect(char c, char wanted, Place next, const char* otherwise) noexcept {
    if (c != wanted) {
      problem_ = otherwise;
    } else {
      place_ = next;
    }
  }

  void take_size(char c) noexcept {
    if (const auto digit = digit_of_size(c)) {
      if (++digits_ > kMostDigits) problem_ = "the size of a chunk has too many digits";
      left_ = left_ << 4 | *digit;
    } else if (c == ';' && digits_ != 0) {
      problem_ = "chunks with extensions are not taken";
    } else if (c == '\r' && digits_ != 0) {
      place_ = Place::kAfterSize;
    } else {
      problem_ = "the size of a chunk is no number";
    }
  }

  void take_one(char c, std::size_t so_far, std::size_t most) noexcept {
    switch (place_) {
      case Place::kSize: return take_size(c);
      case Place::kAfterSize:
        expect(c, '\n', left_ == 0 ? Place::kLastLine : Place::kData,
               "a line of a chunk has no end");
        is_too_large_ = problem_ == nullptr && left_ > most - std::min(most, so_far);
        if (is_too_large_) problem_ = "the body has too many bytes";
        digits_ = 0;
        return;
      case Place::kAfterData: return expect(c, '\r', Place::kBeforeSize, "a chunk has more bytes");
      case Place::kBeforeSize: return expect(c, '\n', Place::kSize, "a chunk has more bytes");
      case Place::kLastLine:
        return expect(c, '\r', Place::kLastEnd, "trailer fields are not accepted");
      case Place::kLastEnd: return expect(c, '\n', Place::kEnd, "the body has no end");
      case Place::kData:
      case Place::kEnd: return;
    }
  }

  Place place_ = Place::kSize;
  std::uint64_t left_ = 0;  // of the chunk
  unsigned digits_ = 0;
  const char* problem_ = nullptr;
  bool is_too_large_ = false;
};

}  // namespace holdfast::gateway
