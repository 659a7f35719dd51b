// SPDX-License-Identifier: Apache-2.0
// Doing again what a record says was done.
#include <string>
#include <utility>

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

}  // namespace

base::Result<Outcome> World::replay(base::ByteView record) {
  const std::uint64_t number = state_->next_record;
  auto read = tick_of(record);
  if (!read && read.error().code() == base::ErrorCode::kConflict)
    return std::move(read).error().within("record " + std::to_string(number));
  const Tick tick = TRY(std::move(read));
  state_->replaying = true;
  state_->has_rules_4 = ends_with_note(kRules4, record, tick);
  state_->has_rules_3 = state_->has_rules_4 || ends_with_note(kRules3, record, tick);
  state_->has_rules_2 = state_->has_rules_3 || ends_with_note(kRules2, record, tick);
  Outcome outcome = reduce(tick);
  state_->replaying = false;
  state_->has_rules_2 = state_->has_rules_3 = state_->has_rules_4 = true;
  if (outcome.failure) return std::move(*outcome.failure);
  if (base::equal(record, outcome.record)) return outcome;
  // What was done is not what was recorded: nobody may go on from here.
  state_->failure = differs(number, difference(record, outcome));
  return differs(number, state_->failure->message());
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
