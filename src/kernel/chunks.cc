// SPDX-License-Identifier: Apache-2.0
#include "kernel/chunks.h"

#include "codec/cbor_writer.h"
#include "codec/normaliser.h"
#include "kernel/list_reader.h"

namespace holdfast::kernel {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;

base::Error damaged_part() {
  return {base::ErrorCode::kCorrupt, "a part of a snapshot is damaged"};
}

}  // namespace

base::Result<void> ChunkWriter::entry_done() {
  ++entry_count_;
  if (entries_.size() >= kChunkBytes) return put();
  return {};
}

base::Result<void> ChunkWriter::put() {
  codec::Buffer chunk;
  chunk.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(chunk, entry_count_);
  chunk.append(entries_.view());
  codec::write_bytes(hashes_, TRY(blobs_.put(chunk.view())).bytes);
  ++chunk_count_;
  entries_.clear();
  entry_count_ = 0;
  return {};
}

base::Result<void> ChunkWriter::finish(codec::Buffer& out) {
  if (entry_count_ != 0) TRY(put());
  codec::write_list_head(out, chunk_count_);
  out.append(hashes_.view());
  return {};
}

base::Result<std::vector<base::Hash>> chunk_hashes(codec::View chunks) {
  std::vector<base::Hash> hashes;
  ListReader list(chunks);
  while (list.good() && !list.at_end()) hashes.push_back(list.hash());
  if (!list.good()) return damaged_part();
  return hashes;
}

base::Result<void> visit_chunk(base::ByteView chunk,
                               const std::function<bool(codec::View)>& visitor) {
  codec::Normaliser normaliser;
  if (!normaliser.from_cbor(codec::Schema::item(), chunk, codec::Strictness::kStrict))
    return damaged_part();
  ListReader entries(codec::View::of(chunk));
  while (entries.good() && !entries.at_end()) {
    if (!visitor(entries.next())) return damaged_part();
  }
  if (!entries.good()) return damaged_part();
  return {};
}

base::Result<void> visit_chunks(const Blobs& blobs, codec::View chunks,
                                const std::function<bool(codec::View)>& visitor) {
  for (const base::Hash& hash : TRY(chunk_hashes(chunks)))
    TRY(visit_chunk(TRY(blobs.get(hash)), visitor));
  return {};
}

}  // namespace holdfast::kernel
