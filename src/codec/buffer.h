// SPDX-License-Identifier: Apache-2.0
// Buffer: bytes that are written once, front to back, and reused. Unlike std::vector it does not
// clear what is about to be overwritten, which on the path of every event is a third of the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace holdfast::codec {

class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { std::free(data_); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::uint8_t* data() noexcept { return data_; }
  const std::uint8_t* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  base::ByteView view() const noexcept { return {data_, size_}; }
  base::ByteView view(std::size_t begin, std::size_t end) const noexcept {
    return {data_ + begin, end - begin};
  }
  // Whether a byte at `place` would be one of ours.
  bool holds(const void* place) const noexcept {
    const auto* byte = static_cast<const std::uint8_t*>(place);
    return std::less_equal<>()(data_, byte) && std::less<>()(byte, data_ + capacity_);
  }
  base::Bytes to_bytes() const { return {data_, data_ + size_}; }

  void clear() noexcept { size_ = 0; }
  void truncate(std::size_t size) noexcept {
    CHECK(size <= size_);
    size_ = size;
  }

  // Room for `count` more bytes; what is written there counts once `advance` is told.
  std::uint8_t* room(std::size_t count) {
    if (capacity_ - size_ < count) grow(count);
    return data_ + size_;
  }
  void advance(std::size_t count) noexcept { size_ += count; }

  void push(std::uint8_t byte) {
    *room(1) = byte;
    ++size_;
  }
  void append(const void* bytes, std::size_t count) {
    if (count == 0) return;
    std::memcpy(room(count), bytes, count);
    size_ += count;
  }
  void append(base::ByteView bytes) { append(bytes.data(), bytes.size()); }

  // Opens a gap of `count` bytes at `at`; the caller fills it.
  void make_gap(std::size_t at, std::size_t count) {
    room(count);
    std::memmove(data_ + at + count, data_ + at, size_ - at);
    size_ += count;
  }

 private:
  void grow(std::size_t count) {
    std::size_t capacity = capacity_ < 256 ? 256 : capacity_ * 2;
    if (capacity - size_ < count) capacity = size_ + count;
    auto* data = static_cast<std::uint8_t*>(std::realloc(data_, capacity));
    CHECK(data != nullptr);
    data_ = data;
    capacity_ = capacity;
  }

  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace holdfast::codec
