// SPDX-License-Identifier: Apache-2.0
// What a seal is of. A node answers for its records, and with them for the receipts of its own
// executors, by one signature over many: over their hashes and the seal before, so that none can be
// left out, changed or put elsewhere without breaking every seal behind it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "executors/signing_key.h"
#include "store/seals.h"
#include "store/world_file.h"

namespace holdfast::node {

// The records of one seal, one by one.
class SealDraft {
 public:
  // `before`: the hash of the seal that ends with the record before; of zeros: there is none.
  SealDraft(const base::Hash& before, store::RecordNumber first) : before_(before), first_(first) {}

  void add(base::ByteView record);
  std::size_t records() const noexcept { return hashes_.size() / sizeof(base::Hash); }

  // SHA-256 of the canonical list of a fixed word, the seal before, the number of the first record,
  // and the hashes of all, one behind the other.
  base::Hash hash() const;
  // In this life of the world; 0: the first.
  store::Seal sign(const executors::SigningKey& key, const store::JournalId& world,
                   std::uint32_t life = 0) const;

 private:
  base::Hash before_;
  store::RecordNumber first_;
  base::Bytes hashes_;
};

// Whether the key that it names has signed it, for this world and in one of its lives that the seal
// may be of: one that went on after the records of the seal. Its records need not be there.
bool is_signed(const store::Seal& seal, const store::JournalId& world,
               const std::vector<store::Restored>& restored = {});

}  // namespace holdfast::node
