// SPDX-License-Identifier: Apache-2.0
#include "defs/builtin.h"

#include <string>

#include "base/check.h"
#include "defs/load.h"

namespace holdfast::defs {
namespace {

// clang-format off
constexpr char kDefinitions[] = R"json([
{"$kind":"defschema","name":"sys/WorkflowContext@1","type":{"record":{
    "now_ns":{"nat":{}},
    "logical_now_ns":{"nat":{}},
    "journal_height":{"nat":{}},
    "entropy":{"bytes":{}},
    "event_hash":{"hash":{}},
    "manifest_hash":{"hash":{}},
    "workflow":{"text":{}},
    "workflow_hash":{"option":{"hash":{}}},
    "key":{"option":{"bytes":{}}},
    "cell_mode":{"bool":{}}}}},
{"$kind":"defschema","name":"sys/EffectReceiptEnvelope@1","type":{"record":{
    "origin_module_id":{"text":{}},
    "origin_workflow_hash":{"option":{"hash":{}}},
    "origin_instance_key":{"option":{"bytes":{}}},
    "intent_id":{"hash":{}},
    "effect":{"text":{}},
    "effect_hash":{"option":{"hash":{}}},
    "executor_module":{"option":{"text":{}}},
    "executor_module_hash":{"option":{"hash":{}}},
    "executor_entrypoint":{"option":{"text":{}}},
    "params_hash":{"option":{"hash":{}}},
    "issuer_ref":{"option":{"text":{}}},
    "receipt_payload":{"bytes":{}},
    "status":{"text":{}},
    "emitted_at_seq":{"nat":{}},
    "cost_cents":{"option":{"nat":{}}},
    "signature":{"bytes":{}}}}},
{"$kind":"defschema","name":"sys/EffectReceiptRejected@1","type":{"record":{
    "origin_module_id":{"text":{}},
    "origin_workflow_hash":{"option":{"hash":{}}},
    "origin_instance_key":{"option":{"bytes":{}}},
    "intent_id":{"hash":{}},
    "effect":{"text":{}},
    "effect_hash":{"option":{"hash":{}}},
    "executor_module":{"option":{"text":{}}},
    "executor_module_hash":{"option":{"hash":{}}},
    "executor_entrypoint":{"option":{"text":{}}},
    "params_hash":{"option":{"hash":{}}},
    "issuer_ref":{"option":{"text":{}}},
    "status":{"text":{}},
    "error_code":{"text":{}},
    "error_message":{"text":{}},
    "payload_hash":{"hash":{}},
    "payload_size":{"nat":{}},
    "emitted_at_seq":{"nat":{}}}}},
{"$kind":"defschema","name":"sys/EffectStreamFrame@1","type":{"record":{
    "origin_module_id":{"text":{}},
    "origin_workflow_hash":{"option":{"hash":{}}},
    "origin_instance_key":{"option":{"bytes":{}}},
    "intent_id":{"hash":{}},
    "effect":{"text":{}},
    "effect_hash":{"option":{"hash":{}}},
    "executor_module":{"option":{"text":{}}},
    "executor_module_hash":{"option":{"hash":{}}},
    "executor_entrypoint":{"option":{"text":{}}},
    "params_hash":{"option":{"hash":{}}},
    "issuer_ref":{"option":{"text":{}}},
    "emitted_at_seq":{"nat":{}},
    "seq":{"nat":{}},
    "kind":{"text":{}},
    "payload":{"bytes":{}},
    "payload_ref":{"option":{"hash":{}}},
    "signature":{"bytes":{}}}}},
{"$kind":"defschema","name":"sys/EffectError@1","type":{"record":{
    "code":{"text":{}},
    "message":{"text":{}},
    "retryable":{"bool":{}},
    "details":{"any":{}}}}},
{"$kind":"defschema","name":"sys/SecretRef@1","type":{"record":{
    "alias":{"text":{}},
    "version":{"nat":{}}}}},
{"$kind":"defschema","name":"sys/TextOrSecretRef@1","type":{"variant":{
    "literal":{"text":{}},
    "secret":{"ref":"sys/SecretRef@1"}}}},
{"$kind":"defschema","name":"sys/BytesOrSecretRef@1","type":{"variant":{
    "literal":{"bytes":{}},
    "secret":{"ref":"sys/SecretRef@1"}}}},
{"$kind":"defschema","name":"sys/TimerSetParams@1","type":{"record":{
    "deliver_at_ns":{"nat":{}},
    "key":{"option":{"text":{}}}}}},
{"$kind":"defschema","name":"sys/TimerSetReceipt@1","type":{"record":{
    "delivered_at_ns":{"nat":{}},
    "key":{"option":{"text":{}}}}}},
{"$kind":"defschema","name":"sys/HttpRequestParams@1","type":{"record":{
    "method":{"text":{}},
    "url":{"text":{}},
    "headers":{"map":{"key":{"text":{}},"value":{"text":{}}}},
    "body_ref":{"option":{"hash":{}}}}}},
{"$kind":"defschema","name":"sys/HttpRequestReceipt@1","type":{"record":{
    "status":{"int":{}},
    "headers":{"map":{"key":{"text":{}},"value":{"text":{}}}},
    "body_ref":{"option":{"hash":{}}},
    "timings":{"record":{"start_ns":{"nat":{}},"end_ns":{"nat":{}}}}}}},
{"$kind":"defschema","name":"sys/HttpRequestParams@2","type":{"record":{
    "method":{"text":{}},
    "url":{"text":{}},
    "headers":{"option":{"map":{"key":{"text":{}},"value":{"ref":"sys/TextOrSecretRef@1"}}}},
    "body":{"option":{"ref":"sys/BytesOrSecretRef@1"}},
    "timeout_ns":{"option":{"nat":{}}},
    "max_response_bytes":{"option":{"nat":{}}}}}},
{"$kind":"defschema","name":"sys/HttpRequestReceipt@2","type":{"record":{
    "status":{"int":{}},
    "headers":{"map":{"key":{"text":{}},"value":{"text":{}}}},
    "body":{"bytes":{}},
    "timings":{"record":{"start_ns":{"nat":{}},"end_ns":{"nat":{}}}}}}},
{"$kind":"defschema","name":"sys/ProcessRunParams@1","type":{"record":{
    "argv":{"list":{"text":{}}},
    "env":{"option":{"map":{"key":{"text":{}},"value":{"ref":"sys/TextOrSecretRef@1"}}}},
    "cwd":{"option":{"text":{}}},
    "stdin":{"option":{"ref":"sys/BytesOrSecretRef@1"}},
    "timeout_ns":{"option":{"nat":{}}},
    "max_output_bytes":{"option":{"nat":{}}}}}},
{"$kind":"defschema","name":"sys/ProcessRunReceipt@1","type":{"record":{
    "exit_code":{"option":{"int":{}}},
    "signal":{"option":{"int":{}}},
    "stdout":{"bytes":{}},
    "stdout_size":{"nat":{}},
    "stderr":{"bytes":{}},
    "stderr_size":{"nat":{}},
    "timings":{"record":{"start_ns":{"nat":{}},"end_ns":{"nat":{}}}}}}},
{"$kind":"defschema","name":"sys/BlobEdge@1","type":{"record":{
    "blob_ref":{"hash":{}},
    "refs":{"list":{"hash":{}}}}}},
{"$kind":"defschema","name":"sys/BlobPutParams@1","type":{"record":{
    "bytes":{"bytes":{}},
    "blob_ref":{"option":{"hash":{}}},
    "refs":{"option":{"list":{"hash":{}}}}}}},
{"$kind":"defschema","name":"sys/BlobPutReceipt@1","type":{"record":{
    "blob_ref":{"hash":{}},
    "edge_ref":{"hash":{}},
    "size":{"nat":{}}}}},
{"$kind":"defschema","name":"sys/BlobGetParams@1","type":{"record":{
    "blob_ref":{"hash":{}}}}},
{"$kind":"defschema","name":"sys/BlobGetReceipt@1","type":{"record":{
    "blob_ref":{"hash":{}},
    "size":{"nat":{}},
    "bytes":{"bytes":{}}}}},
{"$kind":"defschema","name":"sys/StepsState@1","type":{"record":{
    "broker":{"bytes":{}},
    "status":{"text":{}}}}},
{"$kind":"defschema","name":"sys/StepRun@1","type":{"record":{
    "run":{"nat":{}},
    "slot":{"nat":{}},
    "step":{"text":{}},
    "work":{"bytes":{}},
    "event":{"text":{}},
    "failures":{"nat":{}}}}},
{"$kind":"defschema","name":"sys/StepRan@1","type":{"record":{
    "results":{"bytes":{}}}}},
{"$kind":"defschema","name":"sys/StepEntry@1","type":{"record":{
    "kind":{"text":{}},
    "step":{"text":{}},
    "schema":{"text":{}},
    "value":{"bytes":{}},
    "code":{"text":{}},
    "message":{"text":{}},
    "attempts":{"nat":{}},
    "elapsed_ns":{"nat":{}},
    "steps":{"list":{"text":{}}},
    "changes":{"list":{"record":{
        "item":{"nat":{}},
        "slot":{"nat":{}},
        "step":{"text":{}},
        "state":{"text":{}}}}}}}},
{"$kind":"defschema","name":"sys/StepFailed@1","type":{"record":{
    "code":{"text":{}},
    "step":{"text":{}},
    "event":{"text":{}},
    "value":{"bytes":{}},
    "message":{"text":{}},
    "attempts":{"nat":{}},
    "elapsed_ns":{"nat":{}}}}},
{"$kind":"defschema","name":"sys/WorkflowRunParams@1","type":{"record":{
    "workflow":{"text":{}},
    "key":{"option":{"bytes":{}}},
    "event":{"text":{}},
    "value":{"bytes":{}}}}},
{"$kind":"defschema","name":"sys/WorkflowRunReceipt@1","type":{"record":{
    "result":{"bytes":{}}}}},
{"$kind":"defschema","name":"sys/WorkflowStopParams@1","type":{"record":{
    "workflow":{"text":{}},
    "key":{"option":{"bytes":{}}}}}},
{"$kind":"defschema","name":"sys/WorkflowStopReceipt@1","type":{"record":{
    "stopped":{"bool":{}}}}},
{"$kind":"defeffect","name":"sys/timer.set@1","params":"sys/TimerSetParams@1","receipt":"sys/TimerSetReceipt@1",
    "executor":{"kind":"timer"}},
{"$kind":"defeffect","name":"sys/http.request@1","params":"sys/HttpRequestParams@1","receipt":"sys/HttpRequestReceipt@1",
    "executor":{"kind":"http"}},
{"$kind":"defeffect","name":"sys/http.request@2","params":"sys/HttpRequestParams@2","receipt":"sys/HttpRequestReceipt@2",
    "executor":{"kind":"http"}},
{"$kind":"defeffect","name":"sys/process.run@1","params":"sys/ProcessRunParams@1","receipt":"sys/ProcessRunReceipt@1",
    "executor":{"kind":"process"}},
{"$kind":"defeffect","name":"sys/blob.put@1","params":"sys/BlobPutParams@1","receipt":"sys/BlobPutReceipt@1",
    "executor":{"kind":"blob.put"}},
{"$kind":"defeffect","name":"sys/blob.get@1","params":"sys/BlobGetParams@1","receipt":"sys/BlobGetReceipt@1",
    "executor":{"kind":"blob.get"}},
{"$kind":"defeffect","name":"sys/workflow.run@1","params":"sys/WorkflowRunParams@1","receipt":"sys/WorkflowRunReceipt@1",
    "executor":{"kind":"workflow"}},
{"$kind":"defeffect","name":"sys/workflow.stop@1","params":"sys/WorkflowStopParams@1","receipt":"sys/WorkflowStopReceipt@1",
    "executor":{"kind":"workflow"}}
])json";
// clang-format on

}  // namespace

Catalogue builtin_catalogue() {
  Bundle bundle = load({{"sys", kDefinitions}}, nullptr, Reserved::kAllowed);
  CHECK(bundle.errors.empty());
  return std::move(bundle.catalogue);
}

}  // namespace holdfast::defs
