// SPDX-License-Identifier: Apache-2.0
// For the tests of instances that run for others: a world of four workflows whose steps each test
// writes for itself.
//
//   fam/Parent@1  keyed by text, may run and stop others, hears receipts
//   fam/Child@1   likewise
//   fam/Lone@1    without key, hears receipts
//   fam/Deaf@1    keyed by text, runs others, hears nothing of its effects
#pragma once

#include <string>
#include <vector>

#include "kernel/testing.h"

namespace holdfast::kernel::testing {

inline constexpr char kFamilyDefinitions[] = R"json([
{"$kind":"defschema","name":"fam/Go@1","type":{"record":{"id":{"text":{}},"n":{"nat":{}}}}},
{"$kind":"defschema","name":"fam/Begin@1","type":{"record":{"id":{"text":{}},"n":{"nat":{}}}}},
{"$kind":"defschema","name":"fam/Answer@1","type":{"record":{"id":{"text":{}},"n":{"nat":{}}}}},
{"$kind":"defschema","name":"fam/Key@1","type":{"text":{}}},
{"$kind":"defschema","name":"fam/State@1","type":{"record":{"n":{"nat":{}}}}},
{"$kind":"defschema","name":"fam/Params@1","type":{"record":{"a":{"nat":{}}}}},
{"$kind":"defschema","name":"fam/ParentEvent@1","type":{"variant":{"Go":{"ref":"fam/Go@1"},
  "Receipt":{"ref":"sys/EffectReceiptEnvelope@1"}}}},
{"$kind":"defschema","name":"fam/ChildEvent@1","type":{"variant":{"Begin":{"ref":"fam/Begin@1"},
  "Answer":{"ref":"fam/Answer@1"},"Receipt":{"ref":"sys/EffectReceiptEnvelope@1"}}}},
{"$kind":"defeffect","name":"fam/work@1","params":"fam/Params@1","receipt":"fam/Params@1",
 "executor":{"kind":"worker","queue":"fam"}},
{"$kind":"defmodule","name":"fam/code@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"fam/Parent@1","state":"fam/State@1","event":"fam/ParentEvent@1","key_schema":"fam/Key@1",
 "effects_emitted":["sys/workflow.run@1","sys/workflow.stop@1","fam/work@1"],
 "impl":{"module":"fam/code@1","entrypoint":"parent"}},
{"$kind":"defworkflow","name":"fam/Child@1","state":"fam/State@1","event":"fam/ChildEvent@1","key_schema":"fam/Key@1",
 "effects_emitted":["sys/workflow.run@1","sys/workflow.stop@1","fam/work@1"],
 "impl":{"module":"fam/code@1","entrypoint":"child"}},
{"$kind":"defworkflow","name":"fam/Lone@1","state":"fam/State@1","event":"fam/ChildEvent@1",
 "effects_emitted":["fam/work@1"],"impl":{"module":"fam/code@1","entrypoint":"child"}},
{"$kind":"defworkflow","name":"fam/Deaf@1","state":"fam/State@1","event":"fam/Go@1","key_schema":"fam/Key@1",
 "effects_emitted":["sys/workflow.run@1"],"impl":{"module":"fam/code@1","entrypoint":"parent"}},
{"$kind":"manifest","air_version":"2","schemas":[{"name":"fam/Go@1"},{"name":"fam/Begin@1"},{"name":"fam/Answer@1"},
  {"name":"fam/Key@1"},{"name":"fam/State@1"},{"name":"fam/Params@1"},{"name":"fam/ParentEvent@1"},{"name":"fam/ChildEvent@1"}],
 "modules":[{"name":"fam/code@1"}],"effects":[{"name":"fam/work@1"}],
 "workflows":[{"name":"fam/Parent@1"},{"name":"fam/Child@1"},{"name":"fam/Lone@1"},{"name":"fam/Deaf@1"}],
 "routing":{"subscriptions":[{"event":"fam/Go@1","workflow":"fam/Parent@1","key_field":"id"},
   {"event":"fam/Answer@1","workflow":"fam/Child@1","key_field":"id"}]}}])json";

inline std::string numbered_event(std::string_view id, std::uint64_t n) {
  return R"({"id":")" + std::string(id) + R"(","n":)" + std::to_string(n) + "}";
}

inline void keep_number(StepOutput& output, std::uint64_t n) {
  output.begin_state();
  write(output.bytes(), R"({"n":)" + std::to_string(n) + "}");
}

