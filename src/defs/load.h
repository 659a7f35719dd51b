// SPDX-License-Identifier: Apache-2.0
// Loads a bundle: documents of definitions in, a checked catalogue and manifest out, with every
// error that was found. Pure: reading files and YAML is bundle/'s business.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "defs/catalogue.h"

namespace holdfast::defs {

// How many definitions one bundle may have.
inline constexpr std::size_t kMaxDefinitions = 10'000;

// One definition, or a list of definitions, as JSON.
struct Document {
  std::string file;  // what messages call it
  std::string json;
};

// Whether a bundle may define names under sys/.
enum class Reserved : std::uint8_t { kRefused, kAllowed };

struct Bundle {
  explicit Bundle(const Catalogue* below) : catalogue(below) {}

  Catalogue catalogue;
  std::optional<Entry> manifest;  // its hashes are filled in
  codec::Errors errors;
};

// Definitions may use what `below` holds. With errors, the rest holds what could be read.
Bundle load(const std::vector<Document>& documents, const Catalogue* below,
            Reserved reserved = Reserved::kRefused);

// The same from a value: one definition, or a list of them.
Bundle load(codec::View definitions, const std::string& place, const Catalogue* below);

// The manifest of a bundle without errors and everything it lists, as one canonical list: what a
// world keeps of it. Equal manifests give equal bytes; loading them gives the same manifest. What
// the bundle has beyond its manifest is left out. Fails if there is no manifest, or the list is
// larger than a value may be.
base::Result<base::Bytes> closure_of(const Bundle& bundle);

}  // namespace holdfast::defs
