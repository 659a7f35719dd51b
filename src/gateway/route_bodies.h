// SPDX-License-Identifier: Apache-2.0
// What requests bring and what answers hold, as JSON schemas: for the table of routes, which says
// them to whoever asks what there is. What is really taken is decided by the handlers.
#pragma once

#include <string_view>

namespace holdfast::gateway::bodies {

inline constexpr std::string_view kEvent = R"({"type":"object","required":["schema","value"],
"additionalProperties":false,"properties":{
"schema":{"type":"string","description":"the name of the event's schema"},
"value":{"description":"the event; it is normalised by its schema"},
"id":{"type":"string","maxLength":255,"description":"idempotency id: an event sent twice with the same id happens once"},
"wait":{"type":["integer","boolean"],
"description":"milliseconds to wait for the end of the instance"}}})";

inline constexpr std::string_view kSignal = R"({"type":"object","required":["schema","value"],
"additionalProperties":false,"properties":{
"schema":{"type":"string"},"value":{},"id":{"type":"string","maxLength":255}}})";

inline constexpr std::string_view kStart = R"({"type":"object","required":["input"],
"additionalProperties":false,"properties":{
"input":{"description":"the event that begins the instance"},
"event":{"type":"string",
"description":"its schema; otherwise the first that is routed to the workflow"},
"key":{"description":"of the instance; otherwise what the event has where its route finds it"},
"id":{"type":"string","maxLength":255},
"wait":{"type":["integer","boolean"]},
"if_ended":{"enum":["refuse","again","return"],
"description":"if the key belongs to an instance that has ended: 409, start again, or return it"}}})";

inline constexpr std::string_view kSubmitGraph = R"({"type":"object","required":["document"],
"additionalProperties":false,"properties":{
"document":{"type":["object","string"],
"description":"a task document: an object, or the text of a YAML or JSON file"},
"id":{"type":"string","maxLength":100,
"description":"of the graph: letters, digits and '.-_'; submitted again under it, nothing happens"}}})";

inline constexpr std::string_view kAddSchedule = R"({"type":"object",
"required":["name","workflow"],"additionalProperties":false,"properties":{
"name":{"type":"string","maxLength":100,"description":"letters, digits and '.-_'"},
"cron":{"type":"string","description":"5 fields, 6 with seconds in front, or @daily and its like"},
"every":{"type":"string","description":"an interval such as 15m; one of cron, every and at"},
"at":{"type":"string","format":"date-time","description":"one moment"},
"zone":{"type":"string","description":"of cron: a name of the tz database; otherwise UTC"},
"from":{"type":"string","format":"date-time","description":"nothing is due before"},
"until":{"type":"string","format":"date-time","description":"nothing is due after"},
"workflow":{"type":"string"},
"event":{"type":"string",
"description":"its schema; otherwise the first that is routed to the workflow"},
"input":{"description":"the value of the event; in texts {schedule}, {due} and {key} are replaced"},
"key":{"type":"string","description":"of the instances; otherwise {schedule}@{due}"},
"overlap":{"enum":["skip","queue","allow","cancel"],
"description":"what a due time does while an earlier run has not ended; otherwise skip"},
"catch_up":{"enum":["none","latest","all"],
"description":"which due times are started that passed while the server was down"},
"catch_up_window":{"type":"string","description":"older ones are missed; otherwise 1d"},
"jitter":{"type":"string","description":"starts are spread over this time"},
"paused":{"type":"boolean"},
"replace":{"type":"boolean","description":"a schedule of this name is replaced"}}})";

inline constexpr std::string_view kRemoveSchedule = R"({"type":"object",
"additionalProperties":false,"properties":{"cancel":{"type":"boolean",
"description":"its runs are cancelled, too; otherwise it is gone when they have ended"}}})";

inline constexpr std::string_view kSchedule = R"({"type":"object",
"required":["name","status","workflow","event","key","overlap","catch_up","next_ns","started",
"completed","failed","cancelled","skipped","missed","running","queued_ns","recent"],
"properties":{"name":{"type":"string"},
"status":{"enum":["active","paused","removing","ended"]},
"cron":{"type":"string"},"zone":{"type":"string"},"every":{"type":"string"},
"at_ns":{"type":"integer"},"from_ns":{"type":"integer"},"until_ns":{"type":"integer"},
"workflow":{"type":"string"},"event":{"type":"string"},"input":{},"key":{"type":"string"},
"overlap":{"enum":["skip","queue","allow","cancel"]},"catch_up":{"enum":["none","latest","all"]},
"catch_up_window":{"type":"string"},"jitter":{"type":"string"},
"next_ns":{"type":["integer","null"],"description":"the next due time"},
"error":{"type":"string","description":"why the next due time is not known"},
"started":{"type":"integer"},"completed":{"type":"integer"},"failed":{"type":"integer"},
"cancelled":{"type":"integer"},
"skipped":{"type":"integer","description":"an earlier run had not ended"},
"missed":{"type":"integer","description":"the server was down, or the schedule was paused"},
"running":{"type":"array","items":{"type":"string"},"description":"keys of instances"},
"queued_ns":{"type":"array","items":{"type":"integer"},"description":"due times that wait"},
"recent":{"type":"array","description":"the last 20, oldest first","items":{"type":"object",
"required":["due_ns","outcome"],"properties":{"due_ns":{"type":"integer"},
"outcome":{"enum":["running","completed","failed","cancelled","skipped","missed"]},
"key":{"type":"string"},"note":{"type":"string"}}}}}})";

