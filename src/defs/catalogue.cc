// SPDX-License-Identifier: Apache-2.0
#include "defs/catalogue.h"

#include <utility>

#include "base/sha256.h"

namespace holdfast::defs {

Entry make_entry(Definition definition, std::string place) {
  base::Bytes canonical = encode(definition);
  const base::Hash hash = base::sha256(canonical);
  return {std::move(definition), std::move(canonical), hash, std::move(place)};
}

const Entry* Catalogue::add(Entry entry) {
  std::string name(name_of(entry.definition));
  const auto [place, added] = entries_.try_emplace(std::move(name), std::move(entry));
  return added ? nullptr : &place->second;
}

const Entry* Catalogue::find_entry(std::string_view name) const {
  for (const Catalogue* layer = this; layer != nullptr; layer = layer->below_) {
    const auto found = layer->entries_.find(name);
    if (found != layer->entries_.end()) return &found->second;
  }
  return nullptr;
}

const codec::Type* Catalogue::find(std::string_view name) const {
  const auto* schema = get<SchemaDef>(name);
  return schema == nullptr ? nullptr : &schema->type;
}

const codec::Type* Catalogue::behind(const codec::Type* type) const {
  for (std::size_t steps = 0; type != nullptr && type->kind == codec::TypeKind::kRef; ++steps) {
    if (steps == codec::kMaxTypeDepth) return nullptr;
    type = find(type->ref);
  }
  return type;
}

}  // namespace holdfast::defs
