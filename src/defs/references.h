// SPDX-License-Identifier: Apache-2.0
// What a definition refers to: every name in it, of which kind it must be, and where it stands.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "defs/catalogue.h"

namespace holdfast::defs {

// Views into the definition, except for the path, which is gone after the visit.
struct Reference {
  std::string_view kind;  // as kind_of() has it
  std::string_view name;
  std::string_view path;  // inside the definition: .type.record.x
};

void visit_references(const Definition& definition,
                      const std::function<void(const Reference&)>& visit);

// What is wrong with a name that should lead to a definition of that kind, or nothing.
std::optional<std::string> reference_problem(const Catalogue& catalogue, std::string_view kind,
                                             std::string_view name);

}  // namespace holdfast::defs