inline constexpr std::string_view kScheduleList = R"({"type":"object",
"required":["schedules","next"],"properties":{
"schedules":{"type":"array","items":{"$ref":"#/components/schemas/Schedule"}},
"next":{"type":["integer","null"],"description":"where to go on; null: there are no more"}}})";

inline constexpr std::string_view kPreviewSchedule = R"({"type":"object",
"additionalProperties":false,"properties":{"cron":{"type":"string"},"every":{"type":"string"},
"at":{"type":"string","format":"date-time"},"zone":{"type":"string"},
"from":{"type":"string","format":"date-time"},"until":{"type":"string","format":"date-time"},
"after":{"type":"string","format":"date-time","description":"otherwise now"},
"count":{"type":"integer","minimum":1,"maximum":1000}}})";

inline constexpr std::string_view kDueTimes = R"({"type":"object","required":["due_ns"],
"properties":{"due_ns":{"type":"array","items":{"type":"integer"}}}})";

inline constexpr std::string_view kRerunGraph = R"({"type":"object","additionalProperties":false,
"properties":{"id":{"type":"string","maxLength":100,"description":"of the new graph"}}})";

inline constexpr std::string_view kSubmittedGraph = R"({"type":"object",
"required":["id","tasks","repeated"],"properties":{"id":{"type":"string"},
"tasks":{"type":"integer"},
"repeated":{"type":"boolean","description":"it was submitted before, and nothing happened now"}}})";

inline constexpr std::string_view kTaskGraph = R"({"type":"object",
"required":["id","name","status","verdict","tasks","pending","done","skipped","failed","cancelled",
"created_ns","started_ns","ended_ns"],"properties":{
"id":{"type":"string"},"name":{"type":"string"},"kind":{"type":"string"},
"owner":{"type":"string"},"annotations":{"type":"object"},
"status":{"enum":["ENTERING","PENDING","DONE","FAILED","CANCELLED"],
"description":"it ends when every task has ended"},
"verdict":{"enum":["OPEN","DONE","FAILED","CANCELLED"],
"description":"FAILED as soon as one task failed"},
"tasks":{"type":"integer"},"pending":{"type":"integer"},"done":{"type":"integer"},
"skipped":{"type":"integer"},"failed":{"type":"integer"},"cancelled":{"type":"integer"},
"epochs":{"type":"integer"},"frontier":{"type":"integer","description":"the epoch that runs"},
"cancelling":{"type":"boolean"},"reason":{"type":"string"},"cancelled_by":{"type":"string"},
"error":{"type":"string","description":"of the task that failed first"},
"rerun_of":{"type":"string"},"created_ns":{"type":"integer"},
"started_ns":{"type":["integer","null"]},"ended_ns":{"type":["integer","null"]}}})";

inline constexpr std::string_view kGraphList = R"({"type":"object","required":["graphs","next"],
"properties":{"graphs":{"type":"array","items":{"$ref":"#/components/schemas/TaskGraph"}},
"next":{"type":["integer","null"],"description":"where to go on; null: there are no more"}}})";

inline constexpr std::string_view kTaskList = R"({"type":"object","required":["tasks","next"],
"properties":{"tasks":{"type":"array","items":{"type":"object",
"required":["task","kind","name","type","status","ready","waits","attempts","max_attempts"],
"properties":{"task":{"type":"integer"},"kind":{"enum":["task","join","gate"]},
"name":{"type":"string"},"type":{"type":"string"},
"status":{"enum":["PENDING","DISPATCHED","CANCELLING","DONE","FAILED","CANCELLED"]},
"ready":{"type":"boolean","description":"it waits for a worker, or one has it"},
"skipped":{"type":"boolean"},"waits":{"type":"integer","description":"for how many tasks"},
"attempts":{"type":"integer"},"max_attempts":{"type":["integer","null"]},
"epoch":{"type":"integer"},"depends_on":{"type":"array",
"description":"pairs: the first number, and how many"},
"error":{"type":"object"},"worker":{"type":"string"},
"origin":{"type":"string","description":"the task that it ended with"},"result":{}}}},
"next":{"type":["integer","null"],"description":"the number to go on with"}}})";

