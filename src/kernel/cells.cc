// SPDX-License-Identifier: Apache-2.0
#include "kernel/cells.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/sha256.h"
#include "kernel/cell_codec.h"
#include "kernel/machine.h"
#include "kernel/read_back.h"

namespace holdfast::kernel {
namespace {

// How many cells one call of trim lets go of, so that no tick pays for a flush before it.
constexpr std::size_t kTrimPerCall = 64;

// What moving a value to a blob would free. Small ones stay inside the index: counting them would
// have every tick walk over all dirty cells and free nothing.
std::size_t spillable_in(base::ByteView value) noexcept {
  return value.size() > kInlineValueBytes ? value.size() : 0;
}

std::size_t spillable_in(const Cell& cell) noexcept {
  return spillable_in(cell.state) + cell.part_bytes + spillable_in(cell.outcome) +
         cell.mail.spillable();
}

// How many notes of dirty cells need not be looked through, however few are dirty.
constexpr std::size_t kFewNotes = 4096;

void sort_once(std::vector<base::Hash>& ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// Of large values a part has no more than this and one cell, however few cells that are.
constexpr std::size_t kAheadBytes = std::size_t{4} << 20;

// A part ends where the first bits of the ids change: cells of one leaf are written together.
std::size_t ahead_group(const base::Hash& id) noexcept {
  return (std::size_t{id.bytes[0]} << 4) | (id.bytes[1] >> 4);
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
  auto made = read(id, **bytes);
  if (!made) {
    failure_ = std::move(made).error();
    return nullptr;
  }
  Cell& cell = table_[id];
  cell = std::move(made).take();
  cell.indexed = true;
  clean_.add_newest(cell);
  recount(cell);
  return &cell;
}

base::Result<Cell> Cells::read(const base::Hash& id, base::ByteView entry) const {
  Cell cell = TRY(decode_cell(entry, blobs_));
  cell.workflow = workflow_;
  cell.id = id;
  if (read_back_ != nullptr && !read_back_->fits(cell)) return misfit();
  return cell;
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
  note_dirty(cell);
  ++active_;
  ++size_;
  return cell;
}

void Cells::erase(Cell& cell) {
  if (!cell.terminal()) --active_;
  --size_;
  bytes_with(cell) -= cell.spillable;
  order_of(cell).remove(cell);
  // What came and went between two flushes leaves nothing behind.
  if (cell.indexed) erased_.insert(cell.id);
  table_.erase(base::Hash(cell.id));
}

void Cells::mark_dirty(Cell& cell) {
  if (cell.dirty) return;
  clean_.remove(cell);
  dirty_.add_newest(cell);
  bytes_with(cell) -= cell.spillable;
  cell.dirty = true;
  bytes_with(cell) += cell.spillable;
  note_dirty(cell);
}

// Keys that come and go leave notes behind, which must not pile up.
void Cells::note_dirty(const Cell& cell) {
  if (notes_ == nullptr) notes_ = std::make_unique<Notes>();
  (*notes_)[cell.id.bytes[0]].push_back(cell.id);
  if (++noted_ > 2 * dirty_.size() + kFewNotes) forget_clean_notes();
}

void Cells::forget_clean_notes() {
  noted_ = 0;
  for (std::vector<base::Hash>& group : *notes_) {
    sort_once(group);
    std::erase_if(group, [this](const base::Hash& id) {
      const auto found = table_.find(id);
      return found == table_.end() || !found->second.dirty;
    });
    noted_ += group.size();
  }
}

void Cells::recount(Cell& cell) noexcept {
  const std::size_t now = spillable_in(cell);
  bytes_with(cell) += now;
  bytes_with(cell) -= cell.spillable;
  cell.spillable = now;
}

void Cells::changed(Cell& cell) {
  mark_dirty(cell);
  recount(cell);
}

void Cells::end(Cell& cell, Phase phase) {
  CHECK(!cell.terminal() && phase != Phase::kActive);
  cell.phase = phase;
  --active_;
}

void Cells::set_state(Cell& cell, base::ByteView state) {
  mark_dirty(cell);
  // Room that a large state had is not kept for a small one.
  if (cell.state.capacity() > kInlineValueBytes + 4 * state.size()) cell.state = {};
  cell.state.assign(state.begin(), state.end());
  cell.state_blob.reset();
  cell.state_hash.reset();
  cell.has_state = true;
  recount(cell);
}

void Cells::clear_state(Cell& cell) {
  set_state(cell, {});
  cell.parts.clear();
  cell.part_bytes = 0;
  cell.has_state = false;
  recount(cell);
}

void Cells::set_parts(Cell& cell, const StepOutput& output) {
  std::vector<StatePart> before = std::exchange(cell.parts, {});
  cell.parts.reserve(output.parts().size());
  cell.part_bytes = 0;
  auto next = before.begin();
  for (const StepOutput::Part& part : output.parts()) {
    StatePart& added = cell.parts.emplace_back(StatePart{part.hash, {}});
    if (part.bytes.begin != part.bytes.end) {
      const base::ByteView bytes = output.value(part.bytes);
      added.bytes.assign(bytes.begin(), bytes.end());
    } else {
      while (next->hash != part.hash) ++next;
      added.bytes = std::move((next++)->bytes);
    }
    cell.part_bytes += added.bytes.size();
  }
  recount(cell);
}

void Cells::set_parts(Cell& cell, const std::vector<base::Bytes>& parts) {
  cell.parts.clear();
  cell.part_bytes = 0;
  for (const base::Bytes& part : parts) {
    cell.parts.push_back({base::sha256(part), part});
    cell.part_bytes += part.size();
  }
  recount(cell);
}

base::Result<base::ByteView> Cells::part_of(const Cell& cell, const base::Hash& part,
                                            base::Bytes& from_blob) const {
  const auto found = std::ranges::find(cell.parts, part, &StatePart::hash);
  if (found == cell.parts.end()) return corrupt("a state names a part that it does not have");
  if (!found->bytes.empty()) return base::ByteView(found->bytes);
  from_blob = TRY(blobs_.get(part));
  return base::ByteView(from_blob);
}

base::Result<std::optional<base::ByteView>> Cells::state_of(Cell& cell) {
  if (!cell.has_state) return std::optional<base::ByteView>();
  if (cell.state.empty() && cell.state_blob) {
    base::Bytes bytes = TRY(blobs_.get(*cell.state_blob));
    const bool fits =
        cell.state_known || read_back_ == nullptr || read_back_->state_fits(cell, bytes);
    if (!fits || spillable_in(bytes) == 0)
      return contradicts("a state in a blob does not fit its workflow");
    cell.state_known = true;
    cell.state = std::move(bytes);
    recount(cell);
  }
  return std::optional<base::ByteView>(cell.state);
}

base::Result<base::Bytes> Cells::outcome_of(const Cell& cell) {
  if (!cell.outcome_blob || !cell.outcome.empty()) return cell.outcome;
  base::Bytes bytes = TRY(blobs_.get(*cell.outcome_blob));
  const bool fits = read_back_ == nullptr || read_back_->outcome_fits(bytes);
  if (fits && spillable_in(bytes) != 0) return bytes;
  return contradicts("an outcome in a blob is none");
}

base::Result<void> Cells::bring_back(Mail& mail) {
  if (!mail.away) return {};
  const PutAway away = *mail.away;
  mail.value = TRY(blobs_.get(away.blob));
  mail.away.reset();
  const bool fits = mail.value.size() == away.size &&
                    (read_back_ == nullptr || read_back_->mail_fits(workflow_, mail));
  if (!fits) return contradicts("mail in a blob does not fit its workflow");
  return {};
}

base::Error Cells::contradicts(std::string_view what) {
  failure_ = corrupt(what);
  return corrupt(what);
}

base::Result<void> Cells::spill(Cell& cell) {
  if (spillable_in(cell.state) != 0) {
    if (!cell.state_blob) cell.state_blob = TRY(blobs_.put(cell.state));
    cell.state_known = true;
    cell.state = {};
  }
  for (StatePart& part : cell.parts) {
    if (part.bytes.empty()) continue;
    TRY(blobs_.put(part.bytes));
    cell.part_bytes -= part.bytes.size();
    part.bytes = {};
  }
  if (spillable_in(cell.outcome) != 0) {
    if (!cell.outcome_blob) cell.outcome_blob = TRY(blobs_.put(cell.outcome));
    cell.outcome = {};
  }
  TRY(cell.mail.put_away([this](base::ByteView value) { return blobs_.put(value); }));
  recount(cell);
  return {};
}

// A cell that stands in a queue is needed soon, and others point to it.
void Cells::let_go(std::size_t most) {
  const auto are_too_many = [this] {
    return clean_.size() > limits_.clean_cells || clean_bytes_ > limits_.clean_bytes;
  };
  for (std::size_t looked_at = 0; are_too_many() && looked_at < most; ++looked_at) {
    Cell& oldest = *clean_.oldest();
    if (oldest.ready) {
      clean_.use(oldest);
      continue;
    }
    clean_.remove(oldest);
    clean_bytes_ -= oldest.spillable;
    table_.erase(base::Hash(oldest.id));
  }
}

void Cells::trim() {
  let_go(kTrimPerCall);
  if (spillable_bytes_ <= limits_.dirty_bytes) return;
  // Where there was no room, the same again would find none, and cost as much with every tick.
  if (refused_at_ != 0 && spillable_bytes_ < refused_at_ + limits_.dirty_bytes / 8) return;
  refused_at_ = 0;
  // Well below the limit, so that this is rare.
  const std::size_t enough = limits_.dirty_bytes / 4 * 3;
  for (Cell* cell = dirty_.oldest(); cell != nullptr && spillable_bytes_ > enough;
       cell = cell->newer) {
    if (cell->spillable == 0) continue;
    auto spilled = spill(*cell);
    if (spilled) continue;
    // Without room on the disk they stay in memory, and it is tried again when there are more.
    if (spilled.error().code() == base::ErrorCode::kUnavailable) {
      refused_at_ = spillable_bytes_;
    } else {
      failure_ = std::move(spilled).error();
    }
    return;
  }
}

// The cells, and what else has changed: all of it or, where there is no room, nothing.
base::Result<void> Cells::write(const std::vector<Cell*>& cells, HashTrie::Changes changes) {
  for (Cell* cell : cells) {
    TRY(spill(*cell));
    changes[cell->id] = TRY(encode_cell(*cell, blobs_));
  }
  TRY(index_.apply(blobs_, cache_, std::move(changes)));
  refused_at_ = 0;
  for (Cell* cell : cells) {
    if (!erased_.empty()) erased_.erase(cell->id);  // one that was begun again
    dirty_.remove(*cell);
    bytes_with(*cell) -= cell->spillable;
    cell->dirty = false;
    bytes_with(*cell) += cell->spillable;
    cell->indexed = true;
    clean_.add_newest(*cell);
  }
  return {};
}

base::Result<HashTrie> Cells::joined_with(const Cells& other) {
  HashTrie::Changes changes;
  TRY(other.index_.visit(blobs_, [&](const base::Hash& id, base::ByteView entry) {
    changes[id] = base::Bytes(entry.begin(), entry.end());
    return true;
  }));
  HashTrie made = index_;
  TRY(made.apply(blobs_, cache_, std::move(changes)));
  return made;
}

base::Result<void> Cells::flush() {
  HashTrie::Changes changes;
  changes.reserve(erased_.size() + dirty_.size());
  for (const base::Hash& id : erased_) changes[id] = std::nullopt;
  std::vector<Cell*> cells;
  cells.reserve(dirty_.size());
  for (Cell* cell = dirty_.oldest(); cell != nullptr; cell = cell->newer) cells.push_back(cell);
  TRY(write(cells, std::move(changes)));
  erased_.clear();
  notes_.reset();
  noted_ = 0;
  ahead_ = {};
  next_group_ = 0;
  let_go(clean_.size());
  return {};
}

// The next group of the round that has any. In order, so that cells of one leaf come together.
void Cells::gather_group() {
  while (notes_ != nullptr && ahead_.empty() && next_group_ < kNoteGroups) {
    std::swap(ahead_, (*notes_)[next_group_++]);
    noted_ -= ahead_.size();
  }
  sort_once(ahead_);
  std::ranges::reverse(ahead_);
}

base::Result<bool> Cells::flush_ahead(std::size_t& budget) {
  std::vector<Cell*> cells;
  std::size_t bytes = 0;
  for (;;) {
    if (ahead_.empty()) gather_group();
    if (ahead_.empty()) break;
    const base::Hash id = ahead_.back();
    const bool is_full = !cells.empty() && cells.size() >= budget;
    if (bytes >= kAheadBytes || (is_full && ahead_group(id) != ahead_group(cells.back()->id)))
      break;
    ahead_.pop_back();
    const auto found = table_.find(id);
    if (found == table_.end() || !found->second.dirty) continue;
    cells.push_back(&found->second);
    bytes += found->second.spillable;
  }
  if (auto written = write(cells, {}); !written) {
    for (const Cell* cell : cells) note_dirty(*cell);  // they still are
    return std::move(written).error();
  }
  budget -= std::min(budget, cells.size());
  let_go(cells.size());
  if (!ahead_.empty()) return true;
  ahead_ = {};
  next_group_ = 0;
  return false;
}

base::Result<void> Cells::visit_active(std::size_t& budget,
                                       const std::function<bool(const Cell&)>& visitor) const {
  std::uint64_t left = active_;
  const auto see = [&](const Cell& cell) {
    if (cell.terminal()) return true;
    --left;
    return visitor(cell);
  };
  for (const UseOrder* order : {&dirty_, &clean_}) {
    for (const Cell* cell = order->oldest(); cell != nullptr && left != 0; cell = cell->newer) {
      if (budget == 0 || !see(*cell)) return {};
      --budget;
    }
  }
  if (left == 0 || budget == 0) return {};
  std::optional<base::Error> error;
  TRY(index_.visit(blobs_, [&](const base::Hash& id, base::ByteView entry) {
    if (budget == 0 || left == 0) return false;
    --budget;
    if (table_.contains(id) || erased_.contains(id)) return true;
    std::vector<base::Hash> chunks;
    auto cell = decode_cell(entry, chunks);
    // Mail is read where it matters.
    if (cell && !cell->terminal()) cell = read(id, entry);
    if (!cell) {
      error = std::move(cell).error();
      return false;
    }
    return see(*cell);
  }));
  if (error) return std::move(*error);
  return {};
}

base::Result<void> Cells::visit(const std::function<bool(const Cell&)>& visitor) const {
  std::optional<base::Error> problem;
  TRY(index_.visit(blobs_, [&](const base::Hash& id, base::ByteView bytes) {
    auto cell = read(id, bytes);
    if (cell) return visitor(*cell);
    problem = std::move(cell).error();
    return false;
  }));
  if (problem) return std::move(*problem);
  return {};
}

}  // namespace holdfast::kernel
