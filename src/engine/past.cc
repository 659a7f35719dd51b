// SPDX-License-Identifier: Apache-2.0
// A world as it was behind some of its records, beside the one that runs.
#include <algorithm>
#include <span>
#include <utility>

#include "engine/body.h"
#include "engine/past_moment.h"
#include "engine/past_source.h"
#include "engine/translate.h"
#include "node/past_world.h"

namespace holdfast {
namespace {

// One more than is needed, for the case that the first is damaged.
constexpr std::size_t kMostSnapshots = 2;

node::PastLimits inside(const PastLimits& limits, env::Clock& clock) {
  const std::int64_t end_ns = clock.since_boot_ns() + std::chrono::nanoseconds(limits.time).count();
  node::PastLimits made;
  made.records = limits.records;
  made.bytes = limits.bytes;
  made.goes_on = [&clock, end_ns, stopped = limits.stopped]() -> base::Result<void> {
    if (stopped && stopped()) return base::Error(base::ErrorCode::kEnded, "nobody waits for it");
    if (clock.since_boot_ns() < end_ns) return {};
    return base::Error(base::ErrorCode::kTooLarge, "going back that far takes too long");
  };
  return made;
}

}  // namespace

Result<Done> Engine::look_back(const std::vector<std::uint64_t>& records, const PastLimits& limits,
                               const std::function<Result<Done>(PastMoment&)>& show) {
  if (records.empty()) return Done{};
  if (!std::ranges::is_sorted(records))
    return Error{ErrorCode::kInvalid, "the records are not in order"};
  engine::PinnedPast pinned(*body_->world);
  auto source = pinned.source(records.front(), kMostSnapshots);
  if (!source) return engine::outside(source.error());
  std::span<const std::uint64_t> rest = records;
  if (source->first_moment().value_or(records.back() + 1) > records.front()) {
    // Nothing leads to the first of them any more; to later ones something may.
    source = pinned.source(records.back(), engine::PinnedPast::kAll);
    if (!source) return engine::outside(source.error());
    if (const auto earliest = source->first_moment(); earliest && *earliest <= records.back())
      rest = {std::ranges::lower_bound(records, *earliest), records.end()};
  }
  const auto past = pinned.judge(node::PastWorld::at(*source, body_->machines, rest.front(),
                                                     inside(limits, *body_->machine_clock)));
  if (!past) return engine::outside(past.error());
  for (const std::uint64_t record : rest) {
    const auto gone = pinned.judge((*past)->go_on(*source, record));
    if (!gone) return engine::outside(gone.error());
    engine::WorldMoment moment((*past)->world(), record);
    if (auto shown = show(moment); !shown) return shown;
  }
  return Done{};
}

}  // namespace holdfast
