// SPDX-License-Identifier: Apache-2.0
#include "kernel/record_view.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/hex.h"
#include "codec/json_writer.h"
#include "codec/key_word.h"
#include "codec/normaliser.h"
#include "codec/well_formed.h"
#include "kernel/list_reader.h"
#include "kernel/record_input.h"
#include "kernel/version.h"

namespace holdfast::kernel {
namespace {

using codec::View;

constexpr std::array<std::string_view, 19> kTickNames = {
    "event",      "receipt",         "progress",       "continue", "control",
    "apply",      "propose",         "shadow",         "decide",   "apply proposal",
    "forget",     "worker enrolled", "worker changed", "leased",   "returned",
    "stop asked", "source marked",   "reopen",         "migrate"};
static_assert(kTickNames.size() == std::variant_size_v<decltype(Tick::input)>);

constexpr std::size_t kFieldsWithoutHalts = 8;
constexpr std::size_t kFieldsBetween = 3;  // instances, emitted, notes

// The elements of a list, each read by `read`, which says whether it was as expected.
template <class T, class Read>
bool read_list(View view, std::vector<T>& into, const Read& read) {
  ListReader list(view);
  while (list.good() && !list.at_end()) {
    if (!read(list.next(), into.emplace_back())) return false;
  }
  return list.done();
}

bool read_opened(View view, OpenedView& opened) {
  ListReader list(view);
  opened.intent = list.hash();
  opened.effect = list.text();
  opened.params = list.next().encoded();
  return list.done();
}

bool read_settled(View view, SettledView& settled) {
  ListReader list(view);
  settled.intent = list.hash();
  settled.status = list.text();
  return list.done();
}

bool read_annotation(View view, base::ByteView& value) {
  value = view.encoded();
  return true;
}

// A small state stands there as a list of one.
bool read_state(View view, InstanceView& instance) {
  if (view.is_null()) return true;
  if (view.kind() == codec::ViewKind::kList) {
    ListReader list(view);
    instance.state = list.next().encoded();
    return list.done();
  }
  const auto bytes = view.bytes();
  base::Hash hash;
  if (!bytes || bytes->size() != hash.bytes.size()) return false;
  std::copy(bytes->begin(), bytes->end(), hash.bytes.begin());
  instance.state_hash = hash;
  return true;
}

bool read_instance(View view, InstanceView& instance) {
  ListReader list(view);
  instance.workflow = list.text();
  instance.key = list.bytes();
  instance.previous = list.nat();
  instance.status = list.text();
  instance.paused = list.boolean();
  const bool state = read_state(list.next(), instance);
  const View outcome = list.next();
  if (!outcome.is_null()) instance.outcome = outcome.encoded();
  instance.steps = list.nat();
  instance.ignored = list.nat();
  const bool lists = read_list(list.next(), instance.opened, read_opened) &&
                     read_list(list.next(), instance.settled, read_settled) &&
                     read_list(list.next(), instance.annotations, read_annotation);
  return state && lists && list.done();
}

bool read_emitted(View view, EmittedView& emitted) {
  ListReader list(view);
  emitted.schema = list.text();
  emitted.value = list.next().encoded();
  return list.done();
}

bool read_note(View view, std::vector<std::string_view>& note) {
  return read_list(view, note, [](View text, std::string_view& into) {
    into = text.text().value_or(std::string_view());
    return text.text().has_value();
  });
}

bool read_halt(View view, Halt& halt) {
  ListReader list(view);
  halt.kind = list.choice(HaltKind::kNoCode);
  halt.at = list.nat();
  halt.text = list.text();
  return list.done();
}

// What stands behind the other fields, where there is any.
bool read_halts(ListReader& list, std::vector<Halt>& halts) {
  return list.at_end() || (read_list(list.next(), halts, read_halt) && !halts.empty());
}

base::Error not_well_formed(std::uint64_t number) {
  return {base::ErrorCode::kCorrupt, "record " + std::to_string(number), "is not well formed"};
}

// The first five fields; `list` stands behind them then.
base::Result<void> read_head(ListReader& list, std::uint64_t& number, Tick& tick) {
  const std::uint64_t version = list.nat();
  if (list.good() && version != kRecordVersion)
    return other_version("a record", version, kRecordVersion);
  number = list.nat();
  tick.time_ns = list.nat();
  const base::ByteView entropy = list.bytes();
  ListReader input(list.next());
  if (!list.good() || entropy.size() != tick.entropy.size() || !read_input(input, tick))
    return not_well_formed(number);
  std::copy(entropy.begin(), entropy.end(), tick.entropy.begin());
  return {};
}

base::Result<ListReader> fields_of(base::ByteView record) {
  if (!codec::is_well_formed(record))
    return base::Error(base::ErrorCode::kCorrupt, "a record is not well formed");
  return ListReader(View::of(record));
}

}  // namespace

std::string_view name_of(TickKind kind) noexcept {
  return kTickNames[static_cast<std::size_t>(kind)];
}

base::Result<RecordView> read_record(base::ByteView record) {
  ListReader list = TRY(fields_of(record));
  RecordView view;
  TRY(read_head(list, view.number, view.tick));
  const bool good = read_list(list.next(), view.instances, read_instance) &&
                    read_list(list.next(), view.emitted, read_emitted) &&
                    read_list(list.next(), view.notes, read_note) &&
                    read_halts(list, view.tick.halts) && list.done();
  if (!good) return not_well_formed(view.number);
  return view;
}

std::string key_text(base::ByteView key) {
  if (key.empty()) return "";
  codec::Normaliser normaliser;
  const auto value = normaliser.part_from_cbor(codec::Schema::item(), key);
  return value ? codec::to_json(View::of(*value)) : "0x" + base::to_hex(key);
}

std::string key_name(base::ByteView key) {
  if (key.empty()) return "-";
  codec::Normaliser normaliser;
  const auto value = normaliser.part_from_cbor(codec::Schema::item(), key);
  if (!value) return "0x" + base::to_hex(key);
  const auto text = View::of(*value).text();
  return text ? codec::word_of_key(*text) : codec::to_json(View::of(*value));
}

std::string instance_name(std::string_view workflow, base::ByteView key) {
  return std::string(workflow) + "/" + key_name(key);
}

std::string instance_text(std::string_view workflow, base::ByteView key) {
  std::string text(workflow);
  return key.empty() ? text : text + " " + key_text(key);
}

base::Result<Tick> tick_of(base::ByteView record) {
  ListReader list = TRY(fields_of(record));
  std::uint64_t number = 0;
  Tick tick;
  TRY(read_head(list, number, tick));
  if (View::of(record).size() <= kFieldsWithoutHalts) return tick;
  for (std::size_t skipped = 0; skipped < kFieldsBetween; ++skipped) list.next();
  if (!read_halts(list, tick.halts) || !list.done()) return not_well_formed(number);
  return tick;
}

}  // namespace holdfast::kernel
