// SPDX-License-Identifier: Apache-2.0
// The table of all routes.
#include "gateway/handlers.h"
#include "gateway/route.h"

namespace holdfast::gateway {
namespace {

constexpr std::string_view kEvent = R"({"type":"object","required":["schema","value"],
"additionalProperties":false,"properties":{
"schema":{"type":"string","description":"the name of the event's schema"},
"value":{"description":"the event; it is normalised by its schema"},
"id":{"type":"string","maxLength":255,"description":"sent again with the same id, it happens once"},
"wait":{"type":["integer","boolean"],
"description":"milliseconds to wait for the end of the instance"}}})";

constexpr std::string_view kSignal = R"({"type":"object","required":["schema","value"],
"additionalProperties":false,"properties":{
"schema":{"type":"string"},"value":{},"id":{"type":"string","maxLength":255}}})";

constexpr std::string_view kStart = R"({"type":"object","required":["input"],
"additionalProperties":false,"properties":{
"input":{"description":"the event that begins the instance"},
"event":{"type":"string",
"description":"its schema; otherwise the first that is routed to the workflow"},
"key":{"description":"of the instance; otherwise what the event has where its route finds it"},
"id":{"type":"string","maxLength":255},
"wait":{"type":["integer","boolean"]}}})";

constexpr std::string_view kReason = R"({"type":"object","additionalProperties":false,
"properties":{"reason":{"type":"string","maxLength":4096}}})";

constexpr std::string_view kSent = R"({"type":"object",
"required":["record","deliveries","ignored","repeated"],"properties":{
"record":{"type":"integer","description":"that holds it"},
"deliveries":{"type":"integer","description":"instances that got it"},
"ignored":{"type":"integer","description":"instances that had ended"},
"repeated":{"type":"boolean","description":"it was sent before, and nothing happened now"},
"instance":{"description":"as GET has it, if its end was waited for"}}})";

constexpr std::string_view kInstances = R"({"type":"object",
"required":["instances","next","seen","lag"],"properties":{
"instances":{"type":"array","items":{"type":"object",
"required":["workflow","key","status","paused","first_record","first_ns","last_record","last_ns",
"steps"],"properties":{"workflow":{"type":"string"},"key":{},
"status":{"enum":["running","waiting","completed","failed","cancelled","deleted"]},
"paused":{"type":"boolean"},
"first_record":{"type":"integer","description":"0: before the index began"},
"first_ns":{"type":"integer"},"last_record":{"type":"integer"},"last_ns":{"type":"integer"},
"steps":{"type":"integer"},"error":{"type":"object"}}}},
"next":{"type":["integer","null"],"description":"where to go on; null: there are no more"},
"seen":{"type":"integer","description":"the record that the index has come to"},
"lag":{"type":"integer","description":"durable records that it has not seen"}}})";

constexpr std::string_view kInstance = R"({"type":"object",
"required":["workflow","key","status","paused","record","state"],"properties":{
"workflow":{"type":"string"},"key":{},
"status":{"enum":["running","waiting","completed","failed","cancelled"]},
"paused":{"type":"boolean"},"record":{"type":"integer","description":"the last that touched it"},
"state":{},"result":{},"error":{},
"traceparent":{"type":"string","description":"of the event that began it, if it had one"}}})";

constexpr std::string_view kState = R"({"type":"object","required":["record","state"],
"properties":{"record":{"type":"integer"},"state":{}}})";

constexpr std::string_view kWhy = R"({"type":"object","required":["sentence","reasons"],
"properties":{"sentence":{"type":"string"},"reasons":{"type":"array","items":{"type":"object",
"required":["kind"],"properties":{"kind":{"enum":["receipt","turn","paused","event","nothing"]},
"effect":{"type":"string"},"executor":{"type":"string"},"intent":{"type":"string"},
"opened_at":{"type":"integer"},"since_ns":{"type":"integer"},"due_ns":{"type":"integer"},
"mail":{"type":"integer"},"schemas":{"type":"array","items":{"type":"string"}}}}}}})";

constexpr std::string_view kTimeline = R"({"type":"object","required":["records","next","trimmed"],
"properties":{"records":{"type":"array","description":"the last first","items":{"type":"object"}},
"next":{"type":["integer","null"]},"trimmed":{"type":"boolean"}}})";

constexpr std::string_view kJournal = R"({"type":"object",
"required":["records","next","first","last"],"properties":{
"records":{"type":"array","items":{"type":"object"}},"next":{"type":"integer"},
"first":{"type":"integer"},"last":{"type":"integer"}}})";

