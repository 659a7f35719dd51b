// SPDX-License-Identifier: Apache-2.0
#include "node/sealer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "node/node_key.h"

namespace holdfast::node {
namespace {

base::Error seals_do_not_fit(const std::string& why) {
  return {base::ErrorCode::kConflict, store::kSealsFile, why};
}

// That what was sealed last is what stands there; its records may have been trimmed.
base::Result<void> check_last(store::Journal& journal, const store::WorldFolder& world,
                              const store::Seal& last, const std::optional<store::Seal>& before) {
  const std::string name = "record " + std::to_string(last.last);
  if (last.last > journal.durable()) {
    return seals_do_not_fit("has sealed " + name + ", but the journal ends with record " +
                            std::to_string(journal.durable()));
  }
  if (!is_signed(last, world.id(), world.restored()))
    return seals_do_not_fit("the seal of " + name + " is not signed");
  if (last.first < journal.first()) return {};
  const bool follows = before && before->last + 1 == last.first;
  SealDraft draft(follows ? before->hash : base::Hash{}, last.first);
  const auto reader = TRY(journal.read(last.first));
  while (reader->cursor() <= last.last) draft.add(TRY(reader->next()).value().bytes);
  if (draft.hash() == last.hash) return {};
  return seals_do_not_fit("what was sealed up to " + name + " is not what stands in this journal");
}

base::Result<std::unique_ptr<executors::SigningKey>> key_for(
    store::WorldFolder& world, const std::optional<store::Seal>& last) {
  auto key = read_node_key(world);
  if (!key && key.error().code() == base::ErrorCode::kNotFound && !last) {
    TRY(make_node_key(world));
    return read_node_key(world);
  }
  if (!key) return key;
  if (last && (*key)->public_key() != last->key)
    return seals_do_not_fit("was signed with key " + base::to_hex(last->key) +
                            ", which is not here");
  return key;
}

}  // namespace

base::Result<std::unique_ptr<Sealer>> Sealer::open(store::WorldFolder& world,
                                                   store::Journal& journal) {
  auto seals = TRY(store::Seals::open(world));
  auto key = TRY(key_for(world, seals->last()));
  if (seals->last()) TRY(check_last(journal, world, *seals->last(), seals->before_last()));
  return std::unique_ptr<Sealer>(new Sealer(journal, world, std::move(seals), std::move(key)));
}

store::RecordNumber Sealer::next() const {
  const store::RecordNumber behind = seals_->last() ? seals_->last()->last + 1 : 1;
  return std::max(behind, journal_.first());
}

base::Result<bool> Sealer::run(const SliceLimits& limits) {
  if (lag() == 0) return false;
  store::RecordNumber first = next();
  if (!reader_ || reader_->cursor() != first) reader_ = TRY(journal_.read(first));
  // Behind records that were trimmed before they were sealed, the chain begins anew.
  const bool follows = seals_->last() && seals_->last()->last + 1 == first;
  base::Hash before = follows ? seals_->last()->hash : base::Hash{};
  std::vector<store::Seal> made;
  std::size_t records = 0;
  std::size_t bytes = 0;
  const auto is_full = [&] { return records >= limits.records || bytes >= limits.bytes; };
  for (bool is_end = false; !is_end && !is_full();) {
    SealDraft draft(before, first);
    while (draft.records() < store::kMaxSealRecords && !is_full()) {
      const auto record = TRY(reader_->next());
      is_end = !record;
      if (is_end) break;
      draft.add(record->bytes);
      bytes += record->bytes.size();
      ++records;
    }
    if (draft.records() == 0) break;
    made.push_back(draft.sign(*key_, world_, life_));
    before = made.back().hash;
    first = made.back().last + 1;
  }
  // By where the journal began on the disk the last time: a trim that is not durable yet may be
  // undone, and what is held for a reader is there after a restart.
  TRY(seals_->add(made, first_));
  first_ = journal_.first_on_disk();
  return is_full();
}

}  // namespace holdfast::node
