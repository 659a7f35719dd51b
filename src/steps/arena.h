// SPDX-License-Identifier: Apache-2.0
// Arena: values that nobody else holds. What is kept stays where it is for as long as the arena,
// also when that is moved.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/copy.h"

namespace holdfast::steps {

class Arena {
 public:
  Arena() = default;
  Arena(Arena&& other) noexcept
      : pieces_(std::exchange(other.pieces_, {})),
        at_(std::exchange(other.at_, nullptr)),
        left_(std::exchange(other.left_, 0)),
        size_(std::exchange(other.size_, 0)),
        first_(std::exchange(other.first_, 0)) {}
  Arena& operator=(Arena&& other) noexcept {
    pieces_ = std::exchange(other.pieces_, {});
    at_ = std::exchange(other.at_, nullptr);
    left_ = std::exchange(other.left_, 0);
    size_ = std::exchange(other.size_, 0);
    first_ = std::exchange(other.first_, 0);
    return *this;
  }

  base::ByteView keep(base::ByteView bytes) {
    if (bytes.empty()) return {};
    std::uint8_t* const at = room(bytes.size());
    base::copy_bytes(at, bytes.data(), bytes.size());
    return {at, bytes.size()};
  }
  std::string_view keep(std::string_view text) { return base::as_text(keep(base::as_bytes(text))); }

  // Drops everything, and keeps some room.
  void clear() noexcept {
    if (pieces_.size() > 1) pieces_.resize(1);
    const bool has_room = !pieces_.empty() && first_ <= kPiece;
    if (!has_room) pieces_.clear();
    at_ = has_room ? pieces_.front().get() : nullptr;
    left_ = has_room ? first_ : 0;
    size_ = 0;
  }

  // How many bytes it holds, of which some may not be needed any more.
  std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::size_t kPiece = 2048;

  std::uint8_t* room(std::size_t count) {
    if (count > left_) {
      const std::size_t size = std::max(count, kPiece);
      if (pieces_.empty()) first_ = size;
      pieces_.push_back(std::unique_ptr<std::uint8_t[]>(new std::uint8_t[size]));
      at_ = pieces_.back().get();
      left_ = size;
    }
    std::uint8_t* const at = at_;
    at_ += count;
    left_ -= count;
    size_ += count;
    return at;
  }

  std::vector<std::unique_ptr<std::uint8_t[]>> pieces_;
  std::uint8_t* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t size_ = 0;
  std::size_t first_ = 0;  // the size of the first piece
};

}  // namespace holdfast::steps
