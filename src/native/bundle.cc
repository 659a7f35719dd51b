// SPDX-License-Identifier: Apache-2.0
#include "native/bundle.h"

namespace holdfast::native {

defs::Bundle load(std::span<const Module> modules, const defs::Catalogue* below) {
  return defs::load({{"native", definitions_of(modules)}}, below);
}

}  // namespace holdfast::native
