// SPDX-License-Identifier: Apache-2.0
// The report of a trial run as a document: bounded, as it is kept with the proposal.
#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "kernel/record_view.h"
#include "node/shadow.h"

namespace holdfast::node {
namespace {

using codec::Buffer;

// Of a value, a key or a text that stands in the report.
constexpr std::size_t kMostBytes = 1024;

void number(Buffer& out, std::string_view name, std::uint64_t value) {
  codec::write_text(out, name);
  codec::write_nat(out, value);
}

void text(Buffer& out, std::string_view name, std::string_view value) {
  codec::write_text(out, name);
  codec::write_text(out, value);
}

void put_value(Buffer& out, std::string_view name, const base::Bytes& value) {
  codec::write_text(out, name);
  if (value.empty()) return codec::write_null(out);
  if (value.size() <= kMostBytes) return out.append(value);
  codec::write_map_head(out, 2);
  text(out, "$hash", base::sha256(value).to_text());
  number(out, "$size", value.size());
}

void side(Buffer& out, std::string_view name, const ShadowSide& side) {
  codec::write_text(out, name);
  if (side.status.empty()) return codec::write_null(out);
  codec::write_map_head(out, 3);
  text(out, "status", side.status);
  put_value(out, "state", side.state);
  put_value(out, "outcome", side.outcome);
}

void texts(Buffer& out, std::string_view name, const std::vector<std::string>& list) {
  codec::write_text(out, name);
  codec::write_list_head(out, list.size());
  for (const std::string& each : list) {
    const bool fits = each.size() <= kMostBytes;
    codec::write_text(out, fits ? each : base::sha256(base::as_bytes(each)).to_text());
  }
}

}  // namespace

base::Bytes document_of(const ShadowReport& report) {
  Buffer out;
  codec::write_map_head(out, 13);
  number(out, "from", report.from);
  number(out, "to", report.to);
  number(out, "fed", report.fed);
  number(out, "refused", report.refused);
  texts(out, "refusals", report.refusals);
  text(out, "stopped", report.stopped);
  number(out, "answered", report.answered);
  number(out, "unwanted", report.unwanted);
  number(out, "effects", report.effects);
  texts(out, "effect_differences", report.effect_differences);
  number(out, "instances", report.instances);
  number(out, "different", report.different);
  codec::write_text(out, "differences");
  codec::write_list_head(out, report.differences.size());
  for (const ShadowDifference& difference : report.differences) {
    codec::write_map_head(out, 4);
    text(out, "workflow", difference.workflow);
    put_value(out, "key", difference.key);
    side(out, "present", difference.present);
    side(out, "tried", difference.tried);
  }
  return out.to_bytes();
}

}  // namespace holdfast::node
