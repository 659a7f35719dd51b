// SPDX-License-Identifier: Apache-2.0
#include "kernel/cells.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "kernel/cell_codec.h"

namespace holdfast::kernel {
namespace {

// A dirty state of this size does not wait for memory to run short.
constexpr std::size_t kLargeStateBytes = std::size_t{1} << 20;

// How many cells one call of trim lets go of, so that no tick pays for a flush before it.
constexpr std::size_t kTrimPerCall = 64;

}  // namespace

std::string_view name_of(Status status) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"running", "waiting", "completed", "failed",
                                                   "cancelled"};
  return kNames[static_cast<std::size_t>(status)];
}

Cells::Cells(std::uint32_t workflow, Blobs& blobs, CellLimits limits)
    : workflow_(workflow), blobs_(blobs), limits_(limits) {}

Cell& Cells::insert(std::unique_ptr<Cell> cell) {
  cell->workflow = workflow_;
  clean_.push_front(cell.get());
  cell->recent = clean_.begin();
  const std::string_view key = base::as_text(cell->key);
  const auto [place, added] = table_.emplace(key, std::move(cell));
  CHECK(added);
  return *place->second;
}

void Cells::use(Cell& cell) {
  std::list<Cell*>& list = list_of(cell);
  list.splice(list.begin(), list, cell.recent);
}

Cell* Cells::find(base::ByteView key) {
  const std::string_view text = base::as_text(key);
  if (const auto found = table_.find(text); found != table_.end()) {
    use(*found->second);
    return found->second.get();
  }
  if (index_.size() == 0 || failure_ || erased_.contains(text)) return nullptr;
  auto bytes = index_.find(blobs_, key_hash(key));
  if (!bytes) {
    failure_ = std::move(bytes).error();
    return nullptr;
  }
  if (!bytes->has_value()) return nullptr;
  auto cell = decode_cell(**bytes);
  if (!cell) {
    failure_ = std::move(cell).error();
    return nullptr;
  }
  return &insert(std::make_unique<Cell>(std::move(*cell)));
}

Cell& Cells::create(base::ByteView key) {
  auto cell = std::make_unique<Cell>();
  cell->key.assign(key.begin(), key.end());
  Cell& made = insert(std::move(cell));
  changed(made);
  ++active_;
  return made;
}

void Cells::erase(base::ByteView key) {
  const auto found = table_.find(base::as_text(key));
  CHECK(found != table_.end());
  Cell& cell = *found->second;
  if (!cell.terminal()) --active_;
  if (cell.dirty) dirty_state_bytes_ -= cell.state.size();
  list_of(cell).erase(cell.recent);
  erased_.emplace(found->first);
  table_.erase(found);
}

void Cells::changed(Cell& cell) {
  if (cell.dirty) return;
  dirty_.splice(dirty_.begin(), clean_, cell.recent);
  cell.dirty = true;
  dirty_state_bytes_ += cell.state.size();
}

void Cells::end(Cell& cell, Phase phase) {
  CHECK(!cell.terminal() && phase != Phase::kActive);
  cell.phase = phase;
  --active_;
}

void Cells::set_state(Cell& cell, base::Bytes state) {
  changed(cell);
  dirty_state_bytes_ += state.size();
  dirty_state_bytes_ -= cell.state.size();
  cell.state = std::move(state);
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
    cell.state = std::move(*bytes);
    if (cell.dirty) dirty_state_bytes_ += cell.state.size();
  }
  return cell.state;
}

base::Result<void> Cells::spill(Cell& cell) {
  if (!cell.state_blob) cell.state_blob = TRY(blobs_.put(cell.state));
  if (cell.dirty) dirty_state_bytes_ -= cell.state.size();
  cell.state = {};
  return {};
}

void Cells::trim() {
  // A cell that stands in a queue is needed soon, and others point to it.
  for (std::size_t looked_at = 0; clean_.size() > limits_.clean_cells && looked_at < kTrimPerCall;
       ++looked_at) {
    Cell& oldest = *clean_.back();
    if (oldest.ready) {
      use(oldest);
      continue;
    }
    clean_.pop_back();
    table_.erase(table_.find(base::as_text(oldest.key)));
  }
  if (!dirty_.empty() && dirty_.front()->state.size() >= kLargeStateBytes)
    keep(spill(*dirty_.front()));
  if (dirty_state_bytes_ <= limits_.dirty_state_bytes) return;
  // Well below the limit, so that this is rare.
  const std::size_t enough = limits_.dirty_state_bytes / 4 * 3;
  for (auto at = dirty_.rbegin(); at != dirty_.rend() && dirty_state_bytes_ > enough && !failure_;
       ++at) {
    if ((*at)->state.size() > kInlineStateBytes) keep(spill(**at));
  }
}

void Cells::keep(base::Result<void> result) {
  if (!result) failure_ = std::move(result).error();
}

base::Result<void> Cells::flush() {
  HashTrie::Changes changes;
  for (const std::string& key : erased_) changes[key_hash(base::as_bytes(key))] = std::nullopt;
  for (Cell* cell : dirty_) {
    if (cell->state.size() > kInlineStateBytes) TRY(spill(*cell));
    changes[key_hash(cell->key)] = encode_cell(*cell);
  }
  TRY(index_.apply(blobs_, changes));
  erased_.clear();
  for (Cell* cell : dirty_) cell->dirty = false;
  clean_.splice(clean_.begin(), dirty_);
  dirty_state_bytes_ = 0;
  return {};
}

base::Result<void> Cells::visit(const std::function<bool(const Cell&)>& visitor) const {
  std::optional<base::Error> problem;
  TRY(index_.visit(blobs_, [&](const base::Hash&, base::ByteView bytes) {
    auto decoded = decode_cell(bytes);
    if (!decoded) {
      problem = std::move(decoded).error();
      return false;
    }
    Cell cell = std::move(decoded).take();
    cell.workflow = workflow_;
    return visitor(cell);
  }));
  if (problem) return std::move(*problem);
  return {};
}

}  // namespace holdfast::kernel
