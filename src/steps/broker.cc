// SPDX-License-Identifier: Apache-2.0
#include "steps/broker.h"

#include <utility>

#include "codec/cbor_writer.h"
#include "steps/scanner.h"
#include "steps/state_codec.h"

namespace holdfast::steps {
namespace {

void write_outbox(codec::Buffer& out, const Outbox& outbox) {
  codec::write_list_head(out, 6);
  codec::write_list_head(out, outbox.alarms.size());
  for (const std::uint64_t alarm : outbox.alarms) codec::write_nat(out, alarm);
  codec::write_bool(out, outbox.is_continuing);
  codec::write_bool(out, outbox.is_idle_told);
  codec::write_nat(out, outbox.open_runs);
  codec::write_list_head(out, outbox.entries.size());
  for (const base::ByteView entry : outbox.entries) codec::write_bytes(out, entry);
  codec::write_list_head(out, outbox.ending ? 4 : 0);
  if (!outbox.ending) return;
  codec::write_bool(out, outbox.ending->is_failure);
  codec::write_text(out, outbox.ending->failure.code);
  codec::write_text(out, outbox.ending->failure.message);
  codec::write_bytes(out, outbox.ending->result);
}

void read_outbox(Scanner& in, Outbox& outbox) {
  in.list(6);
  for (std::size_t count = in.list(); count != 0 && in.good(); --count)
    outbox.alarms.push_back(in.nat());
  outbox.is_continuing = in.boolean();
  outbox.is_idle_told = in.boolean();
  outbox.open_runs = in.nat();
  for (std::size_t count = in.list(); count != 0 && in.good(); --count)
    outbox.entries.push_back(in.bytes());
  const std::size_t parts = in.list();
  in.require(parts == 0 || parts == 4);
  if (parts != 4) return;
  Ending& ending = outbox.ending.emplace();
  ending.is_failure = in.boolean();
  ending.failure.code = in.text();
  ending.failure.message = in.text();
  ending.result = in.bytes();
}

}  // namespace

void write_broker(codec::Buffer& out, const State& state, const Outbox& outbox) {
  write_outbox(out, outbox);
  write_state(out, state);
}

std::optional<Broker> read_broker(base::ByteView bytes, const Graph& graph) {
  std::optional<Broker> broker(std::in_place, graph.steps().size());
  Scanner in(bytes);
  read_outbox(in, broker->outbox);
  auto state = in.good() ? read_state(in.rest(), graph) : std::nullopt;
  if (!state) return std::nullopt;
  broker->state = std::move(*state);
  return broker;
}

}  // namespace holdfast::steps
