// SPDX-License-Identifier: Apache-2.0
// Blobs that workflows put, and collections of them. For tests only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "store/effect_gc.h"
#include "store/testing.h"

namespace holdfast::store::testing {

struct OpenEffects {
  WorldFolder folder;
  std::unique_ptr<BlobStore> blobs;
};

inline base::Result<std::unique_ptr<OpenEffects>> open_effects(env::Disk& disk,
                                                               env::Random& random) {
  const auto process = env::posix_process();
  auto open = std::make_unique<OpenEffects>(
      OpenEffects{TRY(WorldFolder::open(disk, random, *process, "./world")), nullptr});
  open->blobs = TRY(BlobStore::open(open->folder, kEffectBlobs));
  return open;
}

// As sys/blob.put@1 writes it.
inline base::Bytes edge_of(const base::Hash& blob, const std::vector<base::Hash>& refs) {
  codec::Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_map_head(out, 2);
  codec::write_text(out, "refs");
  codec::write_list_head(out, refs.size());
  for (const base::Hash& ref : refs) codec::write_text(out, ref.to_text());
  codec::write_text(out, "blob_ref");
  codec::write_text(out, blob.to_text());
  return out.to_bytes();
}

inline base::Result<void> keep_named(EffectGc& gc, std::string_view value) {
  EffectNames names(gc.sieve(), [&](std::span<const base::Hash> named) { return gc.keep(named); });
  TRY(names.look_at(base::as_bytes(value)));
  return names.flush();
}

// All of it; `roots` is everything that the world keeps.
inline base::Result<GcProgress> collect_effects(BlobStore& blobs, std::string_view roots,
                                                std::span<const base::Hash> pinned = {}) {
  const auto gc = TRY(EffectGc::begin(blobs, pinned));
  while (TRY(gc->learn())) continue;
  TRY(keep_named(*gc, roots));
  for (;;) {
    const GcProgress progress = TRY(gc->remove());
    if (progress.done) return progress;
  }
}

}  // namespace holdfast::store::testing
