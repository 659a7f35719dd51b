// SPDX-License-Identifier: Apache-2.0
#include "kernel/cells.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "kernel/cell_codec.h"
#include "kernel/read_back.h"

namespace holdfast::kernel {
namespace {

// A dirty state of this size does not wait for memory to run short.
constexpr std::size_t kLargeStateBytes = std::size_t{1} << 20;

// How many cells one call of trim lets go of, so that no tick pays for a flush before it.
constexpr std::size_t kTrimPerCall = 64;

// What moving a state to a blob would free. Small states stay inside the index: counting them would
// have every tick walk over all dirty cells and free nothing.
std::size_t spillable(base::ByteView state) noexcept {
  return state.size() > kInlineStateBytes ? state.size() : 0;
}

base::Error misfit() { return corrupt("a cell in the index does not fit its workflow"); }

}  // namespace

std::string_view name_of(Status status) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"running", "waiting", "completed", "failed",
                                                   "cancelled"};
  return kNames[static_cast<std::size_t>(status)];
}

Cells::Cells(std::uint32_t workflow, Blobs& blobs, CellLimits limits, ReadBack* read_back)
    : workflow_(workflow), blobs_(blobs), limits_(limits), read_back_(read_back) {}

Cell* Cells::find(const base::Hash& id) {
  if (const auto found = table_.find(id); found != table_.end()) {
    order_of(found->second).use(found->second);
    return &found->second;
  }
  if (index_.size() == 0 || failure_ || erased_.contains(id)) return nullptr;
  auto bytes = index_.find(blobs_, cache_, id);
  if (!bytes) {
    failure_ = std::move(bytes).error();
    return nullptr;
  }
  if (!bytes->has_value()) return nullptr;
  auto decoded = decode_cell(**bytes);
  if (!decoded) {
    failure_ = std::move(decoded).error();
    return nullptr;
  }
  decoded->workflow = workflow_;
  decoded->id = id;
  if (read_back_ != nullptr && !read_back_->fits(*decoded)) {
    failure_ = misfit();
    return nullptr;
  }
  Cell& cell = table_[id];
  cell = std::move(decoded).take();
  clean_.add_newest(cell);
  return &cell;
}

Cell& Cells::begin(const base::Hash& id, base::ByteView key) {
  const auto [place, added] = table_.try_emplace(id);
  Cell& cell = place->second;
  if (!added) return cell;
  cell.workflow = workflow_;
  cell.id = id;
  cell.key.assign(key.begin(), key.end());
  cell.dirty = true;
  dirty_.add_newest(cell);
  ++active_;
  return cell;
}

void Cells::erase(Cell& cell) {
  if (!cell.terminal()) --active_;
  if (cell.dirty) spillable_bytes_ -= spillable(cell.state);
  order_of(cell).remove(cell);
  erased_.insert(cell.id);
  table_.erase(base::Hash(cell.id));
}

void Cells::changed(Cell& cell) {
  if (cell.dirty) return;
  clean_.remove(cell);
  dirty_.add_newest(cell);
  cell.dirty = true;
  spillable_bytes_ += spillable(cell.state);
}

void Cells::end(Cell& cell, Phase phase) {
  CHECK(!cell.terminal() && phase != Phase::kActive);
  cell.phase = phase;
  --active_;
}

void Cells::set_state(Cell& cell, base::ByteView state) {
  changed(cell);
  spillable_bytes_ += spillable(state);
  spillable_bytes_ -= spillable(cell.state);
  // Room that a large state had is not kept for a small one.
  if (cell.state.capacity() > kInlineStateBytes + 4 * state.size()) cell.state = {};
  cell.state.assign(state.begin(), state.end());
  cell.state_blob.reset();
  cell.state_hash.reset();
  cell.has_state = true;
}

void Cells::clear_state(Cell& cell) {
  set_state(cell, {});
  cell.has_state = false;
}

std::optional<base::ByteView> Cells::state_of(Cell& cell) {
  if (!cell.has_state) return std::nullopt;
  if (cell.state.empty() && cell.state_blob) {
    auto bytes = blobs_.get(*cell.state_blob);
    if (!bytes) {
      failure_ = std::move(bytes).error();
      return std::nullopt;
    }
    const bool fits =
        cell.state_known || read_back_ == nullptr || read_back_->state_fits(cell, *bytes);
    if (!fits || spillable(*bytes) == 0) {
      failure_ = corrupt("a state in a blob does not fit its workflow");
      return std::nullopt;
    }
    cell.state_known = true;
    cell.state = std::move(*bytes);
    if (cell.dirty) spillable_bytes_ += spillable(cell.state);
  }
  return cell.state;
}

base::Result<void> Cells::spill(Cell& cell) {
  if (!cell.state_blob) cell.state_blob = TRY(blobs_.put(cell.state));
  cell.state_known = true;
  if (cell.dirty) spillable_bytes_ -= spillable(cell.state);
  cell.state = {};
  return {};
}

// A cell that stands in a queue is needed soon, and others point to it.
void Cells::let_go(std::size_t most) {
  for (std::size_t looked_at = 0; clean_.size() > limits_.clean_cells && looked_at < most;
       ++looked_at) {
    Cell& oldest = *clean_.oldest();
    if (oldest.ready) {
      clean_.use(oldest);
      continue;
    }
    clean_.remove(oldest);
    table_.erase(base::Hash(oldest.id));
  }
}

void Cells::trim() {
  let_go(kTrimPerCall);
  if (dirty_.size() != 0 && dirty_.newest()->state.size() >= kLargeStateBytes)
    keep(spill(*dirty_.newest()));
  if (spillable_bytes_ <= limits_.dirty_state_bytes) return;
  // Well below the limit, so that this is rare.
  const std::size_t enough = limits_.dirty_state_bytes / 4 * 3;
  for (Cell* cell = dirty_.oldest(); cell != nullptr && spillable_bytes_ > enough && !failure_;
       cell = cell->newer) {
    if (spillable(cell->state) != 0) keep(spill(*cell));
  }
}

void Cells::keep(base::Result<void> result) {
  if (!result) failure_ = std::move(result).error();
}

base::Result<void> Cells::flush() {
  HashTrie::Changes changes;
  for (const base::Hash& id : erased_) changes[id] = std::nullopt;
  for (Cell* cell = dirty_.oldest(); cell != nullptr; cell = cell->newer) {
    if (spillable(cell->state) != 0) TRY(spill(*cell));
    changes[cell->id] = encode_cell(*cell);
  }
  TRY(index_.apply(blobs_, cache_, changes));
  erased_.clear();
  while (Cell* cell = dirty_.oldest()) {
    dirty_.remove(*cell);
    cell->dirty = false;
    clean_.add_newest(*cell);
  }
  spillable_bytes_ = 0;
  let_go(clean_.size());
  return {};
}

base::Result<void> Cells::visit(const std::function<bool(const Cell&)>& visitor) const {
  std::optional<base::Error> problem;
  TRY(index_.visit(blobs_, [&](const base::Hash& id, base::ByteView bytes) {
    auto decoded = decode_cell(bytes);
    if (!decoded) {
      problem = std::move(decoded).error();
      return false;
    }
    Cell cell = std::move(decoded).take();
    cell.workflow = workflow_;
    cell.id = id;
    if (read_back_ != nullptr && !read_back_->fits(cell)) {
      problem = misfit();
      return false;
    }
    return visitor(cell);
  }));
  if (problem) return std::move(*problem);
  return {};
}

}  // namespace holdfast::kernel
