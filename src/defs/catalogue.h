// SPDX-License-Identifier: Apache-2.0
// Catalogue: definitions by name, with their hashes. A catalogue may stand on another one (the
// system's own definitions, a shared library of schemas), which must outlive it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/schema.h"
#include "defs/definition.h"

namespace holdfast::defs {

struct Entry {
  Definition definition;
  base::Bytes canonical;
  base::Hash hash;
  std::string place;  // the file and path where it was read, for messages
};

Entry make_entry(Definition definition, std::string place);

class Catalogue : public codec::TypeSource {
 public:
  using Entries = std::map<std::string, Entry, std::less<>>;

  explicit Catalogue(const Catalogue* below = nullptr) : below_(below) {}

  // The entry that has the name already, if there is one; the new one is then not added.
  const Entry* add(Entry entry);

  // Here, then below.
  const Entry* find_entry(std::string_view name) const;

  // The definition of that name if it is a T.
  template <class T>
  const T* get(std::string_view name) const {
    const Entry* entry = find_entry(name);
    return entry == nullptr ? nullptr : std::get_if<T>(&entry->definition);
  }

  // The type of a schema.
  const codec::Type* find(std::string_view name) const override;

  // A type behind all references; null where one leads nowhere, or in a circle.
  const codec::Type* behind(const codec::Type* type) const;

  // The definitions here, without those below, by name.
  const Entries& entries() const noexcept { return entries_; }

 private:
  const Catalogue* below_;
  Entries entries_;
};

}  // namespace holdfast::defs
