// SPDX-License-Identifier: Apache-2.0
// The workflows of a world, and the types of what they take.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codec/view.h"
#include "gateway/documents.h"
#include "gateway/step_documents.h"

namespace holdfast::gateway {
namespace {

using codec::View;

std::string_view kind_of(const defs::ModuleDef* module) {
  if (module == nullptr) return "native";
  switch (module->runtime) {
    case defs::Runtime::kNative: return "native";
    case defs::Runtime::kWasm: return "wasm";
    case defs::Runtime::kSteps: return "steps";
    case defs::Runtime::kGraph: return "graph";
    case defs::Runtime::kBuiltin: break;
  }
  return "builtin";
}

void put_text_or_null(codec::Buffer& out, std::string_view name,
                      const std::optional<std::string>& text) {
  if (text) return put(out, name, *text);
  codec::write_text(out, name);
  codec::write_null(out);
}

// Whether an event may begin an instance: of steps only the one that is for it, of others any.
bool starts(const steps::Graph* graph, const std::string& event) {
  if (graph == nullptr) return true;
  const auto type = graph->type_named(event);
  return type && graph->type(*type).role == steps::Role::kStart;
}

// Types as definitions have them, with all that they refer to.
class Types {
 public:
  explicit Types(const Definitions& definitions) {
    if (definitions.closure().empty()) return;
    for (const View definition : View::of(definitions.closure()).elements()) {
      const auto name = definition.find("name");
      const auto type = definition.find("type");
      if (name && type) known_.emplace(name->text().value_or(""), *type);
    }
  }

  // Those of the system are known to everybody, and not in the world's definitions.
  void add(const std::string& name) {
    std::vector<std::string> left{name};
    while (!left.empty()) {
      const std::string next = left.back();
      left.pop_back();
      const auto found = known_.find(next);
      if (found == known_.end() || !wanted_.insert(next).second) continue;
      find_references(found->second, left);
    }
  }

  void write(codec::Buffer& out) const {
    codec::write_map_head(out, wanted_.size());
    for (const std::string& name : wanted_) {
      codec::write_text(out, name);
      out.append(known_.find(name)->second.encoded());
    }
  }

 private:
  // As deep as a type may be, which was checked when it was defined.
  static void find_references(View type, std::vector<std::string>& names) {
    std::vector<View> left{type};
    while (!left.empty()) {
      const View next = left.back();
      left.pop_back();
      if (const auto reference = next.find("ref"); reference && reference->text())
        names.emplace_back(*reference->text());
      for (const auto& [key, value] : next.entries()) left.push_back(value);
      for (const View value : next.elements()) left.push_back(value);
    }
  }

  std::map<std::string, View, std::less<>> known_;
  std::set<std::string> wanted_;
};

}  // namespace

void put_workflows(codec::Buffer& out, Definitions& definitions) {
  const defs::Manifest* manifest = definitions.manifest();
  std::vector<const defs::WorkflowDef*> workflows;
  if (manifest != nullptr) {
    for (const defs::NamedRef& named : manifest->workflows) {
      if (const auto* workflow = definitions.workflow(named.name)) workflows.push_back(workflow);
    }
  }
  Types types(definitions);
  codec::write_map_head(out, 2);
  codec::write_text(out, "workflows");
  codec::write_list_head(out, workflows.size());
  for (const defs::WorkflowDef* workflow : workflows) {
    const steps::Graph* graph = definitions.graph_of(workflow->name);
    codec::write_map_head(out, 7);
    put(out, "workflow", workflow->name);
    put(out, "kind", kind_of(definitions.module(workflow->impl.module)));
    put_text_or_null(out, "key", workflow->key_schema);
    put(out, "state", workflow->state);
    put_text_or_null(out, "stream", workflow->annotations);
    put_flag(out, "graph", graph != nullptr);
    if (workflow->key_schema) types.add(*workflow->key_schema);
    types.add(workflow->state);
    if (workflow->annotations) types.add(*workflow->annotations);
    std::vector<const defs::Subscription*> events;
    for (const defs::Subscription& subscription : manifest->subscriptions)
      if (subscription.workflow == workflow->name) events.push_back(&subscription);
    codec::write_text(out, "events");
    codec::write_list_head(out, events.size());
    for (const defs::Subscription* event : events) {
      codec::write_map_head(out, event->key_field ? 3 : 2);
      put(out, "schema", event->event);
      if (event->key_field) put(out, "key_field", *event->key_field);
      put_flag(out, "starts", starts(graph, event->event));
      types.add(event->event);
    }
  }
  codec::write_text(out, "schemas");
  types.write(out);
}

}  // namespace holdfast::gateway
