// SPDX-License-Identifier: Apache-2.0
// Draft: what happens during one tick, gathered for its record. Each instance that is touched has
// one entry, in the order in which they were touched first. Entries are used again from tick to
// tick, and what they can borrow from the world or the commands they do not copy.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "kernel/cell.h"
#include "kernel/halt.h"
#include "kernel/limits.h"
#include "kernel/outcome.h"

namespace holdfast::kernel {

struct Opened {
  base::Hash intent;
  std::string_view effect;
  base::ByteView params;
};

struct Settled {
  base::Hash intent;
  ReceiptStatus status;
};

struct Emitted {
  std::string_view schema;
  base::Bytes value;
};

struct Touched {
  std::string_view workflow;
  base::ByteView key;
  std::uint64_t previous_record = 0;
  Cell* cell = nullptr;  // null: it was deleted
  std::uint16_t steps = 0;
  bool ended = false;         // by this tick: its outcome belongs into the record
  bool is_unhandled = false;  // it was not there, and what came did not begin it
  std::uint32_t ignored = 0;  // messages that came after its end
  std::vector<Opened> opened;
  std::vector<Settled> settled;
  std::vector<base::Bytes> annotations;
};
static_assert(kMaxDeliveriesPerTick <= UINT16_MAX);
static_assert(sizeof(Touched) == 128, "entries are found by a shift");

// Something worth knowing that is not about an instance's state: what it is, and the details.
struct Note {
  std::string_view what;
  std::vector<std::string> details;
};

class Draft {
 public:
  std::vector<Emitted> emitted;
  std::vector<Note> notes;
  std::vector<Halt> halts;
  std::vector<Command> commands;
  std::uint32_t deliveries = 0;  // messages put in mailboxes
  std::uint32_t ignored = 0;     // messages to instances that had ended
  std::size_t addressed = 0;     // of the entries: those that the event itself is for
  std::uint32_t steps = 0;
  std::size_t output_bytes = 0;   // of all steps: values, names, errors
  std::size_t quiet_intents = 0;  // opened or settled without a command, each time
  bool used_rules_2 = false;      // kRules2 in record.h
  bool used_rules_3 = false;
  bool used_rules_4 = false;

  // What the record has besides what came in, or more.
  std::size_t weight() const noexcept {
    return output_bytes + count_ * kInstanceBytes + emitted.size() * kEmittedBytes +
           (commands.size() + quiet_intents) * kIntentBytes;
  }

  // No turns are taken behind this tick.
  void spend_turns() noexcept { steps = kMaxDeliveriesPerTick; }

  // A new entry for an instance.
  Touched& add(std::string_view workflow, Cell& cell);
  Touched& touched(std::size_t index) { return entries_[index]; }
  std::size_t touched_count() const noexcept { return count_; }

  // A copy that lasts as long as the tick.
  base::ByteView keep(base::ByteView bytes) {
    return kept_.emplace_back(bytes.begin(), bytes.end());
  }

  // The life of an instance ends: its entry stays, and says so. Whatever comes to the same key
  // during this tick has an entry of its own.
  void end_life(Cell& cell);

  // The same for a life that ended in one version of its workflow, where the key begins in another.
  void carry_over(std::uint32_t from, std::uint32_t to, const base::Hash& id) {
    if (from != to) ended_[{to, id}] = ended_.at({from, id});
  }

  // For a key that begins: the record before this one that touched it, if the tick ended its life;
  // 0: none did.
  std::uint64_t record_before(const Cell& cell) const;

  void clear();

 private:
  std::vector<Touched> entries_;
  std::size_t count_ = 0;
  std::vector<base::Bytes> kept_;
  std::map<std::pair<std::uint32_t, base::Hash>, std::uint64_t> ended_;  // by workflow and key
};

}  // namespace holdfast::kernel
