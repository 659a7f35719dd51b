// SPDX-License-Identifier: Apache-2.0
#include "postgres/flow_events.h"

#include "codec/cbor_writer.h"
#include "codec/schema.h"
#include "codec/view.h"
#include "defs/system_names.h"
#include "flows/machine.h"
#include "flows/program.h"

namespace holdfast::postgres {
namespace {

void put_flow_field(codec::Buffer& out, std::string_view name, std::string_view text) {
  codec::write_text(out, name);
  codec::write_text(out, text);
}

}  // namespace

bool is_flow(const Request& request) noexcept { return request.workflow == defs::kFlowWorkflow; }

std::string_view flow_schema(Verb verb) noexcept {
  switch (verb) {
    case Verb::kSignal: return flows::kFlowSignalled;
    case Verb::kCancel: return flows::kFlowCancelAsked;
    default: return flows::kFlowStarted;
  }
}

// Fields stand in canonical order: shorter names first.
base::Result<Bytes> flow_event(codec::Normaliser& normaliser, const Request& request) {
  codec::Buffer out;
  codec::write_map_head(out, 3);
  const std::string& key = request.key.value_or(std::string());
  if (request.verb == Verb::kCancel) {
    put_flow_field(out, "by", request.submitter);
    put_flow_field(out, "key", key);
    put_flow_field(out, "reason", request.reason);
    return out.to_bytes();
  }
  const base::ByteView body = TRY(normaliser.part_from_json(codec::Schema::any(), request.body));
  put_flow_field(out, "key", key);
  if (request.verb == Verb::kSignal) {
    codec::write_text(out, "data");
    out.append(body);
    put_flow_field(out, "name", request.event);
    return out.to_bytes();
  }
  TRY(flows::read_program(codec::View::of(body)));
  codec::write_text(out, "role");
  codec::write_nat(out, request.submitter_oid);
  codec::write_text(out, "program");
  out.append(body);
  return out.to_bytes();
}

Bytes flow_key(const std::string& key) {
  codec::Buffer out;
  codec::write_text(out, key);
  return out.to_bytes();
}

}  // namespace holdfast::postgres