constexpr std::string_view kManifest = R"({"type":"object","required":["definitions"],
"properties":{"definitions":{"type":"array","items":{"type":"object"}}}})";

constexpr std::string_view kReceipt = R"({"type":"object","required":["intent"],
"additionalProperties":false,"properties":{
"intent":{"type":"string","description":"of the effect: sha256: and 64 digits"},
"status":{"enum":["ok","error","timeout","cancelled"],"default":"ok"},
"payload":{"description":"if it is ok; by the receipt schema of the effect"},
"error":{"type":"object","required":["code","message","retryable","details"],
"description":"if it is not"},
"cost_cents":{"type":"integer"}}})";

constexpr std::string_view kProgress = R"({"type":"object",
"required":["intent","sequence","payload"],"additionalProperties":false,"properties":{
"intent":{"type":"string"},"sequence":{"type":"integer","minimum":1},
"kind":{"type":"string"},"payload":{}}})";

constexpr std::string_view kReported = R"({"type":"object","required":["record","repeated"],
"properties":{"record":{"type":"integer"},
"repeated":{"type":"boolean","description":"it was said before, and nothing happened now"},
"settled":{"type":"string","description":"how the effect is settled, if it was before"}}})";

constexpr std::string_view kEffect = R"({"type":"object",
"required":["intent","effect","executor","workflow","key","params","opened_at","since_ns",
"progress"],"properties":{"intent":{"type":"string"},"effect":{"type":"string"},
"executor":{"type":"string"},"workflow":{"type":"string"},"key":{},"params":{},
"opened_at":{"type":"integer"},"since_ns":{"type":"integer"},"progress":{"type":"integer"}}})";

constexpr std::string_view kDefinitions = R"({"type":"object","required":["definitions"],
"additionalProperties":false,"properties":{"definitions":{"type":"array",
"items":{"type":"object"},"description":"all of them, and their manifest"}}})";

constexpr std::string_view kApplied = R"({"type":"object",
"required":["record","blocking","blocking_count"],"properties":{
"record":{"type":["integer","null"],"description":"null: nothing was applied"},
"blocking":{"type":"array","items":{"type":"object"},
"description":"instances that have not ended, the first 1000"},
"blocking_count":{"type":"integer"}}})";

constexpr std::string_view kPropose = R"({"type":"object","additionalProperties":false,
"properties":{"definitions":{"type":"array","items":{"type":"object"}},
"patch":{"type":"object","description":"of the present definitions, instead of all of them"},
"description":{"type":"string","maxLength":4096}}})";

constexpr std::string_view kProposed = R"({"type":"object","required":["proposal"],
"properties":{"proposal":{"type":"integer"}}})";

constexpr std::string_view kProposals = R"({"type":"object","required":["proposals"],
"properties":{"proposals":{"type":"array","items":{"type":"object",
"required":["proposal","stage","base","manifest","description","report","by","reason"],
"properties":{"proposal":{"type":"integer"},
"stage":{"enum":["proposed","shadowed","approved","rejected","applied"]},
"base":{"type":"string"},"manifest":{"type":"string"},"description":{"type":"string"},
"report":{},"by":{"type":"string"},"reason":{"type":"string"}}}}}})";

constexpr std::string_view kShadow = R"({"type":"object","required":["report"],
"additionalProperties":false,"properties":{"report":{}}})";

constexpr std::string_view kDecision = R"({"type":"object","additionalProperties":false,
"properties":{"reason":{"type":"string","maxLength":4096},
"by":{"type":"string","description":"where there are no tokens"}}})";

constexpr std::string_view kNothing = R"({"type":"object","additionalProperties":false})";

constexpr std::string_view kRecord = R"({"type":"object","required":["record"],
"properties":{"record":{"type":"integer"}}})";

constexpr std::string_view kSnapshot = R"({"type":"object","required":["next_record"],
"properties":{"next_record":{"type":"integer",
"description":"everything before it is in the snapshot"}}})";

constexpr std::string_view kStatus = R"({"type":"object","required":["status"],
"properties":{"status":{"type":"string"}}})";

constexpr std::string_view kObject = R"({"type":"object"})";

constexpr QueryParameter kFromLimit[] = {
    {"from", "the record to begin with"},
    {"limit", "so many records at most, up to 1000"},
};

constexpr QueryParameter kCheck[] = {
    {"check", "1: nothing is applied; the answer says what stands in the way"},
};

constexpr QueryParameter kAfter[] = {
    {"after", "go on behind this event; the header field Last-Event-ID goes before it"},
};

