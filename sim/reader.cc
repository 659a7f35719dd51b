// SPDX-License-Identifier: Apache-2.0
#include "sim/reader.h"

#include <iterator>
#include <utility>

namespace holdfast::sim {
namespace {

// The life that a sequence belongs to; nothing: it is before the first.
const Ledger::Stream* life_at(const Ledger::Lives& lives, std::uint64_t sequence) {
  const Ledger::Stream* at = nullptr;
  for (const Ledger::Stream& life : lives) {
    if (life.begun <= sequence) at = &life;
  }
  return at;
}

}  // namespace

void Reader::read(node::LocalWorld& world, node::History& history) {
  if (ledger_.streams().empty() || world.world().next_record() != world.journal().durable() + 1)
    return;
  auto at = ledger_.streams().begin();
  std::advance(at, dice_.below(ledger_.streams().size()));
  const Ledger::Name name = at->first;
  // Now and then from the beginning.
  if (dice_.one_in(5)) read_[name] = 0;
  node::StreamQuery query{{name.first, name.second}, read_[name], 1 + dice_.below(4)};
  const auto cell = world.world().find(name.first, name.second);
  if (!cell) return;
  query.durable = world.journal().durable();
  query.last_record = *cell == nullptr ? 0 : (*cell)->last_record;
  if (*cell != nullptr && (*cell)->terminal()) query.ended_as = name_of((*cell)->status());
  const auto told = [this, name, after = query.after,
                     durable = query.durable](base::Result<node::StreamPage> page) {
    if (page) return hear(name, after, durable, *page);
    report_.sometimes(page.error().code() == base::ErrorCode::kNotFound
                          ? "a stream is not there any more"
                          : "a stream cannot be read now");
  };
  static_cast<void>(history.ask(std::move(query), told).has_value());
}

// It is answered from what was durable when it was asked, or later.
void Reader::hear(const Ledger::Name& name, std::uint64_t after, std::uint64_t asked_at,
                  const node::StreamPage& page) {
  report_.sometimes("a stream is read");
  const auto found = ledger_.streams().find(name);
  if (found == ledger_.streams().end()) return;
  const std::string who = "the stream of " + name.first + ": ";
  // Of the life that it had when it was asked for, or of one that has begun since.
  const Ledger::Stream* life = life_at(found->second, asked_at << 16 | 0xffff);
  const std::uint64_t begun = life == nullptr ? 0 : life->begun;
  if (!page.entries.empty()) {
    life = life_at(found->second, page.entries.front().sequence);
  } else if (page.end && page.end->sequence != 0) {
    life = life_at(found->second, page.end->sequence);
  }
  if (life == nullptr || life->begun < begun)
    return report_.violation(
        who + "an earlier life is read: asked behind " + std::to_string(after) + " at record " +
        std::to_string(asked_at) + ", the life began with " + std::to_string(begun >> 16) +
        ", and it was told " + std::to_string(page.entries.size()) + " entries from " +
        std::to_string(page.entries.empty() ? 0 : page.entries.front().sequence) + ", end " +
        std::to_string(page.end ? page.end->sequence : 0));
  if (life != &found->second.back()) report_.sometimes("a stream begins anew while it is read");
  const Ledger::Stream& stream = *life;
  if (page.truncated != 0) {
    report_.sometimes("a stream is truncated");
    after = read_[name] = page.truncated;
  } else if (after != 0 && after < stream.begun) {
    return report_.violation(who + "goes on in another life");
  }
  if (after == 0) after = stream.begun - 1;
  auto next = stream.entries.upper_bound(after);
  for (const store::StreamEntry& entry : page.entries) {
    if (next == stream.entries.end() || next->first != entry.sequence ||
        next->second != entry.value)
      return report_.violation(
          who + "entry " + std::to_string(entry.sequence) + " is not the next one behind " +
          std::to_string(after) + ", which is " +
          (next == stream.entries.end() ? "none" : std::to_string(next->first)));
    ++next;
    read_[name] = entry.sequence;
  }
  if (page.end) {
    report_.sometimes("a stream comes to its end");
    if (next != stream.entries.end()) report_.violation(who + "ends before its last entry");
    if (stream.ended == 0) report_.violation(who + "has ended, and its instance has not");
    return;
  }
  // One who is told that something is gone has to ask again for what comes behind.
  const bool is_at_end =
      next == stream.entries.end() && page.entries.empty() && page.truncated == 0;
  if (is_at_end && stream.ended != 0 && stream.ended >> 16 <= asked_at)
    report_.violation(who + "has no end");
}

}  // namespace holdfast::sim
