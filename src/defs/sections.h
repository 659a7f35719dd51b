// SPDX-License-Identifier: Apache-2.0
// The lists of a manifest, one for each kind of definition.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "defs/definition.h"

namespace holdfast::defs {

struct Section {
  std::string_view field;
  std::string_view kind;
  std::vector<NamedRef> Manifest::*refs;
};

inline constexpr std::array<Section, 5> kSections{{
    {"schemas", "defschema", &Manifest::schemas},
    {"modules", "defmodule", &Manifest::modules},
    {"workflows", "defworkflow", &Manifest::workflows},
    {"effects", "defeffect", &Manifest::effects},
    {"secrets", "defsecret", &Manifest::secrets},
}};

// Null: no definitions of that kind are listed.
inline const Section* section_of(std::string_view kind) noexcept {
  const auto* const found = std::find_if(kSections.begin(), kSections.end(),
                                         [&](const Section& s) { return s.kind == kind; });
  return found == kSections.end() ? nullptr : found;
}

// Where a name is, or would be, in a list; the lists are sorted by name.
template <class Refs>
auto place_of(Refs& refs, std::string_view name) {
  return std::lower_bound(
      refs.begin(), refs.end(), name,
      [](const NamedRef& ref, std::string_view wanted) { return ref.name.compare(wanted) < 0; });
}

template <class Refs>
bool lists(const Refs& refs, std::string_view name) {
  const auto at = place_of(refs, name);
  return at != refs.end() && at->name == name;
}

}  // namespace holdfast::defs
