// SPDX-License-Identifier: Apache-2.0
#include "tasks/graph_cell.h"

#include "codec/cbor_writer.h"
#include "kernel/list_reader.h"

namespace holdfast::tasks {
namespace {

using codec::View;
using kernel::ListReader;

constexpr std::uint64_t kGraphCellVersion = 1;

}  // namespace

GraphVerdict GraphCell::verdict() const noexcept {
  if (failed > 0) return GraphVerdict::kFailed;
  if (open() > 0 || phase != GraphPhase::kEnded) return GraphVerdict::kOpen;
  return cancelled > 0 ? GraphVerdict::kCancelled : GraphVerdict::kDone;
}

void write_cell(codec::Buffer& out, const GraphCell& cell) {
  codec::write_list_head(out, 13);
  codec::write_nat(out, kGraphCellVersion);
  codec::write_nat(out, static_cast<std::uint64_t>(cell.phase));
  write_header(out, cell.header);
  codec::write_nat(out, cell.intake.next());
  codec::write_text(out, cell.intake.digest().to_text());
  kernel::write_optional_nat(out, cell.told);
  codec::write_bool(out, cell.is_cancelling);
  codec::write_list_head(out, 4);
  codec::write_nat(out, cell.done);
  codec::write_nat(out, cell.skipped);
  codec::write_nat(out, cell.failed);
  codec::write_nat(out, cell.cancelled);
  codec::write_nat(out, cell.left);
  codec::write_nat(out, cell.frontier);
  codec::write_list_head(out, 3);
  codec::write_nat(out, cell.created_ns);
  codec::write_nat(out, cell.sealed_ns);
  codec::write_nat(out, cell.ended_ns);
  codec::write_text(out, cell.first_error);
  codec::write_list_head(out, 2);
  codec::write_text(out, cell.cancel_reason);
  codec::write_text(out, cell.cancelled_by);
}

std::optional<GraphCell> read_graph_cell(View value) {
  ListReader list(value);
  list.require(list.nat() == kGraphCellVersion);
  GraphCell cell;
  cell.phase = list.choice(GraphPhase::kEnded);
  auto header = read_header(list.next());
  if (!header) return std::nullopt;
  cell.header = std::move(*header);
  const TaskIndex next = list.nat32();
  const auto digest = base::Hash::parse(list.text());
  list.require(digest.has_value());
  cell.intake = GraphIntake(next, digest ? *digest : base::Hash());
  const auto told = list.optional_nat();
  list.require(!told || *told <= cell.header.total_count);
  if (told) cell.told = static_cast<std::uint32_t>(*told);
  cell.is_cancelling = list.boolean();
  ListReader counts(list.next());
  cell.done = counts.nat32();
  cell.skipped = counts.nat32();
  cell.failed = counts.nat32();
  cell.cancelled = counts.nat32();
  const std::uint64_t ended = std::uint64_t{cell.done} + cell.failed + cell.cancelled;
  list.require(counts.done() && ended <= cell.header.run_count);
  cell.left = list.nat32();
  cell.frontier = list.nat32();
  ListReader times(list.next());
  cell.created_ns = times.nat();
  cell.sealed_ns = times.nat();
  cell.ended_ns = times.nat();
  list.require(times.done());
  cell.first_error = list.text();
  ListReader cancel(list.next());
  cell.cancel_reason = cancel.text();
  cell.cancelled_by = cancel.text();
  list.require(cancel.done());
  if (!list.done()) return std::nullopt;
  return cell;
}

}  // namespace holdfast::tasks
