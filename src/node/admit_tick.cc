// SPDX-License-Identifier: Apache-2.0
#include "node/admit_tick.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernel/record_view.h"

namespace holdfast::node {
namespace {

// How many of a list a message names.
constexpr std::size_t kMostNamed = 20;

base::Result<void> make_durable(store::Journal& journal, base::ByteView record) {
  TRY(journal.append({&record, 1}, store::Room::kReserve));
  TRY(journal.sync());
  return {};
}

base::Error error_of(const kernel::Refused& refused) {
  std::string message = refused.message;
  for (std::size_t i = 0; i < refused.details.size() && i < kMostNamed; ++i)
    message += (i == 0 ? ": " : "; ") + refused.details[i];
  if (refused.details.size() > kMostNamed) message += "; and more";
  return {refused.code, std::move(message)};
}

base::Error error_of(const kernel::Blocked& blocked) {
  std::string message = std::to_string(blocked.count) + " instances have not ended: ";
  for (std::size_t i = 0; i < blocked.blockers.size() && i < kMostNamed; ++i) {
    const kernel::Blocker& blocker = blocked.blockers[i];
    message += (i == 0 ? "" : ", ") + kernel::instance_text(blocker.workflow, blocker.key);
  }
  if (blocked.count > kMostNamed) message += " and others";
  return {base::ErrorCode::kConflict, std::move(message)};
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
  if (const auto* refused = std::get_if<kernel::Refused>(&answer)) return error_of(*refused);
  if (const auto* blocked = std::get_if<kernel::Blocked>(&answer)) return error_of(*blocked);
  return record;
}

}  // namespace holdfast::node
