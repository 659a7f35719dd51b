// SPDX-License-Identifier: Apache-2.0
#include "native/bundle.h"

#include "native/flow_graph.h"

namespace holdfast::native {

defs::Bundle load(std::span<const Module> modules, const defs::Catalogue* below) {
  defs::Bundle bundle = defs::load({{"native", definitions_of(modules)}}, below);
  for (const Module& module : modules) {
    for (const detail::Flow& flow : module.flows()) check_flow(flow, bundle.errors);
  }
  return bundle;
}

}  // namespace holdfast::native
