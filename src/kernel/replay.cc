// SPDX-License-Identifier: Apache-2.0
// Doing again what a record says was done.
#include <algorithm>
#include <string>

#include "codec/json_writer.h"
#include "codec/view.h"
#include "kernel/record.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

constexpr std::size_t kInstances = 5;  // the place of the touched instances in a record

codec::View field(codec::View list, std::size_t index) {
  auto at = list.elements().begin();
  for (; index > 0; --index) ++at;
  return *at;
}

std::string name_of(codec::View instance) {
  const auto key = field(instance, 1).bytes();
  std::string name(field(instance, 0).text().value_or(""));
  if (key && !key->empty()) name += " " + codec::to_json(codec::View::of(*key));
  return name;
}

// Which instance came out differently; empty: what differs is not about one.
std::string first_difference(base::ByteView recorded, base::ByteView now) {
  const codec::View before = field(codec::View::of(recorded), kInstances);
  const codec::View after = field(codec::View::of(now), kInstances);
  const auto before_all = before.elements();
  const auto after_all = after.elements();
  auto b = after_all.begin();
  for (auto a = before_all.begin(); a != before_all.end(); ++a) {
    if (b == after_all.end()) return name_of(*a);
    const base::ByteView was = (*a).encoded();
    const base::ByteView is = (*b).encoded();
    if (!std::equal(was.begin(), was.end(), is.begin(), is.end())) return name_of(*a);
    ++b;
  }
  return b == after_all.end() ? "" : name_of(*b);
}

base::Error differs(std::uint64_t record, std::string message) {
  return {base::ErrorCode::kConflict, "record " + std::to_string(record), std::move(message)};
}

}  // namespace

base::Result<Outcome> World::replay(base::ByteView record) {
  const std::uint64_t number = state_->next_record;
  const Tick tick = TRY(tick_of(record));
  state_->replaying = true;
  Outcome outcome = reduce(tick);
  state_->replaying = false;
  if (outcome.failure) return std::move(*outcome.failure);
  if (outcome.record.empty()) {
    const auto* refusal = std::get_if<Refused>(&outcome.answer);
    return differs(number, refusal != nullptr ? "it is refused now: " + refusal->message
                                              : "it has no effect now");
  }
  if (std::equal(record.begin(), record.end(), outcome.record.begin(), outcome.record.end()))
    return outcome;
  const std::string instance = first_difference(record, outcome.record);
  return differs(number, instance.empty() ? "its outcome is another one now"
                                          : "the outcome of " + instance + " is another one now");
}

}  // namespace holdfast::kernel
