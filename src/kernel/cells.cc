// SPDX-License-Identifier: Apache-2.0
#include "kernel/cells.h"

#include <array>

#include "base/check.h"

namespace holdfast::kernel {

std::string_view name_of(Status status) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"running", "waiting", "completed", "failed",
                                                   "cancelled"};
  return kNames[static_cast<std::size_t>(status)];
}

Cell* Cells::find(base::ByteView key) {
  const auto found = table_.find(base::as_text(key));
  return found == table_.end() ? nullptr : found->second.get();
}

const Cell* Cells::find(base::ByteView key) const {
  const auto found = table_.find(base::as_text(key));
  return found == table_.end() ? nullptr : found->second.get();
}

Cell& Cells::create(base::ByteView key) {
  auto cell = std::make_unique<Cell>();
  cell->workflow = workflow_;
  cell->key.assign(key.begin(), key.end());
  const auto [place, added] = table_.emplace(base::as_text(key), std::move(cell));
  CHECK(added);
  return *place->second;
}

void Cells::erase(base::ByteView key) {
  const auto found = table_.find(base::as_text(key));
  CHECK(found != table_.end());
  table_.erase(found);
}

}  // namespace holdfast::kernel