inline constexpr std::string_view kReason = R"({"type":"object","additionalProperties":false,
"properties":{"reason":{"type":"string","maxLength":4096}}})";

inline constexpr std::string_view kRestart = R"({"type":"object","additionalProperties":false,
"properties":{
"record":{"type":"integer","minimum":1,"description":"restart from the state after this record"},
"step":{"type":"string",
"description":"restart from the moment when this step, or the effect of this name, last began"},
"reason":{"type":"string","maxLength":4096}}})";

inline constexpr std::string_view kRestarted = R"({"type":"object","required":["record","from"],
"properties":{"record":{"type":"integer","description":"that holds it"},
"from":{"type":"integer","description":"the record that it restarts from"}}})";

inline constexpr std::string_view kMigrated = R"({"type":"object",
"required":["moved","stays","staying"],"properties":{"moved":{"type":"integer"},
"stays":{"type":"integer"},"staying":{"type":"array","items":{"type":"object",
"required":["workflow","key","why"],"properties":{"workflow":{"type":"string"},"key":{},
"why":{"type":"string"}}},"description":"instances that keep their version, the first 1000"}}})";

inline constexpr std::string_view kSent = R"({"type":"object",
"required":["record","deliveries","ignored","repeated"],"properties":{
"record":{"type":"integer","description":"that holds it"},
"deliveries":{"type":"integer","description":"instances that got it"},
"ignored":{"type":"integer","description":"instances that had ended"},
"unhandled":{"type":"integer",
"description":"of the deliveries: to keys that no instance has, and that the event does not begin"},
"repeated":{"type":"boolean","description":"it was sent before, and nothing happened now"},
"instance":{"description":"as GET has it, if its end was waited for"}}})";

inline constexpr std::string_view kOverview = R"({"type":"object",
"required":["workflows","failures","seen","lag"],"properties":{
"workflows":{"type":"array","items":{"type":"object","required":["workflow","counts"],"properties":{
"workflow":{"type":"string"},
"counts":{"type":"object","description":"by status","additionalProperties":{"type":"integer"}}}}},
"failures":{"type":"array","description":"the last 200 that failed, by workflow and error code",
"items":{"type":"object","required":["workflow","code","count","last_ns"],"properties":{
"workflow":{"type":"string"},"code":{"type":"string"},"count":{"type":"integer"},
"last_ns":{"type":"integer"}}}},
"rates":{"type":"object","description":"if minutes were asked for",
"required":["step_ns","points"],"properties":{"step_ns":{"type":"integer"},
"points":{"type":"array","description":"steps in which nothing happened are left out",
"items":{"type":"object","required":["from_ns","begun","completed","failed","cancelled"],
"properties":{"from_ns":{"type":"integer"},"begun":{"type":"integer"},
"completed":{"type":"integer"},"failed":{"type":"integer"},"cancelled":{"type":"integer"}}}}}},
"seen":{"type":"integer","description":"the record that the index has come to"},
"lag":{"type":"integer","description":"durable records that it has not seen"}}})";

inline constexpr std::string_view kWaits = R"({"type":"object",
"required":["waiting","moved_on","not_examined","groups","seen"],"properties":{
"waiting":{"type":"integer","description":"instances that wait, as the counters have them"},
"moved_on":{"type":"integer","description":"that had gone on when they were looked at"},
"not_examined":{"type":"integer","description":"that were not looked at, beyond the limit"},
"groups":{"type":"array","description":"the one with the oldest wait first",
"items":{"type":"object","required":["workflow","kind","subject","count","oldest_ns","sentence",
"examples"],"properties":{"workflow":{"type":"string"},"kind":{"type":"string"},
"subject":{"type":"string","description":"the effect, step or event that is waited for"},
"count":{"type":"integer"},"oldest_ns":{"type":"integer"},
"sentence":{"type":"string","description":"why the oldest of them waits"},
"examples":{"type":"array","items":{"type":"object","required":["workflow","key"],
"properties":{"workflow":{"type":"string"},"key":{}}}}}}},
"seen":{"type":"integer","description":"the record that the index has come to"}}})";

inline constexpr std::string_view kMe = R"({"type":"object",
"required":["name","role","open","supervised"],"properties":{
"name":{"type":"string","description":"of the token; empty: the server has no tokens"},
"role":{"enum":["viewer","operator","admin","worker"]},
"open":{"type":"boolean","description":"the server has no tokens"},
"supervised":{"type":"boolean","description":"POST /v1/dev/kill is allowed"}}})";

