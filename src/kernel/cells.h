// SPDX-License-Identifier: Apache-2.0
// Cells: the instances of one workflow, by key. Ordered, because keys are chosen by outsiders and
// walking over them must give the same order everywhere.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "kernel/cell.h"

namespace holdfast::kernel {

class Cells {
 public:
  using Table = std::map<std::string, std::unique_ptr<Cell>, std::less<>>;

  explicit Cells(std::uint32_t workflow) : workflow_(workflow) {}

  // References to a cell hold until it is erased.
  Cell* find(base::ByteView key);
  const Cell* find(base::ByteView key) const;
  Cell& create(base::ByteView key);
  void erase(base::ByteView key);
  const Table& all() const noexcept { return table_; }

 private:
  std::uint32_t workflow_;
  Table table_;
};

}  // namespace holdfast::kernel
