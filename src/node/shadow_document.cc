// SPDX-License-Identifier: Apache-2.0
// The report of a trial run as a document: bounded, as it is kept with the proposal.
#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "kernel/record_view.h"
#include "node/shadow.h"

namespace holdfast::node {
namespace {

using codec::Buffer;

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
  if (value.size() <= kMostReportValueBytes) return out.append(value);
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

// What is not short is named by its hash.
void short_text(Buffer& out, std::string_view name, const std::string& value) {
  const bool fits = value.size() <= kMostReportValueBytes;
  text(out, name, fits ? value : base::sha256(base::as_bytes(value)).to_text());
}

void put_flag(Buffer& out, std::string_view name, bool value) {
  codec::write_text(out, name);
  codec::write_bool(out, value);
}

void put_hash(Buffer& out, std::string_view name, const base::Hash& value) {
  codec::write_text(out, name);
  if (value.is_zero()) return codec::write_null(out);
  codec::write_text(out, value.to_text());
}

void effects(Buffer& out, const std::vector<ShadowEffect>& list) {
  codec::write_text(out, "effect_counts");
  codec::write_list_head(out, list.size());
  for (const ShadowEffect& each : list) {
    codec::write_map_head(out, 5);
    short_text(out, "effect", each.effect);
    number(out, "opened_present", each.opened_present);
    number(out, "opened_tried", each.opened_tried);
    number(out, "open_present", each.open_present);
    number(out, "open_tried", each.open_tried);
  }
}

void allow_lists(Buffer& out, const std::vector<ShadowAllowed>& list) {
  codec::write_text(out, "allow_lists");
  codec::write_list_head(out, list.size());
  for (const ShadowAllowed& each : list) {
    codec::write_map_head(out, 4);
    short_text(out, "workflow", each.workflow);
    short_text(out, "effect", each.effect);
    put_flag(out, "present", each.present);
    put_flag(out, "tried", each.tried);
  }
}

void statuses(Buffer& out, const std::vector<ShadowStatus>& list) {
  codec::write_text(out, "statuses");
  codec::write_list_head(out, list.size());
  for (const ShadowStatus& each : list) {
    codec::write_map_head(out, 3);
    text(out, "status", each.status.empty() ? "not there" : each.status);
    number(out, "present", each.present);
    number(out, "tried", each.tried);
  }
}

void texts(Buffer& out, std::string_view name, const std::vector<std::string>& list) {
  codec::write_text(out, name);
  codec::write_list_head(out, list.size());
  for (const std::string& each : list) {
    const bool fits = each.size() <= kMostReportValueBytes;
    codec::write_text(out, fits ? each : base::sha256(base::as_bytes(each)).to_text());
  }
}

}  // namespace

base::Bytes document_of(const ShadowReport& report) {
  Buffer out;
  codec::write_map_head(out, 21);
  put_hash(out, "present_manifest", report.present_manifest);
  put_hash(out, "tried_manifest", report.tried_manifest);
  number(out, "from", report.from);
  number(out, "to", report.to);
  number(out, "fed", report.fed);
  number(out, "refused", report.refused);
  texts(out, "refusals", report.refusals);
  short_text(out, "stopped", report.stopped);
  number(out, "answered", report.answered);
  number(out, "unwanted", report.unwanted);
  number(out, "effects", report.effects);
  texts(out, "effect_differences", report.effect_differences);
  number(out, "effect_kinds", report.effect_kinds);
  effects(out, report.effect_counts);
  number(out, "allowed", report.allowed);
  number(out, "allowed_differently", report.allowed_differently);
  allow_lists(out, report.allow_lists);
  statuses(out, report.statuses);
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