inline constexpr std::string_view kBeginBatch = R"({"type":"object","required":["action"],
"additionalProperties":false,"properties":{"action":{"enum":["cancel","pause","resume"]},
"filter":{"type":"object","additionalProperties":false,
"description":"all instances that fit when the batch comes to them; needs `ids` or this",
"properties":{"workflow":{"type":"string"},
"status":{"enum":["running","waiting"]},"paused":{"type":"boolean"},
"since":{"type":"integer","description":"touched at this time or later, in ns since 1970"},
"key":{"type":"string","description":"the key is a text that begins with this"},
"words":{"type":"string"}}},
"ids":{"type":"array","maxItems":10000,"items":{"type":"object","required":["workflow","key"],
"additionalProperties":false,"properties":{"workflow":{"type":"string"},"key":{}}}},
"reason":{"type":"string","maxLength":4096},
"dry_run":{"type":"boolean","description":"only count, and give examples"}}})";

inline constexpr std::string_view kBatch = R"({"type":"object",
"required":["batch","action","status","dry_run","reason","by","begun_ns","ended_ns","expected","exact",
"done","unchanged","failed","examples","errors"],"properties":{
"batch":{"type":"string","description":"empty: a dry run"},
"action":{"enum":["cancel","pause","resume"]},
"status":{"enum":["running","finished","aborted","failed"]},"dry_run":{"type":"boolean"},
"reason":{"type":"string"},"by":{"type":"string"},"begun_ns":{"type":"integer"},
"ended_ns":{"type":["integer","null"]},
"expected":{"type":"integer","description":"instances that fitted when it began"},
"exact":{"type":"boolean","description":"false: `expected` was counted up to a limit"},
"done":{"type":"integer"},
"unchanged":{"type":"integer","description":"that had ended, or were so already"},
"failed":{"type":"integer"},
"examples":{"type":"array","items":{"type":"object","required":["workflow","key"],
"properties":{"workflow":{"type":"string"},"key":{},"status":{"type":"string"}}}},
"errors":{"type":"array","description":"the first ten","items":{"type":"object",
"required":["workflow","key","error"],"properties":{"workflow":{"type":"string"},"key":{},
"error":{"type":"string"}}}}}})";

inline constexpr std::string_view kBatches = R"({"type":"object","required":["batches"],
"properties":{"batches":{"type":"array","items":{"$ref":"#/components/schemas/Batch"}}}})";

inline constexpr std::string_view kInstances = R"({"type":"object",
"required":["instances","next","total","seen","lag"],"properties":{
"instances":{"type":"array","items":{"type":"object",
"required":["workflow","key","status","paused","first_record","first_ns","last_record","last_ns",
"steps"],"properties":{"workflow":{"type":"string"},"key":{},
"status":{"enum":["running","waiting","completed","failed","cancelled","deleted"]},
"paused":{"type":"boolean"},
"first_record":{"type":"integer","description":"0: before the index began"},
"first_ns":{"type":"integer"},"last_record":{"type":"integer"},"last_ns":{"type":"integer"},
"ended_record":{"type":"integer","description":"0: it has not ended, or before the index began"},
"ended_ns":{"type":"integer","description":"when it ended; 0: not known, as the journal does not have that record any more"},
"steps":{"type":"integer"},"error":{"type":"object"},
"why":{"type":"object","description":"as GET .../why has it, if it was asked for",
"required":["sentence","reasons"],"properties":{"sentence":{"type":"string"},
"reasons":{"type":"array","items":{"type":"object"}}}}}}},
"next":{"type":["integer","null"],"description":"where to go on; null: there are no more"},
"total":{"type":["integer","null"],"description":"how many there are, without those deleted; null: they were not counted"},
"seen":{"type":"integer","description":"the record that the index has come to"},
"lag":{"type":"integer","description":"durable records that it has not seen"}}})";

inline constexpr std::string_view kInstance = R"({"type":"object",
"required":["workflow","key","status","paused","record","state"],"properties":{
"workflow":{"type":"string"},"key":{},
"status":{"enum":["running","waiting","completed","failed","cancelled"]},
"paused":{"type":"boolean"},"record":{"type":"integer","description":"the last that touched it"},
"state":{},"result":{},"error":{},
"workflow_hash":{"type":"string","description":"of the definition that it goes on with; of an instance that has ended, of the present one"},
"module":{"type":"string","description":"that has the code of the workflow"},
"module_hash":{"type":"string","description":"of the definition of the module"},
"traceparent":{"type":"string","description":"of the event that began it, if it had one"}}})";

inline constexpr std::string_view kState =
    R"({"type":"object","required":["record","status","state"],
"properties":{"at":{"type":"integer","description":"the record after which this is the state, if `at` was given"},
"record":{"type":"integer","description":"the last that touched it then"},
"status":{"enum":["running","waiting","completed","failed","cancelled"]},"state":{}}})";

