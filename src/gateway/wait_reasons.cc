// SPDX-License-Identifier: Apache-2.0
#include "gateway/wait_reasons.h"

#include "codec/json_writer.h"
#include "codec/view.h"
#include "gateway/documents.h"

namespace holdfast::gateway {
namespace {

using Kind = WaitReason::Kind;

void put_events(codec::Buffer& out, const std::vector<std::string>& schemas) {
  codec::write_map_head(out, 2);
  put(out, "kind", "event");
  codec::write_text(out, "schemas");
  codec::write_list_head(out, schemas.size());
  for (const std::string& schema : schemas) codec::write_text(out, schema);
}

std::string events_clause(const std::vector<std::string>& schemas) {
  std::string events;
  for (const std::string& schema : schemas) events += (events.empty() ? "" : " or ") + schema;
  return "It waits for an event: " + events;
}

void put_instance(codec::Buffer& out, std::string_view field, const std::string& workflow,
                  const Bytes& key) {
  codec::write_text(out, field);
  codec::write_map_head(out, 2);
  put(out, "workflow", workflow);
  put_value(out, "key", key);
}

std::string name_text(const std::string& workflow, const Bytes& key) {
  return key.empty() ? workflow : workflow + " / " + codec::to_json(codec::View::of(key));
}

// Who performs it: null while it waits for a worker.
void put_work(codec::Buffer& out, const WaitReason& reason) {
  put_number(out, "queued_ns", reason.queued_ns);
  put_number(out, "losses", reason.losses);
  codec::write_text(out, "lease");
  if (!reason.lease) return codec::write_null(out);
  codec::write_map_head(out, 4);
  put(out, "worker", reason.lease->worker);
  put_number(out, "dispatch", reason.lease->dispatch);
  put_number(out, "leased_ns", reason.lease->leased_ns);
  codec::write_text(out, "stopping");
  codec::write_bool(out, reason.lease->is_stopping);
}

std::string work_clause(const WaitReason& reason) {
  const std::string losses =
      reason.losses == 0 ? "" : " (workers lost with it: " + std::to_string(reason.losses) + ")";
  if (!reason.lease)
    return "Waiting for a worker to perform " + reason.effect + " since " +
           time_text(reason.queued_ns) + losses;
  const std::string since = " since " + time_text(reason.lease->leased_ns) + losses;
  if (reason.lease->is_stopping)
    return "Stopping: worker " + reason.lease->worker + ", which has had " + reason.effect + since +
           ", was asked to end it";
  return "Worker " + reason.lease->worker + " has been performing " + reason.effect + since;
}

void put_reason(codec::Buffer& out, const WaitReason& reason) {
  switch (reason.kind) {
    case Kind::kReceipt:
      codec::write_map_head(out, 6u + (reason.due_ns ? 1u : 0u) +
                                     (reason.child_workflow.empty() ? 0u : 1u) +
                                     (reason.by_workers ? 3u : 0u));
      put(out, "kind", "receipt");
      put(out, "effect", reason.effect);
      put(out, "executor", reason.executor);
      put(out, "intent", to_text(reason.intent));
      put_number(out, "opened_at", reason.opened_at);
      put_number(out, "since_ns", reason.since_ns);
      if (reason.due_ns) put_number(out, "due_ns", *reason.due_ns);
      if (!reason.child_workflow.empty())
        put_instance(out, "child", reason.child_workflow, reason.child_key);
      if (reason.by_workers) put_work(out, reason);
      return;
    case Kind::kTurn:
    case Kind::kPaused:
    case Kind::kHolds:
      codec::write_map_head(out, 2);
      put(out, "kind",
          reason.kind == Kind::kTurn    ? "turn"
          : reason.kind == Kind::kHolds ? "holds"
                                        : "paused");
      return put_number(out, "mail", reason.mail);
    case Kind::kRoom:
      codec::write_map_head(out, reason.full_workflow.empty() ? 2 : 3);
      put(out, "kind", "room");
      put_number(out, "mail", reason.mail);
      if (!reason.full_workflow.empty())
        put_instance(out, "full", reason.full_workflow, reason.full_key);
      return;
    case Kind::kEvent: return put_events(out, reason.schemas);
    case Kind::kNothing: break;
  }
  codec::write_map_head(out, 1);
  put(out, "kind", "nothing");
}

std::string waiting_mail(std::uint64_t mail) {
  if (mail == 0) return "";
  return mail == 1 ? ", and 1 message waits for it"
                   : ", and " + std::to_string(mail) + " messages wait for it";
}

std::string clause_of(const WaitReason& reason) {
  switch (reason.kind) {
    case Kind::kReceipt:
      if (reason.due_ns) return "It waits for a timer that is due at " + time_text(*reason.due_ns);
      if (!reason.child_workflow.empty())
        return "It waits for " + name_text(reason.child_workflow, reason.child_key) +
               ", which it has run since " + time_text(reason.since_ns);
      if (reason.by_workers) return work_clause(reason);
      return "It waits for the receipt of " + reason.effect + " (" + reason.executor +
             "), opened by record " + std::to_string(reason.opened_at) + " at " +
             time_text(reason.since_ns);
    case Kind::kTurn: return "Its turn has not come yet" + waiting_mail(reason.mail);
    case Kind::kPaused: return "Somebody has paused it" + waiting_mail(reason.mail);
    case Kind::kRoom:
      return "Its next step waits for room in the mailbox of " +
             (reason.full_workflow.empty() ? "any instance: too much mail waits in the world"
                                           : name_text(reason.full_workflow, reason.full_key)) +
             waiting_mail(reason.mail);
    case Kind::kHolds:
      return "It takes events again when one of its effects has answered" +
             waiting_mail(reason.mail);
    case Kind::kEvent: return events_clause(reason.schemas);
    case Kind::kNothing: break;
  }
  return "It waits for nothing: no event is routed to it, and nothing is under way";
}

void put_requirements(codec::Buffer& out, const steps::Reason& reason) {
  codec::write_text(out, "requirements");
  codec::write_map_head(out, reason.requirements.size());
  for (const auto& [field, value] : reason.requirements) put_value(out, field, value);
}

void put_reason(codec::Buffer& out, const steps::Reason& reason) {
  using StepKind = steps::Reason::Kind;
  const auto begin = [&](std::string_view kind, std::uint64_t more) {
    codec::write_map_head(out, 4 + more + (reason.due_ns == 0 ? 0 : 1));
    put(out, "kind", kind);
    put(out, "step", reason.step);
    put_number(out, "item", reason.item);
    put(out, "schema", reason.schema);
    if (reason.due_ns != 0) put_number(out, "due_ns", reason.due_ns);
  };
  switch (reason.kind) {
    case StepKind::kWait: begin("wait", 1); return put_requirements(out, reason);
    case StepKind::kRetry: begin("retry", 1); return put_number(out, "failures", reason.failures);
    case StepKind::kQueued:
      begin("queued", 3);
      put_number(out, "events_before", reason.events_before);
      put_number(out, "running", reason.running);
      return put_number(out, "workers", reason.workers);
    case StepKind::kEvent: return put_events(out, reason.schemas);
    case StepKind::kTimeout: break;
  }
  codec::write_map_head(out, 2);
  put(out, "kind", "timeout");
  put_number(out, "due_ns", reason.due_ns);
}

std::string requirements_text(const steps::Reason& reason) {
  std::string text;
  for (const auto& [field, value] : reason.requirements)
    text += (text.empty() ? " whose " : " and ") + field + " is " +
            codec::to_json(codec::View::of(value));
  return text;
}

std::string clause_of(const steps::Reason& reason) {
  using StepKind = steps::Reason::Kind;
  const std::string until = reason.due_ns == 0 ? "" : ", until " + time_text(reason.due_ns);
  switch (reason.kind) {
    case StepKind::kWait:
      return "Step " + reason.step + " waits for " + reason.schema + requirements_text(reason) +
             until;
    case StepKind::kRetry:
      return "Step " + reason.step + " has failed " + std::to_string(reason.failures) +
             (reason.failures == 1 ? " time" : " times") + ", and is tried again at " +
             time_text(reason.due_ns);
    case StepKind::kQueued:
      return "An event for step " + reason.step + " (" + reason.schema + ") is queued behind " +
             std::to_string(reason.running) + " that are running and " +
             std::to_string(reason.events_before) + " before it";
    case StepKind::kEvent:
      if (reason.schemas.empty()) return "Nothing is under way, and none of its steps waits";
      return events_clause(reason.schemas);
    case StepKind::kTimeout: break;
  }
  return "The run ends at " + time_text(reason.due_ns) + " whatever it is at";
}

// What people want to hear first: that somebody has paused it, then what its steps wait for, then
// what is under way; not a deadline, but what it is for.
int urgency(const WaitReason& reason) {
  if (reason.kind == Kind::kPaused || reason.kind == Kind::kRoom) return 0;
  return reason.due_ns ? 4 : 2;
}
int urgency(const steps::Reason& reason) {
  switch (reason.kind) {
    case steps::Reason::Kind::kWait:
    case steps::Reason::Kind::kRetry:
    case steps::Reason::Kind::kEvent: return 1;
    case steps::Reason::Kind::kQueued: return 3;
    case steps::Reason::Kind::kTimeout: break;
  }
  return 5;
}

}  // namespace

void put_why(codec::Buffer& out, const std::vector<WaitReason>& reasons,
             const std::vector<steps::Reason>& of_steps) {
  std::string clause;
  int first = INT32_MAX;
  std::uint64_t count = 0;
  codec::Buffer list;
  const auto add = [&](const auto& reason) {
    ++count;
    put_reason(list, reason);
    if (urgency(reason) >= first) return;
    first = urgency(reason);
    clause = clause_of(reason);
  };
  // Whoever has ended waits for nothing, whatever its state was a moment ago.
  if (!reasons.empty()) {
    for (const steps::Reason& reason : of_steps) add(reason);
    for (const WaitReason& reason : reasons) {
      if (of_steps.empty() || (!reason.due_ns && reason.kind != Kind::kEvent)) add(reason);
    }
  }
  const std::string more = count < 2 ? "."
                                     : "; and for " + std::to_string(count - 1) + " more reason" +
                                           (count == 2 ? "." : "s.");
  codec::write_map_head(out, 2);
  put(out, "sentence", count == 0 ? "It has ended." : clause + more);
  codec::write_text(out, "reasons");
  codec::write_list_head(out, count);
  out.append(list.view());
}

}  // namespace holdfast::gateway
