// SPDX-License-Identifier: Apache-2.0
#include "gateway/documents.h"

#include "base/trace_context.h"

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

void put_instance(codec::Buffer& out, std::string_view workflow, const Bytes& key,
                  const RawInstance& instance) {
  const auto trace = base::TraceContext::of(instance.trace);
  codec::write_map_head(out, 6u + has_ended(instance) + trace.has_value());
  put(out, "workflow", workflow);
  put_value(out, "key", key);
  put(out, "status", name_of(instance.status));
  put_flag(out, "paused", instance.is_paused);
  put_number(out, "record", instance.last_record);
  put_value(out, "state", instance.state);
  if (trace) put(out, "traceparent", trace->to_text());
  if (!has_ended(instance)) return;
  put_value(out, instance.status == InstanceStatus::kCompleted ? "result" : "error",
            instance.outcome);
}

}  // namespace holdfast::gateway
