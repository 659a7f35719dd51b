// SPDX-License-Identifier: Apache-2.0
// Cells: the instances of one workflow, by key. In memory are those that changed since the last
// flush, those that have mail, and the most recently used of the others; the rest sleeps in the
// index. A cell is looked for in memory first, then in the index.
//
// Nothing that is decided depends on which cells are in memory. An index that cannot be read, and a
// value that contradicts what is known of its cell, stop the world: `failure` is set, and whatever
// is answered after that must not be used. A value whose blob cannot be read is one cell's trouble:
// it is told to the caller and nothing is set.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/kept_hash.h"
#include "kernel/blobs.h"
#include "kernel/cell.h"
#include "kernel/cell_order.h"
#include "kernel/hash_trie.h"

namespace holdfast::kernel {

class ReadBack;
class StepOutput;

struct CellLimits {
  std::size_t clean_cells = 4096;  // kept in memory beyond those in use
  // Of states, outcomes and mail that are too large for the index, before they move to blobs.
  std::size_t dirty_bytes = std::size_t{256} << 20;
  // The same of clean cells, which have read them back from blobs, before the cells are let go of.
  std::size_t clean_bytes = std::size_t{64} << 20;
};

class Cells {
 public:
  // `read_back` is asked about what comes from the index; without one nobody is.
  Cells(std::uint32_t workflow, Blobs& blobs, CellLimits limits = {},
        ReadBack* read_back = nullptr);

  // By the hash of its key, see cell_codec.h. A reference to a cell holds until the cell is erased,
  // flushed or trimmed.
  Cell* find(const base::Hash& id);

  // The cell of a key that was looked for during this tick and not found. It may have begun since.
  Cell& begin(const base::Hash& id, base::ByteView key);
  void erase(Cell& cell);

  // To be told, after a tick, of every cell that it touched.
  void changed(Cell& cell);

  // Ends a cell that has not ended.
  void end(Cell& cell, Phase phase);

  // How many have not ended.
  std::uint64_t active() const noexcept { return active_; }

  // How many there are.
  std::uint64_t size() const noexcept { return size_; }

  void set_state(Cell& cell, base::ByteView state);
  void clear_state(Cell& cell);

  // The parts of the state that was just set. Those of before must be in the same order.
  void set_parts(Cell& cell, const StepOutput& output);

  // The same with parts that stand here in full.
  void set_parts(Cell& cell, const std::vector<base::Bytes>& parts);

  // A part of the state of a cell: `from_blob` is where it is read to if it is in its blob.
  base::Result<base::ByteView> part_of(const Cell& cell, const base::Hash& part,
                                       base::Bytes& from_blob) const;

  // The state of a cell, brought back from its blob if it is there. Nothing: it has none.
  base::Result<std::optional<base::ByteView>> state_of(Cell& cell);

  // The result or error of a cell, read from its blob if it is there; empty: it has none. For
  // people: the cell stays as it is.
  base::Result<base::Bytes> outcome_of(const Cell& cell);

  // Brings the value of a message back. After an error the message is as it was.
  base::Result<void> bring_back(Mail& mail);

  // Lets go of clean cells beyond the limit, and moves old dirty values to blobs when there are too
  // many. To be called between ticks; what it does does not grow with the number of cells.
  void trim();

  // Writes everything that changed to the index. The root then stands for all cells.
  base::Result<void> flush();

  // The same for some of it, so that less is left to a flush: a round over what is dirty, in parts
  // of about `budget` cells, which lie side by side in the index. What it has written is taken off
  // the budget. What becomes dirty behind the place that a round has come to is left to the next.
  // False: the round is over.
  base::Result<bool> flush_ahead(std::size_t& budget);

  // How many a flush would write.
  std::size_t dirty() const noexcept { return dirty_.size(); }

  // The index with what another one has besides; both must be flushed. Nothing changes yet.
  base::Result<HashTrie> joined_with(const Cells& other);
  void use_joined(const HashTrie& index) {
    index_ = index;
    size_ = index.size();
  }

  const HashTrie& index() const noexcept { return index_; }
  void restore(HashTrie index, std::uint64_t active) {
    index_ = index;
    active_ = active;
    size_ = index.size();
  }

  const std::optional<base::Error>& failure() const noexcept { return failure_; }
  void forget_failure() noexcept { failure_.reset(); }  // of one who only asked
  std::size_t in_memory() const noexcept { return table_.size(); }
  bool holds(const base::Hash& id) const { return table_.contains(id); }  // in memory

  // All cells in the order of their key hashes; to be called when everything is flushed. The
  // visitor says whether to go on.
  base::Result<void> visit(const std::function<bool(const Cell&)>& visitor) const;

  // Those that have not ended, in no order that means anything: first the ones in memory. No more
  // than `budget` cells are looked at, ended or not, which is taken off it. Nothing is written.
  base::Result<void> visit_active(std::size_t& budget,
                                  const std::function<bool(const Cell&)>& visitor) const;

 private:
  // Only looked into. Keys come from outside, so the table's own hash is one that nobody can guess.
  using Table = std::unordered_map<base::Hash, Cell, base::KeptHash<base::HashOfHash>>;

  base::Result<Cell> read(const base::Hash& id, base::ByteView entry) const;
  void mark_dirty(Cell& cell);
  void recount(Cell& cell) noexcept;
  base::Error contradicts(std::string_view what);
  void let_go(std::size_t most);
  base::Result<void> spill(Cell& cell);
  void note_dirty(const Cell& cell);
  void forget_clean_notes();
  void gather_group();
  base::Result<void> write(const std::vector<Cell*>& cells, HashTrie::Changes changes);
  UseOrder& order_of(const Cell& cell) noexcept { return cell.dirty ? dirty_ : clean_; }
  std::size_t& bytes_with(const Cell& cell) noexcept {
    return cell.dirty ? spillable_bytes_ : clean_bytes_;
  }

  std::uint32_t workflow_;
  Blobs& blobs_;
  CellLimits limits_;
  ReadBack* read_back_;
  Table table_;
  UseOrder clean_;
  UseOrder dirty_;
  std::size_t spillable_bytes_ = 0;  // of dirty cells; see spillable_in() in cells.cc
  std::size_t clean_bytes_ = 0;      // the same of the others
  std::size_t refused_at_ = 0;       // so many of them when the disk had no room; 0: it has
  std::set<base::Hash> erased_;      // since the last flush, of those that the index has

  // What became dirty, by the first byte of the ids, so that a round of flush_ahead has never to
  // look at all of it: an id may be there twice, or of a cell that is clean or gone by now. Null:
  // nothing was dirty yet.
  static constexpr std::size_t kNoteGroups = 256;
  using Notes = std::array<std::vector<base::Hash>, kNoteGroups>;
  std::unique_ptr<Notes> notes_;
  std::size_t noted_ = 0;
  std::vector<base::Hash> ahead_;  // of the present group of a round, in order, the next one last
  std::size_t next_group_ = 0;     // of the round
  HashTrie index_;
  TrieCache cache_;
  std::uint64_t active_ = 0;
  std::uint64_t size_ = 0;
  std::optional<base::Error> failure_;
};

}  // namespace holdfast::kernel
