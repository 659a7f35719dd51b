// SPDX-License-Identifier: Apache-2.0
#include "gateway/route_schemas.h"

#include <algorithm>

#include "gateway/route_bodies.h"

namespace holdfast::gateway {
namespace {

using namespace bodies;

constexpr NamedSchema kNamedSchemas[] = {
    {"Event", kEvent,
     R"({"schema":"demo/OrderPlaced@1","value":{"id":"o-9","sku":"mug","count":2,"cents":1990},"id":"order-9"})"},
    {"Signal", kSignal, R"({"schema":"demo/OrderCancelled@1","value":{"id":"o-9"}})"},
    {"Start", kStart, R"({"input":{"id":"o-9","sku":"mug","count":2,"cents":1990},"wait":5000})"},
    {"SubmitGraph", kSubmitGraph,
     R"({"id":"nightly-1","document":{"apiVersion":"holdfast/v1","kind":"Workflow","metadata":{"name":"nightly"},"spec":{"taskType":"echo","graph":{"nodes":[{"name":"hello"}]}}}})"},
    {"RerunGraph", kRerunGraph, R"({"id":"nightly-2"})"},
    {"SubmittedGraph", kSubmittedGraph, R"({"id":"nightly-1","tasks":1,"repeated":false})"},
    {"TaskGraph", kTaskGraph},
    {"GraphList", kGraphList},
    {"TaskList", kTaskList},
    {"AddSchedule", kAddSchedule,
     R"({"name":"nightly","cron":"30 2 * * *","zone":"Europe/Berlin","workflow":"demo/Order@1","input":{"id":"{key}","sku":"mug","count":1,"cents":1200}})"},
    {"RemoveSchedule", kRemoveSchedule, R"({"cancel":true})"},
    {"Schedule", kSchedule},
    {"ScheduleList", kScheduleList},
    {"PreviewSchedule", kPreviewSchedule,
     R"({"cron":"30 2 * * *","zone":"Europe/Berlin","count":3})"},
    {"DueTimes", kDueTimes, R"({"due_ns":[1700000000000000000]})"},
    {"Reason", kReason, R"({"reason":"ordered by mistake"})"},
    {"Restart", kRestart, R"({"step":"pay","reason":"the bank is open again"})"},
    {"Restarted", kRestarted, R"({"record":40,"from":31})"},
    {"Migrated", kMigrated, R"({"moved":12,"stays":0,"staying":[]})"},
    {"Sent", kSent, R"({"record":12,"deliveries":1,"ignored":0,"unhandled":0,"repeated":false})"},
    {"Overview", kOverview,
     R"({"workflows":[{"workflow":"demo/Order@1","counts":{"completed":3,"failed":2}}],"failures":[{"workflow":"demo/Order@1","code":"not_reserved","count":1,"last_ns":1700000000000000000}],"seen":40,"lag":0})"},
    {"Waits", kWaits,
     R"({"waiting":1,"moved_on":0,"not_examined":0,"groups":[{"workflow":"demo/Order@1","kind":"receipt","subject":"demo/ship@1","count":1,"oldest_ns":1700000000000000000,"sentence":"It waits for the receipt of demo/ship@1","examples":[{"workflow":"demo/Order@1","key":"o-9"}]}],"seen":40})"},
    {"Me", kMe, R"({"name":"ops","role":"operator","open":false,"supervised":false})"},
    {"BeginBatch", kBeginBatch,
     R"({"action":"cancel","filter":{"workflow":"demo/Order@1","status":"waiting"},"reason":"the shop is closed","dry_run":true})"},
    {"Batch", kBatch},
    {"BatchList", kBatches},
    {"InstanceList", kInstances},
    {"Instance", kInstance},
    {"State", kState},
    {"Why", kWhy},
    {"Workflows", kWorkflows},
    {"StepGraph", kGraph},
    {"Execution", kExecution},
    {"Timeline", kTimeline},
    {"Journal", kJournal},
    {"Manifest", kManifest},
    {"Receipt", kReceipt},
    {"Progress", kProgress},
    {"Reported", kReported, R"({"record":12,"repeated":false})"},
    {"Effect", kEffect},
    {"EffectList", kEffects},
    {"Definitions", kDefinitions},
    {"Applied", kApplied,
     R"({"record":12,"unchanged":false,"added":[],"changed":["demo/Order@1"],"removed":[],"pinned":[],"blocking":[],"blocking_count":0,"blocking_workflows":[]})"},
    {"Propose", kPropose},
    {"Proposed", kProposed, R"({"proposal":12})"},
    {"ProposalList", kProposals},
    {"Shadow", kShadow, R"({"records":1000})"},
    {"Tried", kTried},
    {"Decision", kDecision, R"({"reason":"the trial shows no difference"})"},
    {"Nothing", kNothing, "{}"},
    {"Record", kRecord, R"({"record":12})"},
    {"Worker", kWorkerState},
    {"WorkerList", kWorkers},
    {"Enrolment", kEnrolment},
    {"Enrolled", kEnrolled},
    {"WorkerSession", kWorkerSession},
    {"WorkerSync", kWorkerSync},
    {"WorkerLeave", kWorkerLeave},
    {"TaskLogs", kTaskLogs},
    {"TaskResult", kTaskResult},
    {"Cursor", kCursor},
    {"CursorList", kCursors},
    {"MakeCursor", kMakeCursor, R"({"name":"billing","from":"now"})"},
    {"ResetCursor", kResetCursor, R"({"from":"oldest"})"},
    {"ReadCursor", kReadCursor},
    {"TaskEvents", kTaskEvents},
    {"EventOfCursor", kEventOfCursor},
    {"RejectEvent", kRejectEvent},
    {"RejectedEvent", kRejectedEvent},
    {"Quarantine", kQuarantine},
    {"Snapshot", kSnapshot, R"({"next_record":41})"},
    {"MakeBackup", kMakeBackup, R"({"name":"nightly"})"},
    {"Backup", kBackup},
    {"BackupList", kBackups},
    {"Status", kStatus, R"({"status":"ok"})"},
    {"Document", kObject},
};

}  // namespace

std::span<const NamedSchema> named_schemas() noexcept { return kNamedSchemas; }

const NamedSchema* find_named(std::string_view schema) noexcept {
  const auto found = std::ranges::find(kNamedSchemas, schema, &NamedSchema::schema);
  return found == std::end(kNamedSchemas) ? nullptr : found;
}

}  // namespace holdfast::gateway
