// SPDX-License-Identifier: Apache-2.0
// Step workflows out of types: their definitions, and when code fits them.
#include <gtest/gtest.h>

#include "defs/builtin.h"
#include "holdfast/steps.h"
#include "native/bundle.h"
#include "native/flow_graph.h"
#include "native/machines.h"

namespace holdfast::native {
namespace {

using namespace std::chrono_literals;

struct Request {
  static constexpr std::string_view kSchema = "test/Request@1";
  std::string id;
};
struct Decision {
  static constexpr std::string_view kSchema = "test/Decision@1";
  std::string id;
  bool yes = false;
};
struct Question {
  static constexpr std::string_view kSchema = "test/Question@1";
  std::string text;
};
struct Part {
  static constexpr std::string_view kSchema = "test/Part@1";
  std::uint64_t n = 0;
};
struct Done {
  static constexpr std::string_view kSchema = "test/Done@1";
  std::uint64_t n = 0;
};
struct Outcome {
  static constexpr std::string_view kSchema = "test/Outcome@1";
  std::uint64_t sum = 0;
};

struct Flow : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Flow@1";
  using Events = holdfast::Events<On<Request, &Request::id>, On<Decision, &Decision::id>>;
  using Stop = Outcome;
  using Asks = holdfast::Asks<Question>;

  std::optional<std::vector<Part>> split(const Request&, StepContext&) { return std::nullopt; }
  std::variant<Done, Question> work(const Part&, StepContext&) const { return Done{}; }
  Outcome sum(const std::vector<Done>&, StepContext&) { return {}; }
  void hear(const Decision&, StepContext&) {}
  std::optional<Done> rescue(const StepFailed&, StepContext&) { return std::nullopt; }

  static auto steps() {
    return StepsOf<Flow>()
        .step("split", &Flow::split)
        .step("work", &Flow::work, {.workers = workers, .timeout = 5s})
        .step("sum", &Flow::sum, {.take = 2})
        .step("hear", &Flow::hear)
        .on_error("rescue", &Flow::rescue, {.handles = {"work"}, .max_recoveries = 3})
        .timeout(1h);
  }

  static inline std::uint32_t workers = 2;
};

TEST(Flow, the_graph_is_what_the_types_say) {
  const Module module = Module::of<Flow>("test/code@1");
  ASSERT_EQ(module.flows().size(), 1U);
  const steps::Graph graph = graph_of(module.flows()[0]);
  const auto step = [&](const char* name) { return graph.step(*graph.step_named(name)); };
  const auto type = [&](std::string_view schema) { return *graph.type_named(schema); };
  EXPECT_EQ(step("split").accepts, std::vector{type("test/Request@1")});
  EXPECT_EQ(step("split").returns_list, std::vector{type("test/Part@1")});
  EXPECT_EQ(step("work").returns, (std::vector{type("test/Done@1"), type("test/Question@1")}));
  EXPECT_EQ(step("work").workers, 2U);
  EXPECT_EQ(step("sum").join->type, type("test/Done@1"));
  EXPECT_EQ(step("sum").join->take, 2U);
  EXPECT_TRUE(step("hear").returns.empty());
  EXPECT_TRUE(step("rescue").is_handler);
  EXPECT_EQ(graph.handler_of(*graph.step_named("work")), graph.step_named("rescue"));
  EXPECT_EQ(graph.timeout_ns(), 3'600'000'000'000U);
  EXPECT_EQ(graph.type(type("test/Request@1")).role, steps::Role::kStart);
  EXPECT_EQ(graph.type(type("test/Decision@1")).role, steps::Role::kResponse);
  EXPECT_EQ(graph.type(type("test/Question@1")).role, steps::Role::kInputRequired);
  EXPECT_EQ(graph.type(type("test/Outcome@1")).role, steps::Role::kStop);
  EXPECT_EQ(graph.type(type("sys/StepFailed@1")).role, steps::Role::kStepFailed);
}

TEST(Flow, its_definitions_are_good) {
  const Module module = Module::of<Flow>("test/code@1");
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = load({&module, 1}, &builtin);
  for (const base::Error& error : bundle.errors) ADD_FAILURE() << error.to_string();
  const auto* effect = bundle.catalogue.get<defs::EffectDef>("test/Flow.work@1");
  ASSERT_NE(effect, nullptr);
  EXPECT_EQ(effect->timeout_ns, 5'000'000'000U);
  EXPECT_EQ(effect->params, "sys/StepRun@1");
  const auto* code = bundle.catalogue.get<defs::ModuleDef>("test/code.steps@1");
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->runtime, defs::Runtime::kSteps);
  EXPECT_EQ(bundle.catalogue.get<defs::ModuleDef>("test/code@1"), nullptr);
  // What steps pass to each other is defined, too.
  EXPECT_NE(bundle.catalogue.get<defs::SchemaDef>("test/Done@1"), nullptr);
}

TEST(Flow, code_with_another_graph_does_not_fit) {
  const Module module = Module::of<Flow>("test/code@1");
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = load({&module, 1}, &builtin);
  const auto* workflow = bundle.catalogue.get<defs::WorkflowDef>("test/Flow@1");
  ASSERT_NE(workflow, nullptr);
  const Machines same({&module, 1});
  EXPECT_EQ(same.objection(*workflow, bundle.catalogue), std::nullopt);
  const defs::ModuleDef code{"test/code.steps@1", defs::Runtime::kSteps, {}};
  EXPECT_NE(same.find(code, workflow->impl.entrypoint), nullptr);
  EXPECT_EQ(same.find({"test/code@1", defs::Runtime::kSteps, {}}, workflow->impl.entrypoint),
            nullptr);

  Flow::workers = 3;
  const Module changed = Module::of<Flow>("test/code@1");
  Flow::workers = 2;
  const Machines other({&changed, 1});
  EXPECT_NE(other.find(code, workflow->impl.entrypoint), nullptr);
  EXPECT_EQ(other.objection(*workflow, bundle.catalogue),
            "the graph of its steps is another one in the code");
}

struct Stuck : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Stuck@1";
  using Events = holdfast::Events<On<Request, &Request::id>>;
  using Stop = Outcome;
  Part begin(const Request&, StepContext&) { return {}; }
  Outcome end(const Done&, StepContext&) { return {}; }
  static auto steps() {
    return StepsOf<Stuck>().step("begin", &Stuck::begin).step("end", &Stuck::end);
  }
};

TEST(Flow, a_graph_that_cannot_run_is_refused_with_its_definitions) {
  const Module module = Module::of<Stuck>("test/code@1");
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = load({&module, 1}, &builtin);
  std::vector<std::string> lines;
  for (const base::Error& error : bundle.errors) lines.push_back(error.to_string());
  EXPECT_EQ(lines,
            (std::vector<std::string>{
                "test/Stuck@1: event 'test/Part@1': a step returns it, and nobody takes it",
                "test/Stuck@1: event 'test/Done@1': a step takes it, and nobody returns it"}));
}

}  // namespace
}  // namespace holdfast::native
