// SPDX-License-Identifier: Apache-2.0
#include "flows/run.h"

#include "codec/cbor_writer.h"
#include "kernel/list_reader.h"

namespace holdfast::flows {
namespace {

using codec::View;
using kernel::ListReader;

constexpr std::uint64_t kRunVersion = 1;

// Values stand in the state as they are, so that people can read it.
void write_value(codec::Buffer& out, base::ByteView value) {
  if (value.empty()) return codec::write_null(out);
  out.append(value);
}

base::Bytes value_of(View item) {
  const base::ByteView encoded = item.encoded();
  return {encoded.begin(), encoded.end()};
}

void write_bindings(codec::Buffer& out, const std::vector<Binding>& bindings) {
  codec::write_list_head(out, bindings.size());
  for (const Binding& each : bindings) {
    codec::write_list_head(out, 2);
    codec::write_text(out, each.name);
    write_value(out, each.value);
  }
}

std::vector<Binding> read_bindings(View value, ListReader& from) {
  from.require(value.kind() == codec::ViewKind::kList);
  std::vector<Binding> bindings;
  for (const View each : value.elements()) {
    ListReader list(each);
    Binding binding{std::string(list.text()), value_of(list.next())};
    from.require(list.done());
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

void write_frame(codec::Buffer& out, FrameId id, const Frame& frame) {
  codec::write_list_head(out, 11);
  codec::write_nat(out, id);
  codec::write_nat(out, frame.parent);
  codec::write_nat(out, frame.node);
  codec::write_nat(out, frame.branch);
  codec::write_nat(out, frame.phase);
  codec::write_nat(out, frame.count);
  codec::write_nat(out, frame.mark);
  codec::write_bool(out, frame.is_scope);
  write_bindings(out, frame.bindings);
  codec::write_list_head(out, frame.ended.size());
  for (const EndedBranch& each : frame.ended) {
    codec::write_list_head(out, 6);
    codec::write_nat(out, each.branch);
    codec::write_nat(out, static_cast<std::uint64_t>(each.outcome.kind));
    write_value(out, each.outcome.value);
    codec::write_text(out, each.outcome.code);
    codec::write_text(out, each.outcome.message);
    write_bindings(out, each.bindings);
  }
  write_value(out, frame.value);
}

FrameId read_frame(View value, ListReader& from, Frame& frame) {
  ListReader list(value);
  const FrameId id = list.nat32();
  frame.parent = list.nat32();
  frame.node = list.nat32();
  frame.branch = list.nat32();
  frame.phase = list.nat32();
  frame.count = list.nat();
  frame.mark = list.nat();
  frame.is_scope = list.boolean();
  frame.bindings = read_bindings(list.next(), list);
  const View ended = list.next();
  for (const View each : ended.elements()) {
    ListReader branch(each);
    EndedBranch made;
    made.branch = branch.nat32();
    made.outcome.kind = branch.choice(Outcome::Kind::kBroke);
    made.outcome.value = value_of(branch.next());
    made.outcome.code = branch.text();
    made.outcome.message = branch.text();
    made.bindings = read_bindings(branch.next(), branch);
    list.require(branch.done());
    frame.ended.push_back(std::move(made));
  }
  frame.value = value_of(list.next());
  from.require(list.done());
  return id;
}

}  // namespace

void write_run(codec::Buffer& out, const Run& run) {
  codec::write_list_head(out, 9);
  codec::write_nat(out, kRunVersion);
  codec::write_nat(out, run.role);
  codec::write_nat(out, run.next);
  codec::write_nat(out, run.opened);
  codec::write_list_head(out, run.frames.size());
  for (const auto& [id, frame] : run.frames) write_frame(out, id, frame);
  codec::write_list_head(out, run.unopened.size());
  for (const FrameId id : run.unopened) codec::write_nat(out, id);
  codec::write_list_head(out, run.signals.size());
  for (const KeptSignal& signal : run.signals) {
    codec::write_list_head(out, 2);
    codec::write_text(out, signal.name);
    write_value(out, signal.data);
  }
  codec::write_text(out, run.part.is_zero() ? "" : run.part.to_text());
  write_value(out, run.program);
}

std::optional<Run> read_run(View value) {
  ListReader list(value);
  list.require(list.nat() == kRunVersion);
  Run run;
  run.role = list.nat();
  run.next = list.nat32();
  run.opened = list.nat();
  const View frames = list.next();
  for (const View each : frames.elements()) {
    Frame frame;
    const FrameId id = read_frame(each, list, frame);
    list.require(id != 0 && id < run.next && frame.parent < id);
    run.frames.emplace(id, std::move(frame));
  }
  const View unopened = list.next();
  for (const View each : unopened.elements())
    run.unopened.push_back(static_cast<FrameId>(each.nat().value_or(0)));
  const View signals = list.next();
  for (const View each : signals.elements()) {
    ListReader signal(each);
    run.signals.push_back({std::string(signal.text()), value_of(signal.next())});
    list.require(signal.done());
  }
  if (const std::string_view part = list.text(); !part.empty()) {
    const auto hash = base::Hash::parse(part);
    list.require(hash.has_value());
    if (hash) run.part = *hash;
  }
  run.program = value_of(list.next());
  if (!list.done()) return std::nullopt;
  return run;
}

}  // namespace holdfast::flows
