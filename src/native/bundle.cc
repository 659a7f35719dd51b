// SPDX-License-Identifier: Apache-2.0
#include "native/bundle.h"

#include "native/flow_graph.h"

namespace holdfast::native {
namespace {

// What a workflow runs must be there, too.
void check_children(const std::string& workflow, const std::vector<std::string>& children,
                    defs::Bundle& bundle) {
  for (const std::string& child : children) {
    if (bundle.catalogue.get<defs::WorkflowDef>(child) == nullptr)
      bundle.errors.push_back(
          base::invalid(workflow, "its child '" + child + "' is in none of the modules"));
  }
}

}  // namespace

defs::Bundle load_without_children(std::span<const Module> modules, const defs::Catalogue* below) {
  defs::Bundle bundle = defs::load({{"native", definitions_of(modules)}}, below);
  for (const Module& module : modules) {
    for (const detail::Flow& flow : module.flows()) check_flow(flow, bundle.errors);
  }
  return bundle;
}

defs::Bundle load(std::span<const Module> modules, const defs::Catalogue* below) {
  defs::Bundle bundle = load_without_children(modules, below);
  for (const Module& module : modules) {
    for (const detail::Flow& flow : module.flows())
      check_children(flow.workflow, flow.children, bundle);
    for (const Module::Code& code : module.code())
      check_children(code.workflow, code.children, bundle);
  }
  return bundle;
}

}  // namespace holdfast::native
