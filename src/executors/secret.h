// SPDX-License-Identifier: Apache-2.0
// Secret: bytes that must not be seen. It cannot be copied, printed, formatted or compared, says
// what it is only where somebody writes reveal(), and is wiped when it goes.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace holdfast::executors {

class Secret {
 public:
  explicit Secret(std::string_view bytes);
  ~Secret() { wipe(); }
  Secret(Secret&& other) noexcept
      : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  Secret& operator=(Secret&& other) noexcept {
    bytes_.swap(other.bytes_);
    std::swap(size_, other.size_);
    return *this;
  }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;

  // For whoever hands it to the outside. What is made of it has to be wiped too: see wipe().
  std::string_view reveal() const noexcept { return {bytes_.get(), size_}; }

 private:
  void wipe() noexcept;

  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

// Overwrites memory in a way that no compiler leaves out.
void wipe(void* bytes, std::size_t size) noexcept;

}  // namespace holdfast::executors