constexpr QueryParameter kList[] = {
    {"workflow", "only instances of this workflow", true},
    {"status", "only with this status", true},
    {"paused", "1: only those that are paused; 0: only those that are not"},
    {"since", "only those that were touched at this time or later, in ns since 1970"},
    {"words", "only those that have put out all of these words", true},
    {"limit", "so many instances at most, up to 1000"},
    {"after", "go on behind this place: `next` of the part before"},
};

constexpr Route kRoutes[] = {
    {.method = Method::kGet,
     .path = "/healthz",
     .role = Role::kAnybody,
     .name = "health",
     .summary = "The server is there.",
     .answer = kStatus,
     .handle = get_health},
    {.method = Method::kGet,
     .path = "/readyz",
     .role = Role::kAnybody,
     .name = "ready",
     .summary = "The server takes new work.",
     .answer = kStatus,
     .handle = get_ready},
    {.method = Method::kGet,
     .path = "/openapi.json",
     .role = Role::kAnybody,
     .name = "openapi",
     .summary = "This document.",
     .answer = kObject,
     .handle = get_openapi},
    {.method = Method::kGet,
     .path = "/metrics",
     .role = Role::kViewer,
     .name = "metrics",
     .summary = "How much there is of everything, for Prometheus.",
     .handle = get_metrics},
    {.method = Method::kPost,
     .path = "/v1/events",
     .role = Role::kOperator,
     .name = "send",
     .summary = "Sends an event to everybody who subscribes to it. The answer says that it is "
                "durable.",
     .takes = Takes::kEvent,
     .body = kEvent,
     .answer = kSent,
     .statuses = "202 the instance has not ended within the time that was waited",
     .handle = post_event},
    {.method = Method::kPost,
     .path = "/v1/workflows/{workflow}/start",
     .role = Role::kOperator,
     .name = "start",
     .summary = "Begins an instance.",
     .takes = Takes::kDocument,
     .body = kStart,
     .answer = kSent,
     .statuses = "201 it was begun by this request|"
                 "202 it has not ended within the time that was waited",
     .handle = start_instance},
    {.method = Method::kGet,
     .path = "/v1/instances",
     .role = Role::kViewer,
     .name = "instances",
     .summary = "Instances, the newest first, as the index of the history has them.",
     .answer = kInstances,
     .query = kList,
     .handle = list_instances},
    {.method = Method::kGet,
     .path = "/v1/instances/{workflow}/{key}",
     .role = Role::kViewer,
     .name = "instance",
     .summary = "An instance: its status, state and outcome.",
     .answer = kInstance,
     .handle = get_instance},
    {.method = Method::kGet,
     .path = "/v1/instances/{workflow}/{key}/state",
     .role = Role::kViewer,
     .name = "state",
     .summary = "The state of an instance, and the record that it is of.",
     .answer = kState,
     .handle = get_state},
    {.method = Method::kGet,
     .path = "/v1/instances/{workflow}/{key}/timeline",
     .role = Role::kViewer,
     .name = "timeline",
     .summary = "What happened to an instance, the last first.",
     .answer = kTimeline,
     .query = kFromLimit,
     .handle = get_timeline},
    {.method = Method::kGet,
     .path = "/v1/instances/{workflow}/{key}/why",
     .role = Role::kViewer,
     .name = "why",
     .summary = "Why an instance has not ended.",
     .answer = kWhy,
     .handle = get_why},
    {.method = Method::kGet,
     .path = "/v1/instances/{workflow}/{key}/stream",
     .role = Role::kViewer,
     .name = "stream",
     .summary = "What an instance puts out, as an event stream, until it ends.",
     .streams = Streams::kAlways,
     .query = kAfter,
     .handle = stream_instance},
    {.method = Method::kPost,
     .path = "/v1/instances/{workflow}/{key}/cancel",
     .role = Role::kOperator,
     .name = "cancel",
     .summary = "Ends an instance.",
     .takes = Takes::kDocument,
     .body = kReason,
     .answer = kObject,
     .handle = cancel_instance},
    {.method = Method::kPost,
     .path = "/v1/instances/{workflow}/{key}/pause",
     .role = Role::kOperator,
     .name = "pause",
     .summary = "Lets an instance take no steps until it is resumed.",
     .takes = Takes::kDocument,
     .body = kReason,
     .answer = kObject,
     .handle = pause_instance},
    {.method = Method::kPost,
     .path = "/v1/instances/{workflow}/{key}/resume",
     .role = Role::kOperator,
     .name = "resume",
     .summary = "Lets an instance go on that was paused.",
     .takes = Takes::kDocument,
     .body = kReason,
     .answer = kObject,
     .handle = resume_instance},
    {.method = Method::kPost,
     .path = "/v1/instances/{workflow}/{key}/signal",
     .role = Role::kOperator,
     .name = "signal",
     .summary = "Sends an event to one instance that is there, and to nobody else.",
     .takes = Takes::kEvent,
     .body = kSignal,
     .answer = kSent,
     .handle = signal_instance},
    {.method = Method::kGet,
     .path = "/v1/journal",
     .role = Role::kViewer,
     .name = "journal",
     .summary = "The records of the world, in order; to those who accept text/event-stream also "
                "those to come.",
     .answer = kJournal,
     .streams = Streams::kIfAccepted,
     .query = kFromLimit,
     .handle = get_journal},
    {.method = Method::kGet,
     .path = "/v1/manifest",
     .role = Role::kViewer,
     .name = "manifest",
     .summary = "The definitions of the world.",
     .answer = kManifest,
     .handle = get_manifest},
    {.method = Method::kPost,
     .path = "/v1/manifest",
     .role = Role::kAdmin,
     .name = "apply",
     .summary = "Makes other definitions the world's own, if no instance is under way.",
     .takes = Takes::kDocument,
     .body = kDefinitions,
     .answer = kApplied,
     .query = kCheck,
     .handle = post_manifest},
    {.method = Method::kGet,
     .path = "/v1/proposals",
     .role = Role::kViewer,
     .name = "proposals",
     .summary = "Definitions that somebody would like to have, and what became of it.",
     .answer = kProposals,
     .handle = get_proposals},
    {.method = Method::kPost,
     .path = "/v1/proposals",
     .role = Role::kOperator,
     .name = "propose",
     .summary = "Proposes other definitions, or a patch of the present ones.",
     .takes = Takes::kDocument,
     .body = kPropose,
     .answer = kProposed,
     .statuses = "201 it is proposed",
     .handle = post_proposal},
    {.method = Method::kPost,
     .path = "/v1/proposals/{proposal}/shadow",
     .role = Role::kOperator,
     .name = "shadow",
     .summary = "Records what a trial run of a proposal has shown.",
     .takes = Takes::kDocument,
     .body = kShadow,
     .answer = kRecord,
     .handle = report_shadow},
    {.method = Method::kPost,
     .path = "/v1/proposals/{proposal}/approve",
     .role = Role::kAdmin,
     .name = "approve",
     .summary = "Approves a proposal that was tried.",
     .takes = Takes::kDocument,
     .body = kDecision,
     .answer = kRecord,
     .handle = approve_proposal},
    {.method = Method::kPost,
     .path = "/v1/proposals/{proposal}/reject",
     .role = Role::kAdmin,
     .name = "reject",
     .summary = "Rejects a proposal.",
     .takes = Takes::kDocument,
     .body = kDecision,
     .answer = kRecord,
     .handle = reject_proposal},
    {.method = Method::kPost,
     .path = "/v1/proposals/{proposal}/apply",
     .role = Role::kAdmin,
     .name = "applyProposal",
     .summary = "Applies a proposal that was approved, if no instance is under way.",
     .takes = Takes::kDocument,
     .body = kNothing,
     .answer = kApplied,
     .handle = apply_proposal},
    {.method = Method::kGet,
     .path = "/v1/effects/{intent}",
     .role = Role::kViewer,
     .name = "effect",
     .summary = "An effect that is open: who opened it, and with what.",
     .answer = kEffect,
     .handle = get_effect},
    {.method = Method::kPost,
     .path = "/v1/receipts",
     .role = Role::kWorker,
     .name = "settle",
     .summary = "Says what came of an effect that is performed outside. It settles it, once.",
     .takes = Takes::kDocument,
     .body = kReceipt,
     .answer = kReported,
     .handle = post_receipt},
    {.method = Method::kPost,
     .path = "/v1/progress",
     .role = Role::kWorker,
     .name = "progress",
     .summary = "A sign of life of an effect that is performed outside.",
     .takes = Takes::kDocument,
     .body = kProgress,
     .answer = kReported,
     .handle = post_progress},
    {.method = Method::kPost,
     .path = "/v1/snapshots",
     .role = Role::kAdmin,
     .name = "snapshot",
     .summary = "Takes a snapshot now, so that a restart replays less.",
     .answer = kSnapshot,
     .handle = take_snapshot},
    {.method = Method::kGet,
     .path = "/v1/limits",
     .role = Role::kViewer,
     .name = "limits",
     .summary = "How large things may be here.",
     .answer = kObject,
     .handle = get_limits},
};

}  // namespace

std::span<const Route> routes() noexcept { return kRoutes; }

}  // namespace holdfast::gateway
