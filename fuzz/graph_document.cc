// SPDX-License-Identifier: Apache-2.0
// Any text may be a task document, in JSON or in YAML, and any bytes a part of a graph. A document
// that compiles makes a plan whose parts come back as they were, whose tasks can be rendered, and
// which can be run to its end. A part that is read is written as the same bytes again.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "bundle/yaml.h"
#include "codec/normaliser.h"
#include "tasks/compile.h"
#include "tasks/graph_parts.h"
#include "tasks/graph_progress.h"
#include "tasks/render.h"
#include "tasks/task_codec.h"

namespace {

using namespace holdfast;
using namespace holdfast::tasks;

// Every task has the same result.
class SameResult : public Outcomes {
 public:
  explicit SameResult(codec::View result) : result_(result) {}
  std::optional<Outcome> find(TaskIndex) const override { return Outcome{result_, "tsk-1"}; }

 private:
  codec::View result_;
};

void check_parts(const Plan& plan) {
  codec::Buffer written;
  write_header(written, header_of(plan));
  const auto header = read_header(codec::View::of(written.view()));
  CHECK(header);
  GraphIntake intake;
  for (TaskIndex next = 0; next < plan.total_count;) {
    const TaskIndex first = next;
    const base::Bytes part = part_from(plan, next);
    const auto read = intake.add(codec::View::of(part), *header);
    CHECK(read && read->size() == next - first);
    for (std::uint32_t i = 0; i < read->size(); ++i) CHECK((*read)[i].task == plan.task(first + i));
  }
  CHECK(intake.seal(*header));
}

void check_rendering(const Plan& plan, codec::View result) {
  const SameResult outcomes(result);
  codec::Normaliser normaliser;
  for (TaskIndex index = 0; index < plan.total_count; ++index) {
    const TaskDefinition task = plan.task(index);
    const auto holds = condition_holds(task, outcomes);
    CHECK(holds || holds.error().code() != base::ErrorCode::kInvalid);
    const auto value = render(task, outcomes, 10'000);
    if (!value) {
      CHECK(value.error().code() == base::ErrorCode::kNotFound ||
            value.error().code() == base::ErrorCode::kTooLarge);
      continue;
    }
    base::Bytes whole(std::begin(codec::kSelfDescribe), std::end(codec::kSelfDescribe));
    whole.insert(whole.end(), value->begin(), value->end());
    CHECK(normaliser.from_cbor(codec::Schema::any(), whole, codec::Strictness::kStrict));
  }
}

void check_run(const Plan& plan) {
  GraphProgress progress(shape_of(plan));
  std::vector<TaskIndex> ready = progress.start().ready;
  while (!ready.empty()) {
    const TaskIndex task = ready.back();
    ready.pop_back();
    progress.dispatched(task);
    for (const TaskIndex next : progress.done(task).ready) ready.push_back(next);
  }
  CHECK(progress.status() == GraphStatus::kDone);
  CHECK(progress.counts().done == plan.run_count);
}

void check_document(std::string_view json) {
  codec::Normaliser normaliser;
  const auto value = normaliser.from_json(codec::Schema::any(), json);
  if (!value) return;
  const codec::View document = codec::View::of(*value);
  const Compiled compiled = compile(document, {.task_types = {}, .max_tasks = 2000});
  CHECK(compiled.plan.has_value() == compiled.errors.empty());
  if (!compiled.plan) return;
  check_parts(*compiled.plan);
  check_rendering(*compiled.plan, document);
  check_run(*compiled.plan);
}

void check_part(base::ByteView bytes) {
  // Parts stand inside events, which were normalised: only canonical values come here.
  codec::Normaliser normaliser;
  const auto value = normaliser.part_from_cbor(codec::Schema::any(), bytes);
  if (!value) return;
  const auto tasks = read_part(codec::View::of(*value));
  if (!tasks) return;
  for (const PartTask& each : *tasks) {
    codec::Buffer again;
    write_task(again, each.task);
    CHECK(std::ranges::equal(again.view(), each.definition));
  }
}

}  // namespace

// The first byte picks what the rest is: JSON, YAML, or a part of a graph.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const base::ByteView rest{data + 1, size - 1};
  switch (data[0] % 3) {
    case 0: check_document(base::as_text(rest)); break;
    case 1: {
      const auto json = bundle::yaml_to_json(base::as_text(rest));
      if (json) check_document(*json);
      break;
    }
    default: check_part(rest); break;
  }
  return 0;
}
