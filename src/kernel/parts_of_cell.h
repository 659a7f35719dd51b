// SPDX-License-Identifier: Apache-2.0
// The parts of a cell's state as its machine sees them. What comes from blobs stays for as long as
// this.
#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "base/error.h"
#include "kernel/cells.h"
#include "kernel/machine.h"

namespace holdfast::kernel {

class PartsOfCell : public StateParts {
 public:
  PartsOfCell(const Cells& cells, const Cell& cell) : cells_(cells), cell_(cell) {}

  std::optional<base::ByteView> read(const base::Hash& part) const override {
    auto bytes = cells_.part_of(cell_, part, from_blobs_.emplace_back());
    if (bytes) return *bytes;
    if (!error_) error_ = std::move(bytes).error();
    return std::nullopt;
  }

  // Of the first that could not be read.
  std::optional<base::Error>& error() noexcept { return error_; }

 private:
  const Cells& cells_;
  const Cell& cell_;
  mutable std::deque<base::Bytes> from_blobs_;
  mutable std::optional<base::Error> error_;
};

}  // namespace holdfast::kernel
