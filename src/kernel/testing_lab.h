// SPDX-License-Identifier: Apache-2.0
// For the kernel's tests: a world of three workflows whose steps each test writes for itself.
//
//   lab/Keyed@1     keyed by text, hears receipts, rejected receipts and progress, has annotations
//   lab/Numbered@1  keyed by a number, hears receipts
//   lab/Single@1    without key, its event type is a record: it hears nothing of its effects
#pragma once

#include <string>
#include <vector>

#include "kernel/testing.h"

namespace holdfast::kernel::testing {

inline constexpr char kLabDefinitions[] = R"json(
{"$kind":"defschema","name":"lab/Go@1","type":{"record":{"id":{"text":{}},"n":{"nat":{}}}}},
{"$kind":"defschema","name":"lab/Stop@1","type":{"record":{"id":{"text":{}}}}},
{"$kind":"defschema","name":"lab/Unheard@1","type":{"record":{}}},
{"$kind":"defschema","name":"lab/Text@1","type":{"text":{}}},
{"$kind":"defschema","name":"lab/Nat@1","type":{"nat":{}}},
{"$kind":"defschema","name":"lab/State@1","type":{"record":{"n":{"nat":{}}}}},
{"$kind":"defschema","name":"lab/Notes@1","type":{"record":{"note":{"text":{}}}}},
{"$kind":"defschema","name":"lab/Params@1","type":{"record":{"a":{"nat":{}},"b":{"option":{"text":{}}}}}},
{"$kind":"defschema","name":"lab/Done@1","type":{"record":{"ok":{"bool":{}}}}},
{"$kind":"defschema","name":"lab/KeyedEvent@1","type":{"variant":{"Go":{"ref":"lab/Go@1"},"Stop":{"ref":"lab/Stop@1"},
  "Receipt":{"ref":"sys/EffectReceiptEnvelope@1"},"Rejected":{"ref":"sys/EffectReceiptRejected@1"},
  "Frame":{"ref":"sys/EffectStreamFrame@1"}}}},
{"$kind":"defschema","name":"lab/NumberedEvent@1","type":{"variant":{"Go":{"ref":"lab/Go@1"},
  "Receipt":{"ref":"sys/EffectReceiptEnvelope@1"}}}},
{"$kind":"defeffect","name":"lab/work@1","params":"lab/Params@1","receipt":"lab/Done@1",
 "executor":{"kind":"worker","queue":"lab"},"timeout_ns":31536000000000000},
{"$kind":"defeffect","name":"lab/other@1","params":"lab/Params@1","receipt":"lab/Done@1","executor":{"kind":"echo"}},
{"$kind":"defmodule","name":"lab/code@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"lab/Keyed@1","state":"lab/State@1","event":"lab/KeyedEvent@1","key_schema":"lab/Text@1",
 "annotations":"lab/Notes@1","effects_emitted":["lab/work@1","sys/timer.set@1"],
 "impl":{"module":"lab/code@1","entrypoint":"keyed"}},
{"$kind":"defworkflow","name":"lab/Numbered@1","state":"lab/State@1","event":"lab/NumberedEvent@1",
 "key_schema":"lab/Nat@1","effects_emitted":["lab/work@1"],"impl":{"module":"lab/code@1","entrypoint":"numbered"}},
{"$kind":"defworkflow","name":"lab/Single@1","state":"lab/State@1","event":"lab/Go@1","effects_emitted":["lab/work@1"],
 "impl":{"module":"lab/code@1","entrypoint":"single"}},
)json";

inline constexpr char kLabLists[] =
    R"json("air_version":"2","schemas":[{"name":"lab/Go@1"},{"name":"lab/Stop@1"},
  {"name":"lab/Unheard@1"},{"name":"lab/Text@1"},{"name":"lab/Nat@1"},{"name":"lab/State@1"},{"name":"lab/Notes@1"},
  {"name":"lab/Params@1"},{"name":"lab/Done@1"},{"name":"lab/KeyedEvent@1"},{"name":"lab/NumberedEvent@1"}],
 "modules":[{"name":"lab/code@1"}],"effects":[{"name":"lab/work@1"},{"name":"lab/other@1"}],
 "workflows":[{"name":"lab/Keyed@1"},{"name":"lab/Numbered@1"},{"name":"lab/Single@1"}])json";

