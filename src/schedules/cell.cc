// SPDX-License-Identifier: Apache-2.0
#include "schedules/cell.h"

#include <array>
#include <utility>

#include "codec/cbor_writer.h"
#include "kernel/list_reader.h"

namespace holdfast::schedules {
namespace {

using codec::View;
using kernel::ListReader;

constexpr std::uint64_t kCellVersion = 1;
constexpr std::array<std::string_view, 4> kPhaseNames{"active", "paused", "removing", "ended"};
constexpr std::array<std::string_view, 6> kOutcomeNames{"running",   "completed", "failed",
                                                        "cancelled", "skipped",   "missed"};
constexpr std::array<std::string_view, 5> kActionNames{"pause", "resume", "run", "remove",
                                                       "remove_and_cancel"};

void write_counts(codec::Buffer& out, const Counts& counts) {
  codec::write_list_head(out, 6);
  codec::write_nat(out, counts.started);
  codec::write_nat(out, counts.completed);
  codec::write_nat(out, counts.failed);
  codec::write_nat(out, counts.cancelled);
  codec::write_nat(out, counts.skipped);
  codec::write_nat(out, counts.missed);
}

bool read_counts(View value, Counts& counts) {
  ListReader list(value);
  counts.started = list.nat();
  counts.completed = list.nat();
  counts.failed = list.nat();
  counts.cancelled = list.nat();
  counts.skipped = list.nat();
  counts.missed = list.nat();
  return list.done();
}

bool read_run(View value, ScheduleRun& run) {
  ListReader list(value);
  run.number = list.nat();
  run.due_ns = list.nat();
  run.key = list.text();
  run.is_stopping = list.boolean();
  return list.done();
}

bool read_due(View value, Due& due) {
  ListReader list(value);
  due.due_ns = list.nat();
  due.outcome = list.choice(DueOutcome::kMissed);
  due.key = list.text();
  due.note = list.text();
  return list.done();
}

}  // namespace

std::string_view name_of(Phase phase) noexcept {
  return kPhaseNames[static_cast<std::size_t>(phase)];
}
std::string_view name_of(DueOutcome outcome) noexcept {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

void write_cell(codec::Buffer& out, const Cell& cell) {
  codec::write_list_head(out, 14);
  codec::write_nat(out, kCellVersion);
  write_spec(out, cell.spec);
  codec::write_nat(out, static_cast<std::uint64_t>(cell.phase));
  codec::write_nat(out, cell.created_ns);
  codec::write_nat(out, cell.generation);
  codec::write_nat(out, cell.after_ns);
  kernel::write_optional_nat(out, cell.next_ns);
  codec::write_nat(out, cell.runs_begun);
  codec::write_nat(out, cell.last_manual_ns);
  write_counts(out, cell.counts);
  codec::write_list_head(out, cell.runs.size());
  for (const ScheduleRun& run : cell.runs) {
    codec::write_list_head(out, 4);
    codec::write_nat(out, run.number);
    codec::write_nat(out, run.due_ns);
    codec::write_text(out, run.key);
    codec::write_bool(out, run.is_stopping);
  }
  codec::write_list_head(out, cell.queued.size());
  for (const std::uint64_t due : cell.queued) codec::write_nat(out, due);
  codec::write_list_head(out, cell.recent.size());
  for (const Due& due : cell.recent) {
    codec::write_list_head(out, 4);
    codec::write_nat(out, due.due_ns);
    codec::write_nat(out, static_cast<std::uint64_t>(due.outcome));
    codec::write_text(out, due.key);
    codec::write_text(out, due.note);
  }
  codec::write_text(out, cell.error);
}

std::optional<Cell> read_cell(View value) {
  ListReader list(value);
  list.require(list.nat() == kCellVersion);
  auto spec = read_spec(list.next());
  if (!spec) return std::nullopt;
  Cell cell;
  cell.spec = std::move(*spec);
  cell.phase = list.choice(Phase::kEnded);
  cell.created_ns = list.nat();
  cell.generation = list.nat();
  cell.after_ns = list.nat();
  cell.next_ns = list.optional_nat();
  cell.runs_begun = list.nat();
  cell.last_manual_ns = list.nat();
  list.require(read_counts(list.next(), cell.counts));
  for (const View each : list.next().elements())
    list.require(read_run(each, cell.runs.emplace_back()));
  for (const View each : list.next().elements()) {
    list.require(each.nat().has_value());
    cell.queued.push_back(each.nat().value_or(0));
  }
  for (const View each : list.next().elements())
    list.require(read_due(each, cell.recent.emplace_back()));
  cell.error = list.text();
  if (!list.done()) return std::nullopt;
  return cell;
}

// Both in canonical order.
void write_set(codec::Buffer& out, std::string_view schedule, const Spec& spec, bool replaces,
               bool is_paused) {
  codec::write_map_head(out, 4);
  codec::write_text(out, "key");
  codec::write_text(out, schedule);
  codec::write_text(out, "spec");
  write_spec(out, spec);
  codec::write_text(out, "paused");
  codec::write_bool(out, is_paused);
  codec::write_text(out, "replaces");
  codec::write_bool(out, replaces);
}

void write_control(codec::Buffer& out, std::string_view schedule, Action action) {
  codec::write_map_head(out, 2);
  codec::write_text(out, "key");
  codec::write_text(out, schedule);
  codec::write_text(out, "action");
  codec::write_text(out, kActionNames[static_cast<std::size_t>(action)]);
}

std::optional<Action> read_action(View event) {
  const auto name = event.find("action");
  if (!name) return std::nullopt;
  for (std::size_t i = 0; i < kActionNames.size(); ++i) {
    if (name->text() == kActionNames[i]) return static_cast<Action>(i);
  }
  return std::nullopt;
}

base::Bytes key_of(std::string_view schedule) {
  codec::Buffer out;
  codec::write_text(out, schedule);
  return out.to_bytes();
}

}  // namespace holdfast::schedules
