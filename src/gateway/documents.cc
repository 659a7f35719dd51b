// SPDX-License-Identifier: Apache-2.0
#include "gateway/documents.h"

#include "base/trace_context.h"
#include "steps/readable.h"

namespace holdfast::gateway {

std::string_view name_of(InstanceStatus status) noexcept {
  switch (status) {
    case InstanceStatus::kRunning: return "running";
    case InstanceStatus::kWaiting: return "waiting";
    case InstanceStatus::kCompleted: return "completed";
    case InstanceStatus::kFailed: return "failed";
    case InstanceStatus::kCancelled: return "cancelled";
  }
  return "";
}

bool has_ended(const RawInstance& instance) noexcept {
  return instance.status >= InstanceStatus::kCompleted;
}

void put_state(codec::Buffer& out, std::string_view name, const Bytes& state,
               const steps::Graph* graph) {
  codec::write_text(out, name);
  put_state_value(out, state, graph);
}

void put_state_value(codec::Buffer& out, const Bytes& state, const steps::Graph* graph) {
  if (state.empty()) return codec::write_null(out);
  codec::Buffer readable;
  if (graph == nullptr || !steps::write_readable_state(readable, *graph, state))
    return out.append(state);
  out.append(readable.view());
}

void put_instance(codec::Buffer& out, std::string_view workflow, const Bytes& key,
                  const RawInstance& instance, const steps::Graph* graph) {
  const auto trace = base::TraceContext::of(instance.trace);
  codec::write_map_head(out, 6u + has_ended(instance) + trace.has_value());
  put(out, "workflow", workflow);
  put_value(out, "key", key);
  put(out, "status", name_of(instance.status));
  put_flag(out, "paused", instance.is_paused);
  put_number(out, "record", instance.last_record);
  put_state(out, "state", instance.state, graph);
  if (trace) put(out, "traceparent", trace->to_text());
  if (!has_ended(instance)) return;
  put_value(out, instance.status == InstanceStatus::kCompleted ? "result" : "error",
            instance.outcome);
}

}  // namespace holdfast::gateway
