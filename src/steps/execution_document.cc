// SPDX-License-Identifier: Apache-2.0
// An execution as a document of the HTTP API.
#include "codec/cbor_writer.h"
#include "steps/execution.h"

namespace holdfast::steps {
namespace {

void put(codec::Buffer& out, std::string_view name, std::string_view text) {
  codec::write_text(out, name);
  codec::write_text(out, text);
}
void put(codec::Buffer& out, std::string_view name, std::uint64_t number) {
  codec::write_text(out, name);
  codec::write_nat(out, number);
}

void write_step(codec::Buffer& out, const Graph& graph, const StepDef& step,
                const StepTally& tally) {
  codec::write_map_head(out, 11U + (tally.last_code.empty() ? 0 : 1) +
                                 (tally.delayed == 0 ? 0 : 1) + (tally.failures.empty() ? 0 : 1));
  put(out, "step", step.name);
  put(out, "runs", tally.runs);
  put(out, "completed", tally.completed);
  put(out, "failed", tally.failed);
  put(out, "given_up", tally.given_up);
  put(out, "waits", tally.waits);
  put(out, "ignored", tally.ignored);
  put(out, "running", tally.running);
  put(out, "queued", tally.queued);
  put(out, "delayed", tally.delayed);
  if (tally.delayed != 0) put(out, "delayed_ns", tally.delayed_ns);
  codec::write_text(out, "waiting");
  codec::write_list_head(out, tally.waiting.size());
  for (const StepTally::Wait& wait : tally.waiting) {
    codec::write_map_head(out, wait.deadline_ns == 0 ? 1 : 2);
    put(out, wait.child.empty() ? "schema" : "child", wait.awaited(graph));
    if (wait.deadline_ns != 0) put(out, "deadline_ns", wait.deadline_ns);
  }
  if (!tally.failures.empty()) {
    codec::write_text(out, "failures");
    codec::write_list_head(out, tally.failures.size());
    for (const StepTally::Failure& failure : tally.failures) {
      codec::write_map_head(out, 3);
      put(out, "item", failure.item);
      put(out, "code", failure.code);
      put(out, "message", failure.message);
    }
  }
  if (tally.last_code.empty()) return;
  codec::write_text(out, "error");
  codec::write_map_head(out, 2);
  put(out, "code", tally.last_code);
  put(out, "message", tally.last_message);
}

}  // namespace

void write_execution(codec::Buffer& out, const Graph& graph, const Execution& execution) {
  codec::write_map_head(out, 6);
  put(out, "status", execution.status);
  put(out, "first_record", execution.first_record);
  put(out, "last_record", execution.last_record);
  codec::write_text(out, "complete");
  codec::write_bool(out, execution.is_whole);
  codec::write_text(out, "steps");
  codec::write_list_head(out, graph.steps().size());
  for (StepIndex step = 0; step < graph.steps().size(); ++step)
    write_step(out, graph, graph.step(step), execution.steps[step]);
  codec::write_text(out, "edges");
  codec::write_list_head(out, execution.came.size() + execution.taken.size() +
                                  execution.answered.size() + execution.returned.size() +
                                  execution.sent.size() + execution.put.size() +
                                  execution.handled.size());
  for (const auto& [type, count] : execution.came) {
    codec::write_map_head(out, 3);
    put(out, "kind", "came");
    put(out, "event", graph.type(type).schema);
    put(out, "count", count);
  }
  const auto write_ways = [&](std::string_view kind, const Execution::ByStepAndType& ways) {
    for (const auto& [way, count] : ways) {
      codec::write_map_head(out, 4);
      put(out, "kind", kind);
      put(out, "step", graph.step(way.first).name);
      put(out, "event", graph.type(way.second).schema);
      put(out, "count", count);
    }
  };
  write_ways("taken", execution.taken);
  write_ways("answered", execution.answered);
  write_ways("returned", execution.returned);
  write_ways("sent", execution.sent);
  write_ways("put", execution.put);
  for (const auto& [way, count] : execution.handled) {
    codec::write_map_head(out, 4);
    put(out, "kind", "handled");
    put(out, "step", graph.step(way.first).name);
    put(out, "handler", graph.step(way.second).name);
    put(out, "count", count);
  }
}

}  // namespace holdfast::steps
