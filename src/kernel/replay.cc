// SPDX-License-Identifier: Apache-2.0
// Doing again what a record says was done.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "kernel/cell_codec.h"
#include "kernel/list_reader.h"
#include "kernel/record_view.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

constexpr std::size_t kInstances = 5;  // the place of the touched instances in a record

// What is recorded is canonical, but nobody knows who wrote it: it may have any form.
codec::View instances_of(base::ByteView record) {
  ListReader fields(codec::View::of(record));
  for (std::size_t i = 0; i < kInstances; ++i) fields.next();
  return fields.next();
}

// Empty: it is no instance.
std::string name_of(codec::View instance) {
  ListReader fields(instance);
  const std::string_view workflow = fields.text();
  const base::ByteView key = fields.bytes();
  return fields.good() ? instance_text(workflow, key) : "";
}

// Which instance came out differently; empty: what differs is not about one.
std::string first_difference(base::ByteView recorded, base::ByteView now) {
  ListReader before(instances_of(recorded));
  ListReader after(instances_of(now));
  while (!before.at_end() && !after.at_end()) {
    const codec::View was = before.next();
    const codec::View is = after.next();
    if (!base::equal(was.encoded(), is.encoded())) return name_of(was);
  }
  if (!before.at_end()) return name_of(before.next());
  return after.at_end() ? "" : name_of(after.next());
}

// What came of the record now, in words.
std::string difference(base::ByteView recorded, const Outcome& now) {
  if (now.record.empty()) {
    const auto* refusal = std::get_if<Refused>(&now.answer);
    return refusal != nullptr ? "it is refused now: " + refusal->message : "it has no effect now";
  }
  const std::string instance = first_difference(recorded, now.record);
  return instance.empty() ? "its outcome is another one now"
                          : "the outcome of " + instance + " is another one now";
}

// Whether the last note is this one. The notes come last, unless there are halts behind them.
bool ends_with_note(std::string_view rules, base::ByteView record, const Tick& tick) {
  if (!tick.halts.empty()) {
    const auto view = read_record(record);
    return view && !view->notes.empty() &&
           view->notes.back() == std::vector<std::string_view>{rules};
  }
  codec::Buffer note;
  codec::write_list_head(note, 1);
  codec::write_text(note, rules);
  return record.size() > note.size() && base::equal(record.last(note.size()), note.view());
}

base::Error differs(std::uint64_t record, std::string message) {
  return {base::ErrorCode::kConflict, "record " + std::to_string(record), std::move(message)};
}

using InstanceKey = std::pair<std::string, base::Bytes>;

// What a record says of each instance: an entry for each life.
std::map<InstanceKey, std::vector<codec::View>> by_instance(base::ByteView record) {
  std::map<InstanceKey, std::vector<codec::View>> all;
  for (ListReader each(instances_of(record)); !each.at_end();) {
    const codec::View entry = each.next();
    ListReader fields(entry);
    const std::string_view workflow = fields.text();
    const base::ByteView key = fields.bytes();
    if (!fields.good()) break;
    all[{std::string(workflow), {key.begin(), key.end()}}].push_back(entry);
  }
  return all;
}

// The fields of an entry, in their order. An empty one is told by those beside it.
constexpr std::array<std::string_view, 12> kFieldNames{
    "",        "",      "previous record", "status",         "pause",           "state",
    "outcome", "steps", "ignored",         "opened effects", "settled effects", "stream"};

