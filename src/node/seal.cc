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

// What is signed. A life that began with a restore has its name in it: the records of two lives
// have the same numbers.
base::Bytes message_of(const store::Seal& seal, const store::JournalId& world, std::uint32_t life) {
  codec::Buffer out;
  begin_list(out, life == 0 ? "holdfast.sealed.1" : "holdfast.sealed.2", life == 0 ? 5 : 6);
  codec::write_bytes(out, world);
  codec::write_nat(out, seal.first);
  codec::write_nat(out, seal.last);
  codec::write_bytes(out, seal.hash.bytes);
  if (life != 0) codec::write_nat(out, life);
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

store::Seal SealDraft::sign(const executors::SigningKey& key, const store::JournalId& world,
                            std::uint32_t life) const {
  store::Seal seal{.first = first_,
                   .last = first_ + records() - 1,
                   .hash = hash(),
                   .key = key.public_key(),
                   .signature = {}};
  seal.signature = key.sign(message_of(seal, world, life));
  return seal;
}

bool is_signed(const store::Seal& seal, const store::JournalId& world,
               const std::vector<store::Restored>& restored) {
  const auto is_of = [&](std::uint32_t life) {
    return base::ed25519_verify(seal.key, message_of(seal, world, life), seal.signature);
  };
  // From the present life back, as long as the seal was there when the next one began.
  for (auto life = restored.rbegin(); life != restored.rend(); ++life) {
    if (is_of(life->life)) return true;
    if (seal.last > life->after) return false;
  }
  return is_of(0);
}

}  // namespace holdfast::node
