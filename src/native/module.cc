// SPDX-License-Identifier: Apache-2.0
#include "holdfast/module.h"

#include <algorithm>

#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/view.h"
#include "defs/system_names.h"
#include "native/flow_graph.h"
#include "steps/machine.h"

namespace holdfast {
namespace {

std::string quoted(std::string_view text) {
  codec::Buffer buffer;
  codec::write_text(buffer, text);
  return codec::to_json(codec::View::of(buffer.view()));
}

std::string field(std::string_view name, std::string_view text) {
  return "," + quoted(name) + ":" + quoted(text);
}

std::string join(const std::vector<std::string>& items) {
  std::string joined;
  for (const std::string& item : items) {
    if (!joined.empty()) joined += ",";
    joined += item;
  }
  return joined;
}

// shop/charge@1 and Params: shop/charge.Params@1.
std::string part_name(std::string_view owner, std::string_view part) {
  const std::size_t at = std::min(owner.rfind('@'), owner.size());
  return std::string(owner.substr(0, at)) + "." + std::string(part) + std::string(owner.substr(at));
}

// The short names of the schemas; the whole name where two would share one, such as two versions.
std::string event_type(const std::vector<std::string_view>& arms) {
  std::vector<std::string> members;
  for (const std::string_view schema : arms) {
    const std::string_view name = detail::short_name(schema);
    const auto same = std::count_if(arms.begin(), arms.end(), [&](std::string_view other) {
      return detail::short_name(other) == name;
    });
    members.push_back(quoted(same == 1 ? name : schema) + R"(:{"ref":)" + quoted(schema) + "}");
  }
  return R"({"variant":{)" + join(members) + "}}";
}

// What all modules have of one kind, and the manifest's list of it.
struct Section {
  std::set<std::string> definitions;
  std::set<std::string> names;

  void add(const std::string& name, std::string definition) {
    names.insert(name);
    definitions.insert(std::move(definition));
  }
  std::string listed() const {
    std::vector<std::string> refs;
    for (const std::string& name : names) refs.push_back(R"({"name":)" + quoted(name) + "}");
    return "[" + join(refs) + "]";
  }
};

std::string route_json(const Module::Route& route) {
  return R"({"event":)" + quoted(route.event) + field("workflow", route.workflow) +
         (route.key_field.empty() ? "" : field("key_field", route.key_field)) + "}";
}

std::string module_json(std::string_view name, std::string_view runtime) {
  return R"({"$kind":"defmodule")" + field("name", name) + R"(,"runtime":{"kind":)" +
         quoted(runtime) + "}}";
}

}  // namespace

std::string Module::name_of_flows() const { return part_name(name_, "steps"); }

std::string Module::add_schema(std::string_view owner, std::string_view part, std::string type) {
  std::string name = part_name(owner, part);
  schemas_.all.emplace(name, std::move(type));
  return name;
}

void Module::add_effect(std::string_view name, std::string params, std::string receipt,
                        Executor executor, std::optional<std::uint64_t> timeout_ns) {
  std::string json = R"({"$kind":"defeffect")" + field("name", name) + field("params", params) +
                     field("receipt", receipt) + R"(,"executor":{"kind":)" + quoted(executor.kind);
  if (!executor.queue.empty()) json += field("queue", executor.queue);
  json += "}";
  if (timeout_ns) json += R"(,"timeout_ns":)" + std::to_string(*timeout_ns);
  effects_.emplace(name, json + "}");
}

void Module::add_workflow(const WorkflowParts& parts) {
  std::vector<std::string> effects;
  for (const std::string_view effect : parts.effects) effects.push_back(quoted(effect));
  const std::string event = add_schema(parts.name, "Event", event_type(parts.arms));
  std::string json = R"({"$kind":"defworkflow")" + field("name", parts.name) +
                     field("state", parts.state) + field("event", event) +
                     R"(,"effects_emitted":[)" + join(effects) + R"(],"impl":{"module":)" +
                     quoted(parts.module) + field("entrypoint", parts.entrypoint) + "}";
  if (!parts.key.empty()) json += field("key_schema", parts.key);
  if (!parts.entry.empty()) json += field("annotations", parts.entry);
  if (!parts.graph.empty()) json += R"(,"graph":)" + parts.graph;
  if (!parts.context.empty()) json += field("context", parts.context);
  workflows_.emplace(parts.name, json + "}");
}

// The digest of the graph is part of the entry point, so that other steps are another definition.
void Module::add_flow(WorkflowParts& parts, detail::Flow flow) {
  std::vector<std::string> effects;
  for (const detail::Flow::Step& step : flow.steps) {
    const std::string& effect = effects.emplace_back(steps::effect_name(flow.workflow, step.name));
    add_effect(effect, std::string(defs::kStepRun), std::string(defs::kStepRan),
               worker(flow.workflow), step.timeout_ns);
  }
  parts.state = defs::kStepsState;
  parts.entry = defs::kStepEntry;
  for (const std::string& effect : effects) parts.effects.push_back(effect);
  parts.effects.push_back(defs::kTimerSet);
  if (!flow.children.empty())
    parts.effects.insert(parts.effects.end(), {defs::kWorkflowRun, defs::kWorkflowStop});
  parts.arms.insert(parts.arms.end(),
                    {detail::kReceiptEnvelope, detail::kReceiptRejected, detail::kStreamFrame});
  parts.module = name_of_flows();
  parts.entrypoint = native::entrypoint_of(flow);
  parts.graph = native::graph_json(flow);
  add_workflow(parts);
  flows_.push_back(std::move(flow));
}

std::string definitions_of(std::span<const Module> modules) {
  Section schemas;
  Section effects;
  Section codes;
  Section workflows;
  std::vector<std::string> routes;
  for (const Module& module : modules) {
    for (const auto& [name, type] : module.schemas())
      schemas.add(name,
                  R"({"$kind":"defschema")" + field("name", name) + R"(,"type":)" + type + "}");
    for (const auto& [name, json] : module.effects()) effects.add(name, json);
    for (const auto& [name, json] : module.workflows()) workflows.add(name, json);
    if (!module.code().empty() || module.flows().empty())
      codes.add(module.name(), module_json(module.name(), "native"));
    if (!module.flows().empty())
      codes.add(module.name_of_flows(), module_json(module.name_of_flows(), "steps"));
    for (const Module::Route& route : module.routes()) routes.push_back(route_json(route));
  }
  std::vector<std::string> all;
  for (const Section* section : {&schemas, &effects, &codes, &workflows})
    all.insert(all.end(), section->definitions.begin(), section->definitions.end());
  all.push_back(R"({"$kind":"manifest","air_version":"2","schemas":)" + schemas.listed() +
                R"(,"modules":)" + codes.listed() + R"(,"workflows":)" + workflows.listed() +
                R"(,"effects":)" + effects.listed() + R"(,"routing":{"subscriptions":[)" +
                join(routes) + "]}}");
  std::string document = "[";
  for (const std::string& definition : all) {
    if (document.size() > 1) document += ",\n ";
    document += definition;
  }
  return document + "]\n";
}

}  // namespace holdfast
