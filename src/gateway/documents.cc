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
  codec::write_map_head(out,
                        6u + has_ended(instance) + trace.has_value() + (instance.code ? 3u : 0u));
  put(out, "workflow", workflow);
  put_value(out, "key", key);
  put(out, "status", name_of(instance.status));
  put_flag(out, "paused", instance.is_paused);
  put_number(out, "record", instance.last_record);
  put_state(out, "state", instance.state, graph);
  if (trace) put(out, "traceparent", trace->to_text());
  if (instance.code) {
    put(out, "workflow_hash", to_text(instance.code->workflow_hash));
    put(out, "module", instance.code->module);
    put(out, "module_hash", to_text(instance.code->module_hash));
  }
  if (!has_ended(instance)) return;
  put_value(out, instance.status == InstanceStatus::kCompleted ? "result" : "error",
            instance.outcome);
}

namespace {

void put_names(codec::Buffer& out, std::string_view name, const std::vector<std::string>& names) {
  codec::write_text(out, name);
  codec::write_list_head(out, names.size());
  for (const std::string& each : names) codec::write_text(out, each);
}

}  // namespace

void put_blocking(codec::Buffer& out, const Applied& applied) {
  codec::write_list_head(out, applied.blocking.size());
  for (const BlockingInstance& instance : applied.blocking) {
    codec::write_map_head(out, 6);
    put(out, "workflow", instance.workflow);
    put_value(out, "key", instance.key);
    put(out, "status", instance.status);
    put_flag(out, "paused", instance.is_paused);
    put_number(out, "effects", instance.effects);
    put_number(out, "mail", instance.mail);
  }
}

namespace {

void put_applied_members(codec::Buffer& out, const Applied& applied) {
  put_number_or_null(out, "record", applied.record);
  put_flag(out, "unchanged", applied.unchanged);
  put_names(out, "added", applied.added);
  put_names(out, "changed", applied.changed);
  put_names(out, "removed", applied.removed);
  codec::write_text(out, "pinned");
  codec::write_list_head(out, applied.pinned.size());
  for (const BlockedWorkflow& each : applied.pinned) {
    codec::write_map_head(out, 2);
    put(out, "workflow", each.workflow);
    put_number(out, "instances", each.instances);
  }
  codec::write_text(out, "blocking");
  put_blocking(out, applied);
  put_number(out, "blocking_count", applied.blocking_count);
  codec::write_text(out, "blocking_workflows");
  codec::write_list_head(out, applied.blocking_workflows.size());
  for (const BlockedWorkflow& each : applied.blocking_workflows) {
    codec::write_map_head(out, 3);
    put(out, "workflow", each.workflow);
    put_number(out, "instances", each.instances);
    put_names(out, "because", each.because);
  }
}

void put_or_null(codec::Buffer& out, std::string_view name, const std::string& text) {
  if (!text.empty()) return put(out, name, text);
  codec::write_text(out, name);
  codec::write_null(out);
}

}  // namespace

void put_applied(codec::Buffer& out, const Applied& applied) {
  codec::write_map_head(out, 9);
  put_applied_members(out, applied);
}

void put_migrated(codec::Buffer& out, const Migrated& migrated) {
  put_number(out, "moved", migrated.moved);
  put_number(out, "stays", migrated.stays);
  codec::write_text(out, "staying");
  codec::write_list_head(out, migrated.staying.size());
  for (const StayingInstance& each : migrated.staying) {
    codec::write_map_head(out, 3);
    put(out, "workflow", each.workflow);
    put_value(out, "key", each.key);
    put(out, "why", each.why);
  }
}

void put_rehearsed(codec::Buffer& out, const Rehearsed& rehearsed) {
  codec::write_map_head(out, 10);
  put_applied_members(out, rehearsed.applied);
  codec::write_text(out, "rehearsal");
  codec::write_map_head(out, 12);
  put_number(out, "at", rehearsed.at);
  put_number(out, "instances", rehearsed.instances);
  put_number(out, "replayed", rehearsed.replayed);
  put_or_null(out, "difference", rehearsed.difference);
  put_number(out, "differs", rehearsed.differs);
  put_number(out, "differs_ended", rehearsed.differs_ended);
  codec::write_text(out, "differing");
  codec::write_list_head(out, rehearsed.differing.size());
  for (const DifferingInstance& each : rehearsed.differing) {
    codec::write_map_head(out, 4);
    put(out, "workflow", each.workflow);
    put_value(out, "key", each.key);
    put_number(out, "record", each.record);
    put(out, "why", each.why);
  }
  put_or_null(out, "replay_stopped", rehearsed.replay_stopped);
  put_migrated(out, rehearsed.migrated);
  put_flag(out, "good", rehearsed.is_good());
}

}  // namespace holdfast::gateway
