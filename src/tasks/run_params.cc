// SPDX-License-Identifier: Apache-2.0
#include "tasks/run_params.h"

#include "codec/cbor_writer.h"

namespace holdfast::tasks {
namespace {

void write_limit(codec::Buffer& out, std::string_view field, std::uint64_t ns) {
  codec::write_text(out, field);
  if (ns == 0) return codec::write_null(out);
  codec::write_nat(out, ns);
}

}  // namespace

// The fields stand in canonical order.
void write_run_params(codec::Buffer& out, const RunParams& params) {
  codec::write_map_head(out, 9);
  codec::write_text(out, "name");
  codec::write_text(out, params.task.name);
  codec::write_text(out, "task");
  out.append(params.definition);
  codec::write_text(out, "type");
  codec::write_text(out, params.task.type);
  codec::write_text(out, "avoid");
  codec::write_list_head(out, params.avoid.size());
  for (const std::string& worker : params.avoid) codec::write_text(out, worker);
  codec::write_text(out, "graph");
  codec::write_text(out, params.graph);
  codec::write_text(out, "number");
  codec::write_nat(out, params.number);
  codec::write_text(out, "attempt");
  codec::write_nat(out, params.attempt);
  write_limit(out, "timeout_ns", params.task.policy.timeout_ns);
  write_limit(out, "queue_timeout_ns", params.task.policy.queue_timeout_ns);
}

}  // namespace holdfast::tasks