inline constexpr std::string_view kWhy = R"({"type":"object","required":["sentence","reasons"],
"properties":{"sentence":{"type":"string"},"reasons":{"type":"array","items":{"type":"object",
"required":["kind"],"properties":{"kind":{"enum":["receipt","turn","paused","event","nothing",
"room","holds","wait","retry","attempt","queued","timeout","dependency","epoch","sealing"]},
"code":{"type":"string","description":"that the last attempt failed with"},
"message":{"type":"string"},
"task":{"type":"integer"},"epoch":{"type":"integer"},
"step":{"type":"string"},"item":{"type":"integer"},"schema":{"type":"string"},
"requirements":{"type":"object"},"failures":{"type":"integer"},
"events_before":{"type":"integer"},"running":{"type":"integer"},"workers":{"type":"integer"},
"effect":{"type":"string"},"executor":{"type":"string"},"intent":{"type":"string"},
"opened_at":{"type":"integer"},"since_ns":{"type":"integer"},"due_ns":{"type":"integer"},
"child":{"type":"object","description":"the instance that runs for the effect",
"required":["workflow","key"],"properties":{"workflow":{"type":"string"},"key":{}}},
"mail":{"type":"integer"},"schemas":{"type":"array","items":{"type":"string"}}}}},
"version":{"type":"object","description":"only of an instance that goes on with an earlier version of its workflow",
"required":["sentence","hash","present_hash","stays_because"],"properties":{
"sentence":{"type":"string"},
"hash":{"type":"string","description":"of the definition that it goes on with, and everything it leads to"},
"present_hash":{"type":"string","description":"the same for the version that new instances begin with"},
"stays_because":{"type":["string","null"],"description":"why migrate would not move it; null: it would"}}},
"failed_attempts":{"type":"array","description":"of a run of steps: the last that failed","items":{
"type":"object","required":["step","item","attempt","at_ns","code","message"],"properties":{
"step":{"type":"string"},"item":{"type":"integer"},"attempt":{"type":"integer"},
"at_ns":{"type":"integer"},"code":{"type":"string"},"message":{"type":"string"}}}}}})";

inline constexpr std::string_view kWorkflows =
    R"({"type":"object","required":["workflows","schemas"],
"properties":{"workflows":{"type":"array","items":{"type":"object",
"required":["workflow","kind","key","state","stream","graph","events"],"properties":{
"workflow":{"type":"string"},
"kind":{"enum":["native","wasm","steps","graph","builtin"]},
"key":{"type":["string","null"],"description":"the schema of its key; null: it has none"},
"state":{"type":"string"},"stream":{"type":["string","null"]},
"graph":{"type":"boolean","description":"it can be drawn"},
"events":{"type":"array","items":{"type":"object","required":["schema","starts"],"properties":{
"schema":{"type":"string"},"key_field":{"type":"string"},
"starts":{"type":"boolean","description":"it may begin an instance"}}}}}}},
"schemas":{"type":"object",
"description":"the types of all that is named above, by name, but for those of sys/"}}})";

inline constexpr std::string_view kGraph = R"({"type":"object","required":["workflow","graph"],
"properties":{"workflow":{"type":"string"},"graph":{"type":"object",
"required":["steps","types","timeout_ns"]}}})";

inline constexpr std::string_view kExecution = R"({"type":"object",
"required":["workflow","key","graph","execution"],"properties":{"workflow":{"type":"string"},
"key":{},"graph":{"type":"object"},"execution":{"type":"object",
"required":["status","first_record","last_record","complete","steps","edges"],"properties":{
"status":{"type":"string"},"first_record":{"type":"integer"},"last_record":{"type":"integer"},
"complete":{"type":"boolean","description":"false: there are no records of its beginning"},
"steps":{"type":"array","items":{"type":"object"}},
"edges":{"type":"array","items":{"type":"object","required":["kind","count"],"properties":{
"kind":{"enum":["came","taken","answered","returned","sent","put","handled"]},
"step":{"type":"string"},"event":{"type":"string"},"handler":{"type":"string"},
"count":{"type":"integer"}}}}}}}})";

inline constexpr std::string_view kTimeline =
    R"({"type":"object","required":["records","next","trimmed"],
"properties":{"records":{"type":"array","description":"the last first","items":{"type":"object"}},
"next":{"type":["integer","null"]},"trimmed":{"type":"boolean"}}})";

inline constexpr std::string_view kJournal = R"({"type":"object",
"required":["records","next","first","last"],"properties":{
"records":{"type":"array","items":{"type":"object"}},"next":{"type":"integer"},
"first":{"type":"integer"},"last":{"type":"integer"}}})";

inline constexpr std::string_view kManifest = R"({"type":"object","required":["definitions"],
"properties":{"definitions":{"type":"array","items":{"type":"object"}}}})";

inline constexpr std::string_view kReceipt = R"({"type":"object","required":["intent"],
"additionalProperties":false,"properties":{
"intent":{"type":"string","description":"of the effect: sha256: and 64 digits"},
"status":{"enum":["ok","error","timeout","cancelled"],"default":"ok"},
"payload":{"description":"if it is ok; by the receipt schema of the effect"},
"error":{"type":"object","required":["code","message","retryable","details"],
"description":"if it is not"},
"cost_cents":{"type":"integer"}}})";

