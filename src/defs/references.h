// SPDX-License-Identifier: Apache-2.0
// What a definition refers to: every name in it, of which kind it must be, and where it stands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "defs/definition.h"

namespace holdfast::defs {

struct Reference {
  std::string_view kind;  // as kind_of() has it
  std::string name;
  std::string path;  // inside the definition: .type.record.x
};

std::vector<Reference> references_of(const Definition& definition);

// The message for a name that leads nowhere.
std::string missing(std::string_view kind, std::string_view name);

}  // namespace holdfast::defs
