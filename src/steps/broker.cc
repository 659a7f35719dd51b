// SPDX-License-Identifier: Apache-2.0
#include "steps/broker.h"

#include <utility>

#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "codec/wrapped.h"
#include "steps/scanner.h"
#include "steps/state_codec.h"

namespace holdfast::steps {
namespace {

// One more: the children that are to be stopped, if there are some.
constexpr std::size_t kOutboxParts = 6;

// There is none in a world, where the kernel keeps it.
void write_ending(codec::Buffer& out, const std::optional<Ending>& ending) {
  codec::write_list_head(out, ending ? 4 : 0);
  if (!ending) return;
  codec::write_bool(out, ending->is_failure);
  codec::write_text(out, ending->failure.code);
  codec::write_text(out, ending->failure.message);
  codec::write_bytes(out, ending->result);
}

void write_outbox(codec::Buffer& out, const Outbox& outbox) {
  codec::write_list_head(out, kOutboxParts + (outbox.stops.empty() ? 0 : 1));
  codec::write_list_head(out, outbox.alarms.size());
  for (const std::uint64_t alarm : outbox.alarms) codec::write_nat(out, alarm);
  codec::write_bool(out, outbox.is_continuing);
  codec::write_bool(out, outbox.is_idle_told);
  codec::write_nat(out, outbox.open_runs);
  codec::write_list_head(out, 0);  // entries that wait: there are none
  write_ending(out, outbox.ending);
  if (outbox.stops.empty()) return;
  codec::write_list_head(out, outbox.stops.size());
  for (const ChildName& child : outbox.stops) {
    codec::write_list_head(out, 2);
    codec::write_text(out, child.workflow);
    codec::write_bytes(out, child.key);
  }
}

void read_ending(Scanner& in, Outbox& outbox) {
  const std::size_t parts = in.list();
  in.require(parts == 0 || parts == 4);
  if (parts != 4) return;
  Ending& ending = outbox.ending.emplace();
  ending.is_failure = in.boolean();
  ending.failure.code = in.text();
  ending.failure.message = in.text();
  ending.result = in.bytes();
}

void read_outbox(Scanner& in, Outbox& outbox) {
  const std::size_t fields = in.list();
  in.require(fields == kOutboxParts || fields == kOutboxParts + 1);
  for (std::size_t count = in.list(); count != 0 && in.good(); --count)
    outbox.alarms.push_back(in.nat());
  outbox.is_continuing = in.boolean();
  outbox.is_idle_told = in.boolean();
  outbox.open_runs = in.nat();
  for (std::size_t count = in.list(); count != 0 && in.good(); --count)
    outbox.entries.push_back(in.bytes());
  read_ending(in, outbox);
  if (fields == kOutboxParts) return;
  for (std::size_t count = in.list(); count != 0 && in.good(); --count) {
    in.list(2);
    ChildName& child = outbox.stops.emplace_back();
    child.workflow = in.text();
    child.key = in.bytes();
  }
}

}  // namespace

void write_broker(codec::Buffer& out, const State& state, const Outbox& outbox) {
  write_outbox(out, outbox);
  write_state(out, state);
}

// Keys in canonical order: shorter first, then bytewise.
void write_steps_state(codec::Buffer& out, const State& state, const Outbox& outbox,
                       std::string_view status) {
  codec::write_map_head(out, 2);
  codec::write_text(out, "broker");
  codec::write_wrapped(out, [&](codec::Buffer& broker) { write_broker(broker, state, outbox); });
  codec::write_text(out, "status");
  codec::write_text(out, status);
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

// The kernel has checked that the field is there.
std::optional<Broker> broker_in(base::ByteView state, const Graph& graph) {
  const auto broker = codec::View::of(state).find("broker");
  return read_broker(broker ? broker->bytes().value_or(base::ByteView()) : base::ByteView(), graph);
}

}  // namespace holdfast::steps
