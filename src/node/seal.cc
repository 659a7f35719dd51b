// SPDX-License-Identifier: Apache-2.0
#include "node/seal.h"

#include "base/sha256.h"
#include "codec/cbor_writer.h"

namespace holdfast::node {

void SealDraft::add(base::ByteView record) {
  const base::Hash hash = base::sha256(record);
  hashes_.insert(hashes_.end(), hash.bytes.begin(), hash.bytes.end());
}

base::Hash SealDraft::hash() const {
  codec::Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, 4);
  codec::write_text(out, "holdfast.seal.1");
  codec::write_bytes(out, before_.bytes);
  codec::write_nat(out, first_);
  codec::write_bytes(out, hashes_);
  return base::sha256(out.view());
}

store::Seal SealDraft::sign(const executors::SigningKey& key) const {
  const base::Hash sealed = hash();
  return {.first = first_,
          .last = first_ + records() - 1,
          .hash = sealed,
          .key = key.public_key(),
          .signature = key.sign(sealed.bytes)};
}

bool is_signed(const store::Seal& seal) {
  return base::ed25519_verify(seal.key, seal.hash.bytes, seal.signature);
}

}  // namespace holdfast::node