inline constexpr std::string_view kProgress = R"({"type":"object",
"required":["intent","sequence","payload"],"additionalProperties":false,"properties":{
"intent":{"type":"string"},"sequence":{"type":"integer","minimum":1},
"kind":{"type":"string"},"payload":{}}})";

inline constexpr std::string_view kReported = R"({"type":"object","required":["record","repeated"],
"properties":{"record":{"type":"integer"},
"repeated":{"type":"boolean","description":"it was said before, and nothing happened now"},
"settled":{"type":"string","description":"how the effect is settled, if it was before"}}})";

inline constexpr std::string_view kEffect = R"({"type":"object",
"required":["intent","effect","executor","workflow","key","params","opened_at","since_ns",
"progress"],"properties":{"intent":{"type":"string"},"effect":{"type":"string"},
"executor":{"type":"string"},"workflow":{"type":"string"},"key":{},"params":{},
"opened_at":{"type":"integer"},"since_ns":{"type":"integer"},"progress":{"type":"integer"}}})";

inline constexpr std::string_view kEffects = R"({"type":"object","required":["effects","next"],
"properties":{"effects":{"type":"array","items":{"$ref":"#/components/schemas/Effect"},
"description":"the oldest first, each as GET /v1/effects/{intent} has it"},
"next":{"type":["string","null"],"description":"where to go on; null: there are no more"}}})";

inline constexpr std::string_view kDefinitions = R"({"type":"object","required":["definitions"],
"additionalProperties":false,"properties":{"definitions":{"type":"array",
"items":{"type":"object"},"description":"all of them, and their manifest"}}})";

inline constexpr std::string_view kApplied = R"({"type":"object",
"required":["record","unchanged","added","changed","removed","pinned","blocking","blocking_count",
"blocking_workflows"],"properties":{
"record":{"type":["integer","null"],"description":"null: nothing was applied"},
"unchanged":{"type":"boolean","description":"the world has these definitions already"},
"added":{"type":"array","items":{"type":"string"},"description":"definitions, the first 1000"},
"changed":{"type":"array","items":{"type":"string"},"description":"definitions, the first 1000"},
"removed":{"type":"array","items":{"type":"string"},"description":"definitions, the first 1000"},
"pinned":{"type":"array","items":{"type":"object","required":["workflow","instances"],"properties":{
"workflow":{"type":"string"},"instances":{"type":"integer"}}},
"description":"instances that keep the version of their workflow that they began with"},
"blocking":{"type":"array","items":{"type":"object"},
"description":"instances that have not ended and use what changes, the first 1000"},
"blocking_count":{"type":"integer"},
"blocking_workflows":{"type":"array","items":{"type":"object",
"required":["workflow","instances","because"],"properties":{"workflow":{"type":"string"},
"instances":{"type":"integer"},"because":{"type":"array","items":{"type":"string"},
"description":"what changes for them; empty: strict was asked for"}}}},
"rehearsal":{"type":"object","required":["at","instances","replayed","difference","differs",
"differs_ended","differing","replay_stopped","moved","stays","staying","good"],"description":"only with rehearse=1","properties":{
"at":{"type":"integer","description":"the rehearsal used a copy of the world after this record"},
"instances":{"type":"integer","description":"that have not ended"},
"replayed":{"type":"integer","description":"records that were replayed with the present code"},
"difference":{"type":["string","null"],"description":"the first record that replayed differently"},
"differs":{"type":"integer","description":"instances under way that replayed differently"},
"differs_ended":{"type":"integer","description":"the same of instances that have ended"},
"differing":{"type":"array","description":"those under way, the first 100","items":{"type":"object",
"required":["workflow","key","record","why"],"properties":{"workflow":{"type":"string"},"key":{},
"record":{"type":"integer","description":"the first that replayed differently"},
"why":{"type":"string"}}}},
"replay_stopped":{"type":["string","null"],"description":"the record that could not be replayed; null: all were compared"},
"moved":{"type":"integer"},"stays":{"type":"integer"},"staying":{"type":"array",
"items":{"type":"object"},"description":"instances that would not migrate, the first 1000"},
"good":{"type":"boolean","description":"nothing blocks, differs or stays behind"}}}}})";

inline constexpr std::string_view kPropose = R"({"type":"object","additionalProperties":false,
"properties":{"definitions":{"type":"array","items":{"type":"object"}},
"patch":{"type":"object","description":"of the present definitions, instead of all of them"},
"description":{"type":"string","maxLength":4096}}})";

inline constexpr std::string_view kProposed = R"({"type":"object","required":["proposal"],
"properties":{"proposal":{"type":"integer"}}})";

