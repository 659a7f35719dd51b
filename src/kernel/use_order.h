// SPDX-License-Identifier: Apache-2.0
// UseOrder: cells from the most to the least recently used. The links are in the cells, so that
// nothing is allocated; a cell is in one order at a time.
#pragma once

#include <cstddef>
#include <utility>

#include "kernel/cell.h"

namespace holdfast::kernel {

class UseOrder {
 public:
  UseOrder() = default;
  UseOrder(UseOrder&& other) noexcept
      : newest_(std::exchange(other.newest_, nullptr)),
        oldest_(std::exchange(other.oldest_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  UseOrder& operator=(UseOrder&& other) noexcept {
    std::swap(newest_, other.newest_);
    std::swap(oldest_, other.oldest_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::size_t size() const noexcept { return size_; }
  Cell* newest() const noexcept { return newest_; }
  Cell* oldest() const noexcept { return oldest_; }

  void add_newest(Cell& cell) noexcept {
    cell.newer = nullptr;
    cell.older = newest_;
    (newest_ == nullptr ? oldest_ : newest_->newer) = &cell;
    newest_ = &cell;
    ++size_;
  }

  void remove(Cell& cell) noexcept {
    (cell.newer == nullptr ? newest_ : cell.newer->older) = cell.older;
    (cell.older == nullptr ? oldest_ : cell.older->newer) = cell.newer;
    --size_;
  }

  void use(Cell& cell) noexcept {
    if (newest_ == &cell) return;
    remove(cell);
    add_newest(cell);
  }

 private:
  Cell* newest_ = nullptr;
  Cell* oldest_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace holdfast::kernel
