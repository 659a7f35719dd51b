// SPDX-License-Identifier: Apache-2.0
// What the tests of task documents share: a document as JSON in, a plan or errors as lines out, so
// that a table of cases reads like the rules. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "tasks/compile.h"
#include "tasks/render.h"

namespace holdfast::tasks::testing {

using Lines = std::vector<std::string>;

inline base::Bytes value_of(std::string_view json) {
  codec::Normaliser normaliser;
  const auto value = normaliser.from_json(codec::Schema::any(), json);
  EXPECT_TRUE(value) << json << "\n" << value.error().to_string();
  if (!value) return {codec::kNullByte};
  return {value->begin(), value->end()};
}

// Without the tag, as a part of something else.
inline base::Bytes part_of_value(std::string_view json) {
  const base::Bytes value = value_of(json);
  const base::ByteView part = codec::View::of(value).encoded();
  return {part.begin(), part.end()};
}

inline std::string json_of(base::ByteView value) { return codec::to_json(codec::View::of(value)); }

// Task types that the documents of tests may use.
inline CompileOptions options() { return {.task_types = {{"echo", "http", "train"}}}; }

inline Compiled compile_text(std::string_view json, const CompileOptions& with = options()) {
  const base::Bytes value = value_of(json);
  Compiled compiled = compile(codec::View::of(value), with);
  EXPECT_EQ(compiled.plan.has_value(), compiled.errors.empty()) << json;
  return compiled;
}

inline Lines errors_of(std::string_view json, const CompileOptions& with = options()) {
  Lines lines;
  for (const base::Error& error : compile_text(json, with).errors)
    lines.push_back(error.to_string());
  return lines;
}

inline Plan plan_of(std::string_view json, const CompileOptions& with = options()) {
  Compiled compiled = compile_text(json, with);
  EXPECT_TRUE(compiled.plan) << json << "\n" << ::testing::PrintToString(errors_of(json, with));
  return compiled.plan ? std::move(*compiled.plan) : Plan{};
}

// A document around a root spec, and around the nodes of a graph or the stages of a chain.
inline std::string document(std::string_view spec, std::string_view annotations = "") {
  return R"({"apiVersion":"holdfast/v1","kind":"Workflow","metadata":{"name":"w")" +
         (annotations.empty() ? "" : ",\"annotations\":" + std::string(annotations)) +
         R"(},"spec":)" + std::string(spec) + "}";
}
inline std::string graph(std::string_view nodes, std::string_view annotations = "") {
  return document(R"({"taskType":"echo","graph":{"nodes":[)" + std::string(nodes) + "]}}",
                  annotations);
}
inline std::string stages(std::string_view list, std::string_view annotations = "") {
  return document(R"({"taskType":"echo","stages":[)" + std::string(list) + "]}", annotations);
}

// "shard[0]", "a", "merge <- a, join shard": every task and what it depends on.
inline Lines tasks_of(const Plan& plan) {
  const auto name_of = [&](const TaskDefinition& task) {
    return (task.kind == TaskKind::kJoin ? "join " : "") + task.name;
  };
  Lines lines;
  for (TaskIndex index = 0; index < plan.total_count; ++index) {
    const TaskDefinition task = plan.task(index);
    std::string line = name_of(task);
    for (const TaskRange& range : task.dependencies) {
      for (TaskIndex i = range.first; i < range.end(); ++i)
        line += (line.find("<-") == std::string::npos ? " <- " : ", ") + name_of(plan.task(i));
    }
    lines.push_back(line);
  }
  return lines;
}

// The task with a name; a join only if it is asked for.
inline TaskDefinition task_named(const Plan& plan, std::string_view name,
                                 TaskKind kind = TaskKind::kRun) {
  for (TaskIndex index = 0; index < plan.total_count; ++index) {
    TaskDefinition task = plan.task(index);
    if (task.name == name && task.kind == kind) return task;
  }
  ADD_FAILURE() << "there is no task " << name;
  return {};
}

// Results by the names of tasks.
class Results : public Outcomes {
 public:
  explicit Results(const Plan& plan) : plan_(plan) {}
  Results& add(std::string_view name, std::string_view json) {
    const TaskIndex index = task_named(plan_, name).index;
    values_[index] = value_of(json);
    ids_[index] = "tsk-" + std::to_string(index);
    return *this;
  }
  std::optional<Outcome> find(TaskIndex task) const override {
    const auto at = values_.find(task);
    if (at == values_.end()) return std::nullopt;
    return Outcome{codec::View::of(at->second), ids_.at(task)};
  }

 private:
  const Plan& plan_;
  std::map<TaskIndex, base::Bytes> values_;
  std::map<TaskIndex, std::string> ids_;
};

}  // namespace holdfast::tasks::testing