inline constexpr std::string_view kProposals = R"({"type":"object","required":["proposals"],
"properties":{"proposals":{"type":"array","items":{"type":"object",
"required":["proposal","stage","base","manifest","description","report","by","reason"],
"properties":{"proposal":{"type":"integer"},
"stage":{"enum":["proposed","shadowed","approved","rejected","applied"]},
"base":{"type":"string"},"manifest":{"type":"string"},"description":{"type":"string"},
"report":{},"by":{"type":"string"},"reason":{"type":"string"}}}}}})";

inline constexpr std::string_view kShadow = R"({"type":"object","additionalProperties":false,
"properties":{"from":{"type":"integer","minimum":1,"description":"the first record to feed again"},
"to":{"type":"integer","minimum":1,"description":"the last record; default: the last of the journal"},
"records":{"type":"integer","minimum":1,
"description":"instead of from: start at most this many records before the end"}}})";

inline constexpr std::string_view kTried = R"({"type":"object","required":["record","report"],
"properties":{"record":{"type":"integer"},"report":{"type":"object"}}})";

inline constexpr std::string_view kDecision = R"({"type":"object","additionalProperties":false,
"properties":{"reason":{"type":"string","maxLength":4096},
"by":{"type":"string","description":"where there are no tokens"}}})";

inline constexpr std::string_view kNothing = R"({"type":"object","additionalProperties":false})";

inline constexpr std::string_view kRecord = R"({"type":"object","required":["record"],
"properties":{"record":{"type":"integer"}}})";

inline constexpr std::string_view kWorkerState = R"({"type":"object",
"required":["worker","node","name","mode","live","slots","running"],"properties":{
"worker":{"type":"string"},"node":{"type":"string"},"name":{"type":"string"},
"mode":{"enum":["active","cordoned","draining","lost","left"]},"cordoned":{"type":"boolean"},
"live":{"type":"boolean","description":"it was heard within its TTL"},
"silent_ms":{"type":["integer","null"]},"slots":{"type":"integer"},
"running":{"type":"integer"},"leases":{"type":"integer"},"reason":{"type":"string"},
"by":{"type":"string"},"enrolled_ns":{"type":"integer"},"offer":{"type":"object"},
"recipes":{"type":"object","description":"only of a worker with a registry","properties":{
"serving":{"type":"array","items":{"type":"string"}},"swapping":{"type":"string"},
"can_swap":{"type":"boolean"},"problem":{"type":"string"}}}}})";

inline constexpr std::string_view kWorkers = R"({"type":"object","required":["workers","next"],
"properties":{"workers":{"type":"array","items":{"$ref":"#/components/schemas/Worker"}},
"next":{"type":["string","null"]}}})";

inline constexpr std::string_view kEnrolment = R"({"type":"object","additionalProperties":false,
"required":["protocol","node","name","secret","types"],"properties":{
"protocol":{"const":1},"node":{"type":"string"},"name":{"type":"string"},
"secret":{"type":"string","pattern":"^[0-9a-f]{64}$"},
"queues":{"type":"array","items":{"type":"string"}},
"types":{"type":"array","items":{"type":"string"}},"slots":{"type":"integer","minimum":1},
"labels":{"type":"object"},"resources":{"type":"object"},
"recipes":{"type":"array","items":{"type":"string"}}}})";

inline constexpr std::string_view kEnrolled = R"({"type":"object",
"required":["protocol","worker","mode","ttl_ms","max_wait_ms","max_batch","max_result_bytes"],
"properties":{"protocol":{"const":1},"worker":{"type":"string"},"mode":{"type":"string"},
"ttl_ms":{"type":"integer"},"max_wait_ms":{"type":"integer"},"max_batch":{"type":"integer"},
"max_result_bytes":{"type":"integer"},"max_held_logs":{"type":"integer"},
"takes":{"type":"array","items":{"type":"string"}}}})";

inline constexpr std::string_view kWorkerSession = R"({"type":"object",
"additionalProperties":false,"required":["process","first","holding"],"properties":{
"process":{"type":"string"},"first":{"type":"boolean"},
"holding":{"type":"array","items":{"type":"string"}}}})";

inline constexpr std::string_view kWorkerSync = R"({"type":"object",
"additionalProperties":false,"required":["session","seq","holding"],"properties":{
"session":{"type":"string"},"seq":{"type":"integer","minimum":1},
"done":{"type":"array","items":{"type":"object"}},
"back":{"type":"array","items":{"type":"object"}},
"progress":{"type":"array","items":{"type":"object"}},
"logs":{"type":"array","items":{"type":"object"}},
"holding":{"type":"array","items":{"type":"string"}},"want":{"type":"integer"},
"wait_ms":{"type":"integer"},"draining":{"type":"boolean"},
"recipes":{"type":"object","additionalProperties":false,"required":["serving"],"properties":{
"serving":{"type":"array","items":{"type":"string"}},"swapping":{"type":"string"},
"can_swap":{"type":"boolean"},"problem":{"type":"string"}}}}})";