// The world with these subscriptions, as JSON without the brackets.
inline std::string lab(std::string_view subscriptions) {
  return std::string("[") + kLabDefinitions + R"({"$kind":"manifest",)" + kLabLists +
         R"(,"routing":{"subscriptions":[)" + std::string(subscriptions) + "]}}]";
}

// The same without lab/Keyed@1.
inline std::string lab_without_keyed(std::string_view routes = "") {
  std::string all = lab(routes);
  const std::string listed = R"({"name":"lab/Keyed@1"},)";
  all.erase(all.find(listed), listed.size());
  return all;
}

inline constexpr char kToKeyed[] =
    R"({"event":"lab/Go@1","workflow":"lab/Keyed@1","key_field":"id"})";
inline constexpr char kToNumbered[] =
    R"({"event":"lab/Go@1","workflow":"lab/Numbered@1","key_field":"n"})";
inline constexpr char kToSingle[] = R"({"event":"lab/Go@1","workflow":"lab/Single@1"})";
inline constexpr char kStopToKeyed[] =
    R"({"event":"lab/Stop@1","workflow":"lab/Keyed@1","key_field":"id"})";

inline void state(StepOutput& output, std::uint64_t n) {
  output.begin_state();
  write(output.bytes(), R"({"n":)" + std::to_string(n) + "}");
}

inline void open(StepOutput& output, std::string_view effect, std::string_view params,
                 std::string_view key = {}, std::string_view issuer_ref = {}) {
  output.begin_effect(effect, key, issuer_ref);
  write(output.bytes(), params);
}

inline void emit(StepOutput& output, std::string_view schema, std::string_view json) {
  output.begin_event(schema);
  write(output.bytes(), json);
}

inline void complete(StepOutput& output, std::string_view json) {
  output.begin_result();
  write(output.bytes(), json);
}

inline std::uint64_t number(const StepInput& input) {
  return *codec::View::of(input.mail.value).find("n")->nat();
}

// Keeps the number of the last event.
inline void keep(const StepInput& input, StepOutput& output) {
  state(output, input.mail.schema == "lab/Go@1" ? number(input) : 0);
}

// Opens one effect for an event, completes with what comes back.
inline void work(const StepInput& input, StepOutput& output) {
  if (input.mail.kind == MailKind::kEvent) {
    state(output, number(input));
    return open(output, "lab/work@1", R"({"a":1})");
  }
  if (input.mail.kind == MailKind::kProgress) return state(output, input.mail.sequence);
  output.begin_result();
  if (input.mail.kind == MailKind::kRejected) return codec::write_text(output.bytes(), "rejected");
  output.bytes().append(input.mail.value);
}

class LabTest : public ::testing::Test {
 protected:
  static std::string go(std::string_view id, std::uint64_t n) {
    return R"({"id":")" + std::string(id) + R"(","n":)" + std::to_string(n) + "}";
  }

  // Its own world; by default every workflow hears of lab/Go@1.
  void begin(std::string_view subscriptions) { bench_.emplace(lab(subscriptions), machines_); }
  Bench& bench() {
    if (!bench_)
      begin(std::string(kToKeyed) + "," + kToNumbered + "," + kToSingle + "," + kStopToKeyed);
    return *bench_;
  }
  Outcome send(std::string_view id, std::uint64_t n, std::string_view event_id = {}) {
    return bench().event("lab/Go@1", go(id, n), event_id);
  }
  const Cell* keyed(std::string_view id) {
    return bench().find("lab/Keyed@1", "\"" + std::string(id) + "\"");
  }
  std::string error_of(const Cell* cell) {
    return cell == nullptr || cell->outcome.empty()
               ? ""
               : std::string(*codec::View::of(cell->outcome).find("code")->text());
  }

  Step keyed_ = keep;
  Step numbered_ = keep;
  Step single_ = keep;
  Machines machines_{{"keyed", [this](const auto& in, auto& out) { keyed_(in, out); }},
                     {"numbered", [this](const auto& in, auto& out) { numbered_(in, out); }},
                     {"single", [this](const auto& in, auto& out) { single_(in, out); }}};
  std::optional<Bench> bench_;
};

}  // namespace holdfast::kernel::testing
