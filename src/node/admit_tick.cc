// SPDX-License-Identifier: Apache-2.0
#include "node/admit_tick.h"

#include <algorithm>
#include <string>
#include <utility>

#include "node/refusal.h"

namespace holdfast::node {
namespace {

base::Result<void> make_durable(store::Journal& journal, base::ByteView record) {
  TRY(journal.append({&record, 1}, store::Room::kReserve));
  TRY(journal.sync());
  return {};
}

}  // namespace

base::Result<kernel::Answer> admit_tick(kernel::World& world, store::Journal& journal,
                                        env::Random& random, std::uint64_t time_ns,
                                        const decltype(kernel::Tick::input)& input) {
  if (world.next_record() != journal.durable() + 1) {
    return base::Error(base::ErrorCode::kConflict,
                       "record " + std::to_string(world.next_record() - 1),
                       "the journal is durable up to record " + std::to_string(journal.durable()));
  }
  kernel::Tick tick;
  tick.time_ns = std::max(time_ns, world.latest_ns());
  random.fill(tick.entropy);
  tick.input = input;
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

base::Result<std::uint64_t> admit_or_refuse(kernel::World& world, store::Journal& journal,
                                            env::Random& random, std::uint64_t time_ns,
                                            const decltype(kernel::Tick::input)& input) {
  const std::uint64_t record = world.next_record();
  const kernel::Answer answer = TRY(admit_tick(world, journal, random, time_ns, input));
  if (auto refused = refusal(answer)) return std::move(*refused);
  return record;
}

}  // namespace holdfast::node
