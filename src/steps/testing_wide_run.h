// SPDX-License-Identifier: Apache-2.0
// A run of a step workflow that fans out widely, in a world: what one more result costs, while few
// or many others wait. With the kernel around it, and without a journal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "codec/normaliser.h"
#include "kernel/testing_blobs.h"
#include "kernel/world.h"
#include "steps/machine.h"

namespace holdfast::steps::testing {

inline constexpr std::string_view kWideDefinitions = R"json([
{"$kind":"defschema","name":"w/Start@1","type":{"record":{"id":{"text":{}}}}},
{"$kind":"defschema","name":"w/A@1","type":{"record":{"id":{"text":{}}}}},
{"$kind":"defschema","name":"w/B@1","type":{"record":{"id":{"text":{}}}}},
{"$kind":"defschema","name":"w/Stop@1","type":{"record":{"id":{"text":{}}}}},
{"$kind":"defschema","name":"w/Key@1","type":{"text":{}}},
{"$kind":"defschema","name":"w/Event@1","type":{"variant":{"Start":{"ref":"w/Start@1"},
  "Receipt":{"ref":"sys/EffectReceiptEnvelope@1"},"Rejected":{"ref":"sys/EffectReceiptRejected@1"},
  "Frame":{"ref":"sys/EffectStreamFrame@1"}}}},
{"$kind":"defeffect","name":"w/Flow.join@1","params":"sys/StepRun@1","receipt":"sys/StepRan@1",
 "executor":{"kind":"worker","queue":"w"}},
{"$kind":"defeffect","name":"w/Flow.split@1","params":"sys/StepRun@1","receipt":"sys/StepRan@1",
 "executor":{"kind":"worker","queue":"w"}},
{"$kind":"defeffect","name":"w/Flow.work@1","params":"sys/StepRun@1","receipt":"sys/StepRan@1",
 "executor":{"kind":"worker","queue":"w"}},
{"$kind":"defmodule","name":"w/code@1","runtime":{"kind":"steps"}},
{"$kind":"defworkflow","name":"w/Flow@1","state":"sys/StepsState@1","event":"w/Event@1",
 "key_schema":"w/Key@1","annotations":"sys/StepEntry@1",
 "effects_emitted":["w/Flow.join@1","w/Flow.split@1","w/Flow.work@1","sys/timer.set@1"],
 "impl":{"module":"w/code@1","entrypoint":"w/Flow@1"}},
{"$kind":"manifest","air_version":"2","schemas":[{"name":"w/Start@1"},{"name":"w/A@1"},
  {"name":"w/B@1"},{"name":"w/Stop@1"},{"name":"w/Key@1"},{"name":"w/Event@1"}],
 "modules":[{"name":"w/code@1"}],
 "effects":[{"name":"w/Flow.join@1"},{"name":"w/Flow.split@1"},{"name":"w/Flow.work@1"}],
 "workflows":[{"name":"w/Flow@1"}],
 "routing":{"subscriptions":[{"event":"w/Start@1","workflow":"w/Flow@1","key_field":"id"}]}}
])json";

class WideRun : public kernel::MachineSource {
 public:
  // Begun, and fanned out into so many elements.
  explicit WideRun(std::size_t elements)
      : machine_(graph(), "w/Flow@1"), world_(*this, blobs_), elements_(elements) {
    tick_.time_ns = 1'700'000'000'000'000'000;
    codec::Normaliser normaliser;
    const auto definitions = normaliser.part_from_json(codec::Schema::any(), kWideDefinitions);
    CHECK(definitions);
    tick(kernel::ApplyManifest{*definitions});
    const base::Bytes start = event(0);
    tick(kernel::EventArrived{.schema = "w/Start@1", .value = start, .id = {}});
    CHECK(open_.size() == 1);
    codec::Buffer list;
    codec::write_list_head(list, 1);
    codec::write_list_head(list, 2);
    codec::write_nat(list, 1);  // returned a list
    codec::write_list_head(list, elements);
    for (std::size_t i = 0; i < elements; ++i) {
      codec::write_list_head(list, 2);
      codec::write_text(list, "w/A@1");
      codec::write_bytes(list, event(i));
    }
    answer(list);
  }

  // The result of one element.
  void turn() {
    codec::Buffer list;
    codec::write_list_head(list, 1);
    codec::write_list_head(list, 3);
    codec::write_nat(list, 0);
    codec::write_text(list, "w/B@1");
    codec::write_bytes(list, event(answered_++));
    answer(list);
  }

  // All that are left, and the join.
  void finish() {
    while (answered_ < elements_) turn();
    codec::Buffer list;
    codec::write_list_head(list, 1);
    codec::write_list_head(list, 3);
    codec::write_nat(list, 0);
    codec::write_text(list, "w/Stop@1");
    codec::write_bytes(list, event(0));
    answer(list);
  }

  const kernel::Machine* find(const defs::ModuleDef&, std::string_view) const override {
    return &machine_;
  }
  kernel::World& world() { return world_; }
  kernel::testing::MemoryBlobs& blobs() { return blobs_; }
  const kernel::Cell& cell() {
    const auto found = world_.find("w/Flow@1", key());
    CHECK(found && *found != nullptr);
    return **found;
  }
  static base::Bytes key() {
    codec::Buffer out;
    codec::write_text(out, "wide");
    return out.to_bytes();
  }
  kernel::Outcome& last() noexcept { return outcome_; }
  std::size_t running() const noexcept { return open_.size(); }

 private:
  static Graph graph() {
    return {{{"w/Start@1", Role::kStart}, {"w/A@1"}, {"w/B@1"}, {"w/Stop@1", Role::kStop}},
            {{.name = "join",
              .accepts = {},
              .join = Join{.type = 2, .take = 0},
              .returns = {3},
              .returns_list = {},
              .handles = {}},
             {.name = "split",
              .accepts = {0},
              .join = {},
              .returns = {},
              .returns_list = {1},
              .handles = {}},
             {.name = "work",
              .accepts = {1},
              .join = {},
              .returns = {2},
              .returns_list = {},
              .handles = {}}}};
  }
  static base::Bytes event(std::size_t number) {
    codec::Buffer out;
    codec::write_map_head(out, 1);
    codec::write_text(out, "id");
    codec::write_text(out, number == 0 ? "wide" : "element " + std::to_string(number));
    return out.to_bytes();
  }
  // Of what was opened first.
  void answer(const codec::Buffer& results) {
    CHECK(!open_.empty());
    const base::Hash intent = open_.front();
    open_.pop_front();
    codec::Buffer value;
    codec::write_map_head(value, 1);
    codec::write_text(value, "results");
    codec::write_bytes(value, results.view());
    tick(kernel::ReceiptArrived{intent, kernel::ReceiptStatus::kOk, value.view(), {}, {}});
  }
  void tick(decltype(kernel::Tick::input) input) {
    tick_.time_ns += 1'000'000;
    tick_.input = input;
    world_.reduce(tick_, outcome_);
    CHECK(!outcome_.failure && !std::holds_alternative<kernel::Refused>(outcome_.answer));
    for (const kernel::Command& command : outcome_.commands) {
      const auto* open = std::get_if<kernel::OpenIntent>(&command);
      if (open != nullptr && open->effect->name != "sys/timer.set@1") open_.push_back(open->intent);
    }
  }

  StepsMachine machine_;
  kernel::testing::MemoryBlobs blobs_;
  kernel::World world_;
  kernel::Tick tick_;
  kernel::Outcome outcome_;
  std::deque<base::Hash> open_;
  const std::size_t elements_;
  std::size_t answered_ = 0;
};

}  // namespace holdfast::steps::testing
