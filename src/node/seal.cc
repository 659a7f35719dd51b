// SPDX-License-Identifier: Apache-2.0
#include "node/seal.h"

#include "base/sha256.h"
#include "codec/cbor_writer.h"

namespace holdfast::node {
namespace {

void begin_list(codec::Buffer& out, std::string_view word, std::size_t parts) {
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, parts);
  codec::write_text(out, word);
}

// What is signed.
base::Bytes message_of(const store::Seal& seal, const store::JournalId& world) {
  codec::Buffer out;
  begin_list(out, "holdfast.sealed.1", 5);
  codec::write_bytes(out, world);
  codec::write_nat(out, seal.first);
  codec::write_nat(out, seal.last);
  codec::write_bytes(out, seal.hash.bytes);
  const base::ByteView bytes = out.view();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

void SealDraft::add(base::ByteView record) {
  const base::Hash hash = base::sha256(record);
  hashes_.insert(hashes_.end(), hash.bytes.begin(), hash.bytes.end());
}

base::Hash SealDraft::hash() const {
  codec::Buffer out;
  begin_list(out, "holdfast.seal.1", 4);
  codec::write_bytes(out, before_.bytes);
  codec::write_nat(out, first_);
  codec::write_bytes(out, hashes_);
  return base::sha256(out.view());
}

store::Seal SealDraft::sign(const executors::SigningKey& key, const store::JournalId& world) const {
  store::Seal seal{.first = first_,
                   .last = first_ + records() - 1,
                   .hash = hash(),
                   .key = key.public_key(),
                   .signature = {}};
  seal.signature = key.sign(message_of(seal, world));
  return seal;
}

bool is_signed(const store::Seal& seal, const store::JournalId& world) {
  return base::ed25519_verify(seal.key, message_of(seal, world), seal.signature);
}

}  // namespace holdfast::node
