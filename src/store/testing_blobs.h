// SPDX-License-Identifier: Apache-2.0
// Worlds with blobs, for the tests of the blob store. For tests only.
#pragma once

#include "store/blob_store.h"
#include "store/testing.h"

namespace holdfast::store::testing {

struct OpenBlobs {
  WorldFolder folder;
  std::unique_ptr<BlobStore> blobs;
};

inline base::Result<std::unique_ptr<OpenBlobs>> open_blobs(env::Disk& disk, env::Random& random,
                                                           const std::string& path) {
  const auto process = env::posix_process();
  auto open = std::make_unique<OpenBlobs>(
      OpenBlobs{TRY(WorldFolder::open(disk, random, *process, path)), nullptr});
  open->blobs = TRY(BlobStore::open(open->folder));
  return open;
}

inline base::Bytes blob_bytes(std::size_t number) {
  const std::string text = record_text(number, number * 37 % 3000);
  return {text.begin(), text.end()};
}

}  // namespace holdfast::store::testing
