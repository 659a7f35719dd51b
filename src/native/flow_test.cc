// SPDX-License-Identifier: Apache-2.0
// Step workflows out of types: their definitions, and when code fits them.
#include <gtest/gtest.h>

#include "base/hex.h"
#include "codec/normaliser.h"
#include "defs/builtin.h"
#include "defs/system_names.h"
#include "holdfast/steps.h"
#include "native/bundle.h"
#include "native/flow_graph.h"
#include "native/machines.h"
#include "steps/graph_codec.h"

namespace holdfast::native::flow_test {
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

TEST(Flow, code_fits_a_graph_whose_steps_it_has) {
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
  EXPECT_EQ(other.objection(*workflow, bundle.catalogue), std::nullopt) << "runs keep their graph";

  // A step that the code has not.
  const auto graph = steps::read_graph(codec::View::of(*workflow->graph), "$");
  ASSERT_TRUE(graph) << graph.error().to_string();
  std::vector<steps::StepDef> steps = graph->steps();
  steps.push_back(steps.front());
  steps.back().name = "gone";
  const steps::Graph more(graph->types(), steps, graph->timeout_ns(), graph->children(),
                          graph->rules());
  codec::Buffer written;
  steps::write_graph(written, more);
  defs::WorkflowDef longer = *workflow;
  longer.graph = written.to_bytes();
  longer.impl.entrypoint = "test/Flow@1#" + base::to_hex(more.digest().bytes);
  EXPECT_EQ(other.objection(longer, bundle.catalogue),
            "the graph of its steps is another one in the code: the step 'gone' is not there");
}

TEST(Flow, the_graph_is_in_the_definition_for_those_without_the_code) {
  const Module module = Module::of<Flow>("test/code@1");
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = load({&module, 1}, &builtin);
  const auto* workflow = bundle.catalogue.get<defs::WorkflowDef>("test/Flow@1");
  ASSERT_NE(workflow, nullptr);
  ASSERT_TRUE(workflow->graph);
  const auto graph = steps::read_graph(codec::View::of(*workflow->graph), "$");
  ASSERT_TRUE(graph) << graph.error().to_string();
  EXPECT_EQ(workflow->impl.entrypoint, "test/Flow@1#" + base::to_hex(graph->digest().bytes));
  // It stays through the form in which definitions are kept.
  const base::Bytes kept = defs::encode(*workflow);
  codec::Errors errors;
  const auto again = defs::parse_definition(codec::View::of(kept), "$", errors);
  ASSERT_TRUE(again);
  EXPECT_EQ(std::get<defs::WorkflowDef>(*again).graph, workflow->graph);
}

TEST(Flow, a_definition_that_shows_another_graph_than_it_runs_does_not_fit) {
  const Module module = Module::of<Flow>("test/code@1");
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = load({&module, 1}, &builtin);
  const Machines machines({&module, 1});
  defs::WorkflowDef workflow = *bundle.catalogue.get<defs::WorkflowDef>("test/Flow@1");
  workflow.graph->back() ^= 1U;
  EXPECT_EQ(machines.objection(workflow, bundle.catalogue),
            "the graph in its definition is not that of its steps");
  workflow.graph.reset();
  EXPECT_EQ(machines.objection(workflow, bundle.catalogue), std::nullopt) << "the code has it";
}

TEST(Flow, definitions_of_earlier_programs_go_on_by_the_rules_of_their_time) {
  const Module module = Module::of<Flow>("test/code@1");
  const detail::Flow& flow = module.flows().at(0);
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = load({&module, 1}, &builtin);
  const Machines machines({&module, 1});
  const defs::ModuleDef code{"test/code.steps@1", defs::Runtime::kSteps, {}};
  const auto keeps_early = [](const kernel::Machine* machine) {
    return static_cast<const steps::StepsMachine*>(machine)->graph().has(steps::Rules::kKeepsEarly);
  };
  defs::WorkflowDef workflow = *bundle.catalogue.get<defs::WorkflowDef>("test/Flow@1");
  EXPECT_TRUE(keeps_early(machines.make(code, workflow, bundle.catalogue).get()));
  workflow.impl.entrypoint = entrypoint_of(flow, Rules::kFirst);
  EXPECT_EQ(machines.make(code, workflow, bundle.catalogue), nullptr) << "it names another graph";
  workflow.graph = graph_bytes(flow, Rules::kFirst);
  EXPECT_EQ(machines.objection(workflow, bundle.catalogue), std::nullopt);
  EXPECT_FALSE(keeps_early(machines.make(code, workflow, bundle.catalogue).get()));
  workflow.graph.reset();  // there was a time when definitions had none
  EXPECT_EQ(machines.objection(workflow, bundle.catalogue), std::nullopt);
  EXPECT_EQ(machines.make(code, workflow, bundle.catalogue), nullptr);
  EXPECT_FALSE(keeps_early(machines.find(code, workflow.impl.entrypoint)));

  workflow.impl.entrypoint = entrypoint_of(flow, Rules::kKeepsEarly);
  workflow.graph = graph_bytes(flow, Rules::kKeepsEarly);
  workflow.annotations = defs::kStepEntry1;
  EXPECT_EQ(machines.objection(workflow, bundle.catalogue), std::nullopt);
  const auto second = machines.make(code, workflow, bundle.catalogue);
  EXPECT_TRUE(keeps_early(second.get()));
  EXPECT_EQ(static_cast<const steps::StepsMachine*>(second.get())->graph().rules(),
            Rules::kKeepsEarly);
}

TEST(Flow, its_machine_is_made_of_the_definition_whatever_the_code_is) {
  const Module module = Module::of<Flow>("test/code@1");
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = load({&module, 1}, &builtin);
  const auto* workflow = bundle.catalogue.get<defs::WorkflowDef>("test/Flow@1");
  const defs::ModuleDef code{"test/code.steps@1", defs::Runtime::kSteps, {}};
  const Machines none({});
  const auto made = none.make(code, *workflow, bundle.catalogue);
  ASSERT_NE(made, nullptr);
  const auto& graph = static_cast<const steps::StepsMachine&>(*made).graph();
  EXPECT_EQ(graph.digest(), graph_of(module.flows().at(0)).digest());
  // What values must be is in the catalogue, as it is for the code.
  codec::Normaliser normaliser;
  const auto number = normaliser.part_from_json(codec::Schema::any(), "7");
  ASSERT_TRUE(number);
  EXPECT_FALSE(normaliser.part_from_cbor(graph.type(*graph.type_named("test/Request@1")).form,
                                         base::Bytes(number->begin(), number->end())));
  EXPECT_EQ(none.objection(*workflow, bundle.catalogue), "there is none for its steps");
  EXPECT_EQ(none.make({"test/code@1", defs::Runtime::kNative, {}}, *workflow, bundle.catalogue),
            nullptr);
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
}  // namespace holdfast::native::flow_test