// Keys in canonical order: shorter first, then bytewise.
inline void run_with(StepOutput& output, std::string_view workflow, const base::Bytes& key,
                     std::string_view schema, const base::Bytes& event, std::string_view ref = {}) {
  output.begin_effect("sys/workflow.run@1", {}, ref);
  codec::Buffer& out = output.bytes();
  codec::write_map_head(out, 4);
  codec::write_text(out, "key");
  if (key.empty()) {
    codec::write_null(out);
  } else {
    codec::write_bytes(out, key);
  }
  codec::write_text(out, "event");
  codec::write_text(out, schema);
  codec::write_text(out, "value");
  codec::write_bytes(out, event);
  codec::write_text(out, "workflow");
  codec::write_text(out, workflow);
}

inline base::Bytes text_key_of(std::string_view id) { return value("\"" + std::string(id) + "\""); }

// Runs fam/Child@1 under this key.
inline void run_child(StepOutput& output, std::string_view id, std::uint64_t n = 0,
                      std::string_view ref = {}) {
  run_with(output, "fam/Child@1", text_key_of(id), "fam/Begin@1", value(numbered_event(id, n)),
           ref);
}

inline void stop_child(StepOutput& output, std::string_view id) {
  output.begin_effect("sys/workflow.stop@1", {}, "stop");
  codec::Buffer& out = output.bytes();
  codec::write_map_head(out, 2);
  codec::write_text(out, "key");
  codec::write_bytes(out, text_key_of(id));
  codec::write_text(out, "workflow");
  codec::write_text(out, "fam/Child@1");
}

inline std::uint64_t number_in(const StepInput& input) {
  const auto n = codec::View::of(input.mail.value).find("n");
  return n ? n->nat().value_or(0) : 0;
}

// What a parent was told, as text: "ok 7", "error it.broke".
inline std::string told_by(const Mail& mail) {
  std::string text(name_of(mail.status));
  const codec::View view = codec::View::of(mail.value);
  if (const auto result = view.find("result")) return text + " " + json_of(*result->bytes());
  if (const auto stopped = view.find("stopped"))
    return text + (*stopped->boolean() ? " yes" : " no");
  return text + " " + std::string(*view.find("code")->text());
}

class FamilyTest : public ::testing::Test {
 protected:
  Bench& bench() {
    if (!bench_) bench_.emplace(kFamilyDefinitions, machines_, options_);
    return *bench_;
  }
  Outcome go(std::string_view id, std::uint64_t n = 0) {
    return bench().event("fam/Go@1", numbered_event(id, n));
  }
  Outcome answer(std::string_view id, std::uint64_t n) {
    return bench().event("fam/Answer@1", numbered_event(id, n));
  }
  Outcome cancel(std::string_view workflow, std::string_view id) {
    return bench().control(Control::kCancel, workflow, "\"" + std::string(id) + "\"");
  }
  const Cell* parent(std::string_view id) {
    return bench().find("fam/Parent@1", "\"" + std::string(id) + "\"");
  }
  const Cell* child(std::string_view id) {
    return bench().find("fam/Child@1", "\"" + std::string(id) + "\"");
  }
  std::string status_of(const Cell* cell) {
    return cell == nullptr ? "gone" : std::string(name_of(cell->status()));
  }
  // Until nothing is left over; how many ticks that took.
  std::size_t go_on() {
    std::size_t ticks = 0;
    for (; bench().world().has_ready(); ++ticks) bench().tick(Continue{});
    return ticks;
  }
  void expect_replays() { bench().expect_replays(); }

  // A parent that runs the child "c" for its event, and keeps what it is told.
  Step parent_ = [this](const StepInput& input, StepOutput& output) {
    keep_number(output, 1);
    if (input.mail.kind == MailKind::kEvent) return run_child(output, "c", number_in(input));
    told_.push_back(told_by(input.mail));
  };
  // A child that waits for an answer, and completes with it.
  Step child_ = [](const StepInput& input, StepOutput& output) {
    if (input.mail.schema != "fam/Answer@1") return keep_number(output, number_in(input));
    output.begin_result();
    codec::write_nat(output.bytes(), number_in(input));
  };
  WorldOptions options_;
  std::vector<std::string> told_;
  Machines machines_{{"parent", [this](const auto& in, auto& out) { parent_(in, out); }},
                     {"child", [this](const auto& in, auto& out) { child_(in, out); }}};
  std::optional<Bench> bench_;
};

}  // namespace holdfast::kernel::testing
