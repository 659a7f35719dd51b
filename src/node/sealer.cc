// SPDX-License-Identifier: Apache-2.0
#include "node/sealer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "node/node_key.h"

namespace holdfast::node {

base::Result<std::unique_ptr<Sealer>> Sealer::open(store::WorldFolder& world,
                                                   store::Journal& journal) {
  auto seals = TRY(store::Seals::open(world));
  if (seals->last() && seals->last()->last > journal.durable()) {
    return base::Error(base::ErrorCode::kConflict, store::kSealsFile,
                       "has sealed record " + std::to_string(seals->last()->last) +
                           ", but the journal ends with record " +
                           std::to_string(journal.durable()));
  }
  auto key = TRY(node_key(world));
  return std::unique_ptr<Sealer>(new Sealer(journal, std::move(seals), std::move(key)));
}

store::RecordNumber Sealer::next() const {
  const store::RecordNumber behind = seals_->last() ? seals_->last()->last + 1 : 1;
  return std::max(behind, journal_.first());
}

base::Result<void> Sealer::run(const SliceLimits& limits) {
  if (lag() == 0) return {};
  const store::RecordNumber first = next();
  if (!reader_ || reader_->cursor() != first) reader_ = TRY(journal_.read(first));
  // Behind records that were trimmed before they were sealed, the chain begins anew.
  const bool follows = seals_->last() && seals_->last()->last + 1 == first;
  SealDraft draft(follows ? seals_->last()->hash : base::Hash{}, first);
  for (std::size_t bytes = 0; draft.records() < limits.records && bytes < limits.bytes;) {
    const auto record = TRY(reader_->next());
    if (!record) break;
    draft.add(record->bytes);
    bytes += record->bytes.size();
  }
  if (draft.records() == 0) return {};
  return seals_->add(draft.sign(*key_), journal_.first());
}

}  // namespace holdfast::node
