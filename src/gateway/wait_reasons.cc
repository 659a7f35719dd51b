// SPDX-License-Identifier: Apache-2.0
#include "gateway/wait_reasons.h"

#include <algorithm>
#include <optional>

#include "codec/json_writer.h"
#include "codec/view.h"
#include "defs/system_names.h"
#include "gateway/documents.h"
#include "tasks/task_cell.h"
#include "workers/desk.h"

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

using Placement = dispatch::Explanation;

std::string_view kind_text(Placement::Kind kind) {
  switch (kind) {
    case Placement::Kind::kNoneEligible: return "none_eligible";
    case Placement::Kind::kBusy: return "busy";
    case Placement::Kind::kKeyLimit: return "key_limit";
    case Placement::Kind::kSwapping: return "swapping";
    case Placement::Kind::kChosen: return "chosen";
    case Placement::Kind::kLeased: return "running";
    case Placement::Kind::kEnding: return "ending";
    case Placement::Kind::kUnknown: break;
  }
  return "unknown";
}

// What the dispatcher says of a task that waits for a worker.
void put_placement(codec::Buffer& out, const Placement& placement, std::uint64_t now_ns) {
  const bool is_key = placement.kind == Placement::Kind::kKeyLimit;
  const bool has_place = placement.kind == Placement::Kind::kBusy;
  const bool gives_up = placement.gives_up_ns.has_value();
  const bool swaps = placement.kind == Placement::Kind::kSwapping;
  codec::write_text(out, "placement");
  codec::write_map_head(out, 3u + (is_key ? 3u : 0u) + (has_place ? 2u : 0u) +
                                 (gives_up ? 2u : 0u) + (swaps ? 2u : 0u));
  put(out, "kind", kind_text(placement.kind));
  if (has_place) {
    put_number(out, "place", placement.place);
    put_number(out, "length", placement.length);
  }
  if (is_key) {
    put(out, "key", placement.key);
    put_number(out, "limit", placement.key_limit);
    put_number(out, "running", placement.key_running);
  }
  if (swaps) {
    put(out, "recipe", placement.recipe);
    put(out, "worker", placement.worker);
  }
  if (gives_up) {
    put_flag(out, "exhausted", placement.is_exhausted);
    const std::uint64_t at = *placement.gives_up_ns;
    put_number(out, "fails_in_ms", at > now_ns ? (at - now_ns) / 1'000'000 : 0);
  }
  codec::write_text(out, "workers");
  codec::write_list_head(out, placement.workers.size());
  for (const Placement::OfWorker& worker : placement.workers) {
    codec::write_map_head(out, 3);
    put(out, "worker", worker.worker);
    put(out, "name", worker.name);
    put(out, "reason", worker.reason);
  }
  put_number(out, "more_workers", placement.more_workers);
}

std::string workers_text(const Placement& placement) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < placement.workers.size() && i < kShown; ++i)
    text += (i == 0 ? ": " : "; ") + placement.workers[i].name + " " + placement.workers[i].reason;
  const std::size_t left = placement.more_workers + placement.workers.size() -
                           std::min(placement.workers.size(), kShown);
  return left == 0 ? text : text + "; and " + std::to_string(left) + " more workers";
}

// Of a task that was tried before; nothing: of another effect, or of the first execution.
using LastError = std::optional<tasks::TaskError>;

LastError last_error_of(const WaitReason& reason, const RawInstance& instance) {
  if (reason.kind != Kind::kReceipt || reason.effect != defs::kTaskRun || instance.state.empty())
    return std::nullopt;
  const auto cell = tasks::read_task_cell(codec::View::of(instance.state));
  return cell ? cell->error : std::nullopt;
}
LastError last_error_of(const steps::Reason&, const RawInstance&) { return std::nullopt; }

std::string text_of(const LastError& error) {
  if (!error) return "";
  return "; last: " + error->code + (error->message.empty() ? "" : ": " + error->message);
}

