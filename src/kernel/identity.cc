// SPDX-License-Identifier: Apache-2.0
#include "kernel/identity.h"

#include "base/sha256.h"
#include "codec/cbor_writer.h"

// The keys of each map below stand in canonical order: shorter first, then bytewise. A test holds
// the maps against the normaliser.
namespace holdfast::kernel {
namespace {

void begin(codec::Buffer& out, std::uint64_t fields) {
  out.clear();
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_map_head(out, fields);
}

void field(codec::Buffer& out, std::string_view name, std::string_view text) {
  codec::write_text(out, name);
  codec::write_text(out, text);
}

void field(codec::Buffer& out, std::string_view name, base::ByteView bytes) {
  codec::write_text(out, name);
  codec::write_bytes(out, bytes);
}

void field(codec::Buffer& out, std::string_view name, std::uint64_t nat) {
  codec::write_text(out, name);
  codec::write_nat(out, nat);
}

}  // namespace

base::Hash site_hash(std::string_view workflow, const base::Hash& workflow_hash,
                     std::string_view effect, const base::Hash& effect_hash,
                     const defs::Executor& executor) {
  codec::Buffer out;
  begin(out, 6);
  field(out, "queue", executor.queue);
  field(out, "effect", effect);
  field(out, "executor", executor.kind);
  field(out, "workflow", workflow);
  field(out, "effect_hash", effect_hash.bytes);
  field(out, "workflow_hash", workflow_hash.bytes);
  return base::sha256(out.view());
}

// Short, because every 64 bytes are one more round of the hash.
base::Hash intent_hash(const Emission& emission, codec::Buffer& scratch) {
  begin(scratch, emission.requested_key.empty() ? 4 : 5);
  codec::write_text(scratch, "at");
  codec::write_list_head(scratch, 3);
  codec::write_nat(scratch, emission.record);
  codec::write_nat(scratch, emission.delivery);
  codec::write_nat(scratch, emission.index);
  field(scratch, "key", emission.key);
  field(scratch, "site", emission.site.bytes);
  field(scratch, "params", emission.params);
  if (!emission.requested_key.empty()) field(scratch, "request", emission.requested_key);
  return base::sha256(scratch.view());
}

base::Hash delivery_entropy(base::ByteView tick_entropy, std::uint64_t delivery,
                            codec::Buffer& scratch) {
  begin(scratch, 2);
  field(scratch, "tick", tick_entropy);
  field(scratch, "delivery", delivery);
  return base::sha256(scratch.view());
}

base::Hash value_hash(base::ByteView value, codec::Buffer& scratch) {
  scratch.clear();
  scratch.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  scratch.append(value);
  return base::sha256(scratch.view());
}

}  // namespace holdfast::kernel
