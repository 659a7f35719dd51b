// SPDX-License-Identifier: Apache-2.0
// CellOrder: cells in a line, from the oldest to the newest. The links are in the cells, so that
// nothing is allocated and a cell leaves from anywhere at no cost; it is in one line of a kind at a
// time.
#pragma once

#include <cstddef>
#include <utility>

#include "kernel/cell.h"

namespace holdfast::kernel {

template <Cell* Cell::*Newer, Cell* Cell::*Older>
class CellOrder {
 public:
  CellOrder() = default;
  CellOrder(CellOrder&& other) noexcept
      : newest_(std::exchange(other.newest_, nullptr)),
        oldest_(std::exchange(other.oldest_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  CellOrder& operator=(CellOrder&& other) noexcept {
    std::swap(newest_, other.newest_);
    std::swap(oldest_, other.oldest_);
    std::swap(size_, other.size_);
    return *this;
  }

  bool empty() const noexcept { return oldest_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  Cell* oldest() const noexcept { return oldest_; }
  static Cell* after(const Cell& cell) noexcept { return cell.*Newer; }  // the next newer one

  void add_newest(Cell& cell) noexcept {
    cell.*Newer = nullptr;
    cell.*Older = newest_;
    (newest_ == nullptr ? oldest_ : newest_->*Newer) = &cell;
    newest_ = &cell;
    ++size_;
  }

  void remove(Cell& cell) noexcept {
    (cell.*Newer == nullptr ? newest_ : (cell.*Newer)->*Older) = cell.*Older;
    (cell.*Older == nullptr ? oldest_ : (cell.*Older)->*Newer) = cell.*Newer;
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

// Cells by their last use.
using UseOrder = CellOrder<&Cell::newer, &Cell::older>;

// Cells by whose turn it is: the oldest is the next.
using TurnOrder = CellOrder<&Cell::turn_after, &Cell::turn_before>;

}  // namespace holdfast::kernel