inline constexpr std::string_view kWorkerLeave = R"({"type":"object",
"additionalProperties":false,"required":["session"],"properties":{
"session":{"type":"string"}}})";

inline constexpr std::string_view kTaskResult = R"({"type":"object",
"required":["result"],"additionalProperties":false,
"properties":{"result":{"description":"any value"}}})";

inline constexpr std::string_view kTaskLogs = R"({"type":"object",
"required":["lines","first","next","ended"],"properties":{
"lines":{"type":"array","items":{"type":"object","required":["n","attempt","time_ns","stream",
"missing","text"]}},"first":{"type":"integer","description":"the oldest line that is kept"},
"next":{"type":"integer","description":"the cursor for the next page"},
"ended":{"type":"boolean"}}})";

inline constexpr std::string_view kCursor = R"({"type":"object",
"required":["name","next","behind","beyond_horizon","tries","reason","quarantined"],"properties":{
"name":{"type":"string"},
"next":{"type":"string","description":"the first event that was not acknowledged is this one or later"},
"behind":{"type":"integer","description":"records that were not looked through"},
"beyond_horizon":{"type":"boolean","description":"the journal does not have those records any more"},
"tries":{"type":"integer","description":"rejections of the next event"},
"reason":{"type":"string"},"quarantined":{"type":"integer"}}})";

inline constexpr std::string_view kCursors = R"({"type":"object","required":["cursors"],
"properties":{"cursors":{"type":"array","items":{"$ref":"#/components/schemas/Cursor"}}}})";

inline constexpr std::string_view kMakeCursor = R"({"type":"object","required":["name"],
"additionalProperties":false,"properties":{
"name":{"type":"string","maxLength":64,"description":"letters, digits and '.-_'"},
"from":{"enum":["oldest","now"],"description":"oldest unless given"}}})";

inline constexpr std::string_view kResetCursor = R"({"type":"object","additionalProperties":false,
"properties":{"from":{"enum":["oldest","now"],"description":"oldest unless given"}}})";

inline constexpr std::string_view kReadCursor = R"({"type":"object","additionalProperties":false,
"properties":{"limit":{"type":"integer","maximum":1000},
"wait_ms":{"type":"integer","maximum":60000,"description":"how long to wait for the first event"}}})";

inline constexpr std::string_view kTaskEvents = R"({"type":"object","required":["events"],
"properties":{"events":{"type":"array","items":{"type":"object",
"required":["id","time_ns","type"]}}}})";

inline constexpr std::string_view kEventOfCursor = R"({"type":"object","required":["id"],
"additionalProperties":false,"properties":{"id":{"type":"string"}}})";

inline constexpr std::string_view kRejectEvent = R"({"type":"object","required":["id"],
"additionalProperties":false,"properties":{"id":{"type":"string"},"reason":{"type":"string"}}})";

inline constexpr std::string_view kRejectedEvent = R"({"type":"object",
"required":["tries","quarantined"],"properties":{"tries":{"type":"integer"},
"quarantined":{"type":"boolean"}}})";

inline constexpr std::string_view kQuarantine = R"({"type":"object","required":["quarantine"],
"properties":{"quarantine":{"type":"array","items":{"type":"object",
"required":["id","reason","time_ns","replayed","event"]}}}})";

inline constexpr std::string_view kSnapshot = R"({"type":"object","required":["next_record"],
"properties":{"next_record":{"type":"integer",
"description":"everything before it is in the snapshot"}}})";

inline constexpr std::string_view kMakeBackup = R"({"type":"object","required":["name"],
"additionalProperties":false,"properties":{"name":{"type":"string","maxLength":64,
"pattern":"^[A-Za-z0-9][A-Za-z0-9._-]*$",
"description":"of its folder below the server's folder for backups; one that is there is brought up to date"}}})";

inline constexpr std::string_view kBackup = R"({"type":"object",
"required":["name","status","number","time_ns","first_record","last_record","bytes"],"properties":{
"name":{"type":"string"},"status":{"enum":["unfinished","running","finished","failed"]},
"number":{"type":"integer","description":"how many were finished under this name; 0: none"},
"time_ns":{"type":"integer","description":"when the newest that is finished was begun"},
"first_record":{"type":"integer"},"last_record":{"type":"integer"},"bytes":{"type":"integer"},
"done_bytes":{"type":"integer","description":"of the one that runs"},
"total_bytes":{"type":"integer"},
"error":{"type":"string","description":"why it failed"}}})";

inline constexpr std::string_view kBackups = R"({"type":"object","required":["backups"],
"properties":{"backups":{"type":"array","items":{"$ref":"#/components/schemas/Backup"}}}})";

inline constexpr std::string_view kStatus = R"({"type":"object","required":["status"],
"properties":{"status":{"type":"string"}}})";

inline constexpr std::string_view kObject = R"({"type":"object"})";

}  // namespace holdfast::gateway::bodies
