// SPDX-License-Identifier: Apache-2.0
#include "node/intervene.h"

#include <string>
#include <utility>

namespace holdfast::node {
namespace {

base::Result<void> make_durable(store::Journal& journal, base::ByteView record) {
  TRY(journal.append({&record, 1}, store::Room::kReserve));
  TRY(journal.sync());
  return {};
}

}  // namespace

base::Result<kernel::Answer> intervene(kernel::World& world, store::Journal& journal,
                                       env::Random& random, std::uint64_t time_ns,
                                       const kernel::ControlRequested& request) {
  if (request.control == kernel::Control::kResume)
    return base::invalid("", "an instance is resumed when its world runs");
  if (world.next_record() != journal.durable() + 1) {
    return base::Error(base::ErrorCode::kConflict,
                       "record " + std::to_string(world.next_record() - 1),
                       "the journal is durable up to record " + std::to_string(journal.durable()));
  }
  kernel::Tick tick;
  tick.time_ns = time_ns;
  random.fill(tick.entropy);
  tick.input = request;
  kernel::Outcome outcome = world.reduce(tick);
  if (outcome.failure) return std::move(*outcome.failure);
  if (outcome.record.empty()) return std::move(outcome.answer);
  auto durable = make_durable(journal, outcome.record);
  if (!durable) {
    world.fail(durable.error());
    return std::move(durable).error();
  }
  return std::move(outcome.answer);
}

}  // namespace holdfast::node
