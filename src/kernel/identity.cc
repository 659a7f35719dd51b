// SPDX-License-Identifier: Apache-2.0
#include "kernel/identity.h"

#include <algorithm>

#include "base/check.h"
#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "codec/pen.h"

// The keys of each map below stand in canonical order: shorter first, then bytewise. A test holds
// the maps against the normaliser.
namespace holdfast::kernel {
namespace {

// The fields of an intent's map. Numbers and not names, because every 64 bytes more of it are one
// more round of the hash.
enum IntentField : std::uint64_t { kSite, kPlace, kParams, kKey };

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

// An intent's map without the site's part.
void write_intent(codec::Buffer& buffer, const Emission& emission) {
  codec::Pen out(buffer);
  codec::write_nat(out, kPlace);
  codec::write_list_head(out, emission.requested_key.empty() ? 3 : 4);
  codec::write_nat(out, emission.record);
  codec::write_nat(out, emission.delivery);
  codec::write_nat(out, emission.index);
  if (!emission.requested_key.empty()) codec::write_text(out, emission.requested_key);
  codec::write_nat(out, kParams);
  out.append(emission.params);
  codec::write_nat(out, kKey);
  if (emission.key.empty()) {
    codec::write_null(out);
  } else {
    out.append(emission.key);
  }
}

}  // namespace

base::Hash site_hash(base::ByteView world, std::string_view workflow,
                     const base::Hash& workflow_hash, std::string_view effect,
                     const base::Hash& effect_hash, const defs::Executor& executor) {
  codec::Buffer out;
  begin(out, 7);
  field(out, "queue", executor.queue);
  field(out, "world", world);
  field(out, "effect", effect);
  field(out, "executor", executor.kind);
  field(out, "workflow", workflow);
  field(out, "effect_hash", effect_hash.bytes);
  field(out, "workflow_hash", workflow_hash.bytes);
  return base::sha256(out.view());
}

Site::Site(const base::Hash& site) : hashed_(bytes_of(site)) {}

std::array<std::uint8_t, Site::kBlock> Site::bytes_of(const base::Hash& site) {
  codec::Buffer out;
  begin(out, 4);
  codec::write_nat(out, kSite);
  const std::size_t padded = kBlock - out.size() - codec::head_size(kBlock / 2);
  codec::write_head(out, codec::Major::kBytes, padded);
  out.append(site.bytes);
  while (out.size() < kBlock) out.push(0);
  CHECK(out.size() == kBlock);
  std::array<std::uint8_t, kBlock> bytes;
  std::copy(out.view().begin(), out.view().end(), bytes.begin());
  return bytes;
}

base::Hash intent_hash(const Emission& emission, codec::Buffer& scratch) {
  scratch.clear();
  write_intent(scratch, emission);
  return emission.site->hashed().finish(scratch.view());
}

void intent_hashes(const Emission& a, base::Hash& of_a, const Emission& b, base::Hash& of_b,
                   codec::Buffer& scratch) {
  scratch.clear();
  write_intent(scratch, a);
  const std::size_t end_of_a = scratch.size();
  write_intent(scratch, b);
  base::Sha256Prefix::finish_both(a.site->hashed(), scratch.view(0, end_of_a), of_a,
                                  b.site->hashed(), scratch.view(end_of_a, scratch.size()), of_b);
}

base::Hash delivery_entropy(base::ByteView tick_entropy, std::uint64_t delivery,
                            codec::Buffer& scratch) {
  begin(scratch, 2);
  field(scratch, "tick", tick_entropy);
  field(scratch, "delivery", delivery);
  return base::sha256(scratch.view());
}

base::Hash value_hash(base::ByteView value) { return base::sha256(codec::kSelfDescribe, value); }

}  // namespace holdfast::kernel