std::string differing_fields(codec::View was, codec::View is) {
  ListReader before(was);
  ListReader after(is);
  std::string names;
  for (const std::string_view name : kFieldNames) {
    if (before.at_end() || after.at_end()) break;
    const bool is_same = base::equal(before.next().encoded(), after.next().encoded());
    if (!is_same && !name.empty()) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return "it differs in: " + names;
}

std::string entries_differ(const std::vector<codec::View>& was,
                           const std::vector<codec::View>& is) {
  for (std::size_t i = 0; i < std::min(was.size(), is.size()); ++i) {
    if (!base::equal(was[i].encoded(), is[i].encoded())) return differing_fields(was[i], is[i]);
  }
  if (was.size() == is.size()) return {};
  return is.size() < was.size() ? "the record does not touch it now"
                                : "the record touches it only now";
}

// Adds every instance that differs and was not noted on the way.
void compare_instances(base::ByteView recorded, const Outcome& now,
                       std::vector<ReplayDifference>& found) {
  const auto was = by_instance(recorded);
  const auto is = now.record.empty() ? std::map<InstanceKey, std::vector<codec::View>>()
                                     : by_instance(now.record);
  std::set<InstanceKey> noted;
  for (const ReplayDifference& each : found) noted.insert({each.workflow, each.key});
  const auto add = [&](const InstanceKey& name, std::string why) {
    if (noted.insert(name).second) found.push_back({name.first, name.second, std::move(why)});
  };
  const std::vector<codec::View> none;
  for (const auto& [name, entries] : was) {
    const auto same = is.find(name);
    if (now.record.empty()) {
      add(name, difference(recorded, now));
    } else if (auto why = entries_differ(entries, same == is.end() ? none : same->second);
               !why.empty()) {
      add(name, std::move(why));
    }
  }
  for (const auto& [name, entries] : is) {
    if (!was.contains(name)) add(name, entries_differ(none, entries));
  }
  if (!found.empty()) return;
  // What was sent or noted is not said by instance.
  for (const auto& [name, entries] : was) add(name, "the record differs beside its instances");
  if (was.empty()) add({}, difference(recorded, now));
}

bool changes_definitions(const Tick& tick) {
  return std::holds_alternative<ApplyManifest>(tick.input) ||
         std::holds_alternative<ApplyProposal>(tick.input);
}

// The tick of a record, by the rules that the record came about by.
Outcome reduce_again(World& world, WorldState& state, base::ByteView record, const Tick& tick) {
  state.replaying = true;
  state.has_rules_4 = ends_with_note(kRules4, record, tick);
  state.has_rules_3 = state.has_rules_4 || ends_with_note(kRules3, record, tick);
  state.has_rules_2 = state.has_rules_3 || ends_with_note(kRules2, record, tick);
  Outcome outcome = world.reduce(tick);
  state.replaying = false;
  state.has_rules_2 = state.has_rules_3 = state.has_rules_4 = true;
  return outcome;
}

base::Result<Tick> tick_in(base::ByteView record, std::uint64_t number) {
  auto read = tick_of(record);
  if (!read && read.error().code() == base::ErrorCode::kConflict)
    return std::move(read).error().within("record " + std::to_string(number));
  return read;
}

}  // namespace

base::Result<Outcome> World::replay(base::ByteView record) {
  const std::uint64_t number = state_->next_record;
  const Tick tick = TRY(tick_in(record, number));
  Outcome outcome = reduce_again(*this, *state_, record, tick);
  if (outcome.failure) return std::move(*outcome.failure);
  if (base::equal(record, outcome.record)) return outcome;
  // What was done is not what was recorded: nobody may go on from here.
  state_->failure = differs(number, difference(record, outcome));
  return differs(number, state_->failure->message());
}

base::Result<std::vector<ReplayDifference>> World::replay_comparing(base::ByteView record) {
  const std::uint64_t number = state_->next_record;
  const Tick tick = TRY(tick_in(record, number));
  std::vector<ReplayDifference> found;
  state_->differences = &found;
  const Outcome outcome = reduce_again(*this, *state_, record, tick);
  state_->differences = nullptr;
  if (outcome.failure)
    return base::Error(outcome.failure->code(), outcome.failure->where(),
                       outcome.failure->message());
  if (base::equal(record, outcome.record)) return found;
  if (outcome.record.empty() && changes_definitions(tick))
    return differs(number, difference(record, outcome));
  compare_instances(record, outcome, found);
  // The number of a record is part of the identity of what it opens, so it is counted even if
  // nothing came of it now.
  state_->next_record = number + 1;
  state_->latest_ns = std::max(state_->latest_ns, tick.time_ns);
  return found;
}

base::Result<std::optional<InstanceImage>> World::replay_watching(base::ByteView record,
                                                                  std::string_view workflow,
                                                                  base::ByteView key) {
  Watch watch{workflow, key_hash(key)};
  state_->watch = &watch;
  auto replayed = replay(record);
  state_->watch = nullptr;
  if (!replayed) return std::move(replayed).error();
  if (watch.error) return std::move(*watch.error);
  return std::move(watch.image);
}

}  // namespace holdfast::kernel