std::string placement_clause(const Placement& placement, std::uint64_t now_ns,
                             const LastError& error) {
  switch (placement.kind) {
    case Placement::Kind::kNoneEligible: {
      const std::uint64_t at = placement.gives_up_ns.value_or(now_ns);
      // The one that failed it may have left since.
      return std::string(placement.is_exhausted || error
                             ? "Every worker that can run this task has failed it"
                             : "No worker can run this task") +
             workers_text(placement) + text_of(error) + ". It fails in " +
             std::to_string(at > now_ns ? (at - now_ns) / 1'000'000'000 : 0) +
             " s unless another worker comes";
    }
    case Placement::Kind::kBusy:
      return "Waiting for a free worker, place " + std::to_string(placement.place) + " of " +
             std::to_string(placement.length) + " in the queue" + workers_text(placement) +
             text_of(error);
    case Placement::Kind::kKeyLimit:
      return "Waiting for the concurrency key " + placement.key + ": " +
             std::to_string(placement.key_running) +
             " tasks with it are running, and the limit is " + std::to_string(placement.key_limit) +
             text_of(error);
    case Placement::Kind::kSwapping:
      return "Recipe " + placement.recipe + " is being swapped in on worker " + placement.worker +
             text_of(error);
    case Placement::Kind::kChosen: return "It is being given to worker " + placement.worker;
    case Placement::Kind::kEnding: return "Its end is being recorded";
    case Placement::Kind::kLeased:
    case Placement::Kind::kUnknown: break;
  }
  return "";
}

// What the desk says of an effect that waits for a worker. Nothing: it does not know it.
std::optional<Placement> placement_of(const WaitReason& reason, const workers::Desk* desk) {
  if (desk == nullptr || !reason.by_workers || reason.lease) return std::nullopt;
  Placement placement = desk->explain(reason.intent);
  if (placement.kind == Placement::Kind::kUnknown) return std::nullopt;
  return placement;
}

void put_reason(codec::Buffer& out, const WaitReason& reason, const workers::Desk* desk,
                const LastError& error) {
  const auto placement = placement_of(reason, desk);
  switch (reason.kind) {
    case Kind::kReceipt:
      codec::write_map_head(
          out, 6u + (reason.due_ns ? 1u : 0u) + (reason.child_workflow.empty() ? 0u : 1u) +
                   (reason.by_workers ? 3u : 0u) + (placement ? 1u : 0u) +
                   (reason.busy_handler_threads != 0 ? 1u : 0u) + (error ? 1u : 0u));
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
      if (reason.busy_handler_threads != 0)
        put_number(out, "busy_handler_threads", reason.busy_handler_threads);
      if (placement) put_placement(out, *placement, desk->now_ns());
      if (error) {
        codec::write_text(out, "last_error");
        codec::write_map_head(out, 3);
        put(out, "code", error->code);
        put(out, "message", error->message);
        put(out, "worker", error->worker);
      }
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

std::string clause_of(const WaitReason& reason, const workers::Desk* desk, const LastError& error) {
  if (const auto placement = placement_of(reason, desk)) {
    if (auto clause = placement_clause(*placement, desk->now_ns(), error); !clause.empty())
      return clause;
  }
  switch (reason.kind) {
    case Kind::kReceipt:
      if (reason.due_ns) return "It waits for a timer that is due at " + time_text(*reason.due_ns);
      if (!reason.child_workflow.empty())
        return "It waits for " + name_text(reason.child_workflow, reason.child_key) +
               ", which it has run since " + time_text(reason.since_ns);
      if (reason.by_workers) return work_clause(reason) + text_of(error);
      if (reason.busy_handler_threads != 0) {
        const std::string count = std::to_string(reason.busy_handler_threads);
        return "It waits for a free handler thread (" + count + " of " + count + " busy) to run " +
               reason.effect + ", opened by record " + std::to_string(reason.opened_at) + " at " +
               time_text(reason.since_ns);
      }
      return "It waits for the receipt of " + reason.effect + " (" + reason.executor +
             "), opened by record " + std::to_string(reason.opened_at) + " at " +
             time_text(reason.since_ns);
    case Kind::kTurn: return "Its turn has not come yet" + waiting_mail(reason.mail);
    case Kind::kPaused:
      if (!reason.missing_code.empty())
        return "It waits for code of the definition that it began with, " + reason.missing_code +
               "; resume it when the program has that code" + waiting_mail(reason.mail);
      return "It is paused" + waiting_mail(reason.mail);
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

void put_failure(codec::Buffer& out, const steps::Reason& reason) {
  put_number(out, "failures", reason.failures);
  put(out, "code", reason.code);
  put(out, "message", reason.message);
}

std::string failure_text(const steps::Reason& reason) {
  if (reason.code.empty()) return "";
  return " with " + reason.code + (reason.message.empty() ? "" : ": " + reason.message);
}

void put_reason(codec::Buffer& out, const steps::Reason& reason, const workers::Desk*,
                const LastError&) {
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
    case StepKind::kFailed:
      codec::write_map_head(out, 6);
      put(out, "step", reason.step);
      put_number(out, "item", reason.item);
      put_number(out, "attempt", reason.failures);
      put_number(out, "at_ns", reason.due_ns);
      put(out, "code", reason.code);
      return put(out, "message", reason.message);
    case StepKind::kWait: begin("wait", 1); return put_requirements(out, reason);
    case StepKind::kRetry: begin("retry", 3); return put_failure(out, reason);
    case StepKind::kAttempt: begin("attempt", 3); return put_failure(out, reason);
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

std::string clause_of(const steps::Reason& reason, const workers::Desk*, const LastError&) {
  using StepKind = steps::Reason::Kind;
  const std::string until = reason.due_ns == 0 ? "" : ", until " + time_text(reason.due_ns);
  switch (reason.kind) {
    case StepKind::kWait:
      return "Step " + reason.step + " waits for " + reason.schema + requirements_text(reason) +
             until;
    case StepKind::kRetry:
      return "Step " + reason.step + " has failed " + std::to_string(reason.failures) +
             (reason.failures == 1 ? " time" : " times") + ", and is tried again at " +
             time_text(reason.due_ns) +
             (reason.code.empty() ? "" : "; the last attempt failed" + failure_text(reason));
    case StepKind::kAttempt:
      return "Step " + reason.step + " runs attempt " + std::to_string(reason.failures + 1) +
             "; attempt " + std::to_string(reason.failures) + " failed" + failure_text(reason);
    case StepKind::kQueued:
      return "An event for step " + reason.step + " (" + reason.schema + ") is queued behind " +
             std::to_string(reason.running) + " that are running and " +
             std::to_string(reason.events_before) + " before it";
    case StepKind::kEvent:
      if (reason.schemas.empty()) return "Nothing is under way, and none of its steps waits";
      return events_clause(reason.schemas);
    case StepKind::kTimeout:
    case StepKind::kFailed: break;
  }
  return "The run ends at " + time_text(reason.due_ns) + " whatever it is at";
}

// In the words of its status and its error.
std::string end_of(const RawInstance& instance) {
  const std::string status(name_of(instance.status));
  if (instance.status != InstanceStatus::kFailed || instance.outcome.empty())
    return "It has ended: " + status + ".";
  const codec::View error = codec::View::of(instance.outcome);
  const auto text = [&](std::string_view name) {
    const auto found = error.find(name);
    return std::string(found ? found->text().value_or("") : "");
  };
  const std::string message = text("message");
  return "It has ended: " + status + ": " + text("code") + (message.empty() ? "" : ": " + message);
}

// What is over is told beside the reasons.
bool is_reason(const steps::Reason& reason) { return reason.kind != steps::Reason::Kind::kFailed; }

// What people want to hear first: that it is paused, then what its steps wait for, then
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
    case steps::Reason::Kind::kAttempt: return 2;
    case steps::Reason::Kind::kTimeout:
    case steps::Reason::Kind::kFailed: break;
  }
  return 5;
}

std::string version_sentence(const KeptVersion& version) {
  return "It keeps the version of its workflow that it began with (" + to_text(version.hash) +
         "). " +
         (version.stays_because.empty()
              ? "`migrate` would move it to the present one."
              : "It cannot move to the present one: " + version.stays_because + ".");
}

void put_version(codec::Buffer& out, const KeptVersion& version) {
  codec::write_text(out, "version");
  codec::write_map_head(out, 4);
  put(out, "sentence", version_sentence(version));
  put(out, "hash", to_text(version.hash));
  put(out, "present_hash", to_text(version.present_hash));
  if (!version.stays_because.empty()) return put(out, "stays_because", version.stays_because);
  codec::write_text(out, "stays_because");
  codec::write_null(out);
}

}  // namespace

void put_why(codec::Buffer& out, const RawInstance& instance,
             const std::vector<WaitReason>& reasons, const std::vector<steps::Reason>& of_steps,
             const workers::Desk* desk, const std::optional<KeptVersion>& version) {
  std::string clause;
  int first = INT32_MAX;
  std::uint64_t count = 0;
  codec::Buffer list;
  const auto add = [&](const auto& reason) {
    ++count;
    const LastError error = last_error_of(reason, instance);
    put_reason(list, reason, desk, error);
    if (urgency(reason) >= first) return;
    first = urgency(reason);
    clause = clause_of(reason, desk, error);
  };
  // Whoever has ended waits for nothing, whatever its state was a moment ago.
  if (!reasons.empty()) {
    const bool is_of_steps = std::ranges::any_of(of_steps, is_reason);
    for (const steps::Reason& reason : of_steps) {
      if (is_reason(reason)) add(reason);
    }
    for (const WaitReason& reason : reasons) {
      if (!is_of_steps || (!reason.due_ns && reason.kind != Kind::kEvent)) add(reason);
    }
  }
  const std::string more = count < 2 ? "."
                                     : "; and for " + std::to_string(count - 1) + " more reason" +
                                           (count == 2 ? "." : "s.");
  const auto failed = static_cast<std::uint64_t>(
      std::ranges::count_if(of_steps, [](const auto& reason) { return !is_reason(reason); }));
  codec::write_map_head(out, 2u + (failed == 0 ? 0u : 1u) + (version ? 1u : 0u));
  put(out, "sentence", count == 0 ? end_of(instance) : clause + more);
  if (version) put_version(out, *version);
  codec::write_text(out, "reasons");
  codec::write_list_head(out, count);
  out.append(list.view());
  if (failed == 0) return;
  codec::write_text(out, "failed_attempts");
  codec::write_list_head(out, failed);
  for (const steps::Reason& reason : of_steps) {
    if (!is_reason(reason)) put_reason(out, reason, desk, std::nullopt);
  }
}

void put_why(codec::Buffer& out, const TaskWaits& waits) {
  std::string sentence = "Its graph is still being submitted.";
  if (waits.is_sealed) {
    sentence = "It waits for " + std::to_string(waits.count) +
               (waits.count == 1 ? " task" : " tasks") + " before it";
    if (!waits.tasks.empty()) {
      const TaskInfo& first = waits.tasks.front();
      sentence += first.kind == TaskInfo::Kind::kGate
                      ? ": epoch " + std::to_string(first.epoch.value_or(0)) + " has not begun"
                      : ": '" + first.name + "' is " + std::string(name_of(first.status));
    }
    sentence += ".";
  }
  codec::write_map_head(out, 2);
  put(out, "sentence", sentence);
  codec::write_text(out, "reasons");
  codec::write_list_head(out, waits.is_sealed ? waits.tasks.size() : 1);
  if (!waits.is_sealed) {
    codec::write_map_head(out, 1);
    return put(out, "kind", "sealing");
  }
  for (const TaskInfo& task : waits.tasks) {
    const bool is_gate = task.kind == TaskInfo::Kind::kGate;
    codec::write_map_head(out, is_gate ? 3 : 4);
    put(out, "kind", is_gate ? "epoch" : "dependency");
    put_number(out, "task", task.number);
    if (is_gate) {
      put_number(out, "epoch", task.epoch.value_or(0));
    } else {
      put(out, "name", task.name);
      put(out, "status", name_of(task.status));
    }
  }
}

}  // namespace holdfast::gateway
