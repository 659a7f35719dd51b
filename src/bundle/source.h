// SPDX-License-Identifier: Apache-2.0
// Reads the documents of a bundle from the file system: one file, or all *.json, *.yaml and *.yml
// files of a folder and the folders in it, in the order of their names. Entries whose names begin
// with a dot are passed over, and links to folders are not followed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/type.h"
#include "defs/load.h"

namespace holdfast::bundle {

inline constexpr std::size_t kMaxFiles = 10'000;
inline constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxBundleBytes = std::size_t{64} << 20;

// The text of a file as JSON, whichever of the two it is written in.
base::Result<std::string> read_as_json(const std::filesystem::path& file);

struct Sources {
  std::vector<defs::Document> documents;
  codec::Errors errors;
};

Sources read_sources(const std::filesystem::path& bundle);

// Reads and loads: everything that is wrong, with the files and with the definitions in them.
defs::Bundle load_bundle(const std::filesystem::path& bundle, const defs::Catalogue* below,
                         defs::Reserved reserved = defs::Reserved::kRefused);

}  // namespace holdfast::bundle
