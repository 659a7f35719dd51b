// SPDX-License-Identifier: Apache-2.0
#include "store/blob_check.h"

#include <algorithm>

#include "base/sha256.h"
#include "store/world_database.h"

namespace holdfast::store {

base::Result<std::uint64_t> check_blobs(WorldFolder& world, base::Errors& errors) {
  constexpr const char* kFile = "blobs.db";
  const std::string path = world.path() + "/" + kFile;
  const std::vector<std::string> names = TRY(world.disk().list(world.path()));
  if (!std::ranges::binary_search(names, kFile)) return std::uint64_t{0};
  WorldDatabase opened = TRY(open_world_database(world, kFile, ""));
  auto whole = TRY(opened.database.prepare("PRAGMA integrity_check(1)"));
  if (TRY(whole.step()) && whole.text(0) != "ok") {
    errors.push_back(base::Error(base::ErrorCode::kCorrupt, path, std::string(whole.text(0))));
  }
  auto select = TRY(opened.database.prepare("SELECT hash, bytes FROM blobs"));
  std::uint64_t count = 0;
  while (TRY(select.step())) {
    ++count;
    if (base::equal(select.bytes(0), base::sha256(select.bytes(1)).bytes)) continue;
    errors.push_back(base::Error(base::ErrorCode::kCorrupt,
                                 path + ", blob number " + std::to_string(count),
                                 "is not what its hash says"));
  }
  return count;
}

}  // namespace holdfast::store
