// SPDX-License-Identifier: Apache-2.0
// Who an intent is. Two hashes over canonical maps: the site says which workflow of which world
// asks whom for which effect, each by name and definition; the intent adds which instance, where in
// the journal, and what is asked. So equal effects of two worlds, of two instances, of two steps or
// within one step never share an identity, and replay gives the same one. Format:
// docs/formats/record.md.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/sha256.h"
#include "codec/buffer.h"
#include "defs/definition.h"

namespace holdfast::kernel {

base::Hash site_hash(base::ByteView world, std::string_view workflow,
                     const base::Hash& workflow_hash, std::string_view effect,
                     const base::Hash& effect_hash, const defs::Executor& executor);

// The part of an intent's map that is the same for all intents of a site. It fills the first block
// of the hash, which is therefore computed once for a manifest and not once for an effect.
class Site {
 public:
  static constexpr std::size_t kBlock = 64;

  explicit Site(const base::Hash& site);

  const base::Sha256Prefix& hashed() const noexcept { return hashed_; }

  // That part of the map.
  static std::array<std::uint8_t, kBlock> bytes_of(const base::Hash& site);

 private:
  base::Sha256Prefix hashed_;
};

// One effect of one step.
struct Emission {
  const Site* site = nullptr;
  base::ByteView key;  // of the instance, canonical; empty: none
  std::uint64_t record = 0;
  std::uint64_t delivery = 0;      // which of the tick
  std::uint64_t index = 0;         // which effect of the step
  base::ByteView params;           // canonical
  std::string_view requested_key;  // empty: none
};

// `scratch` is overwritten, here and below; it then holds the map without the site's part.
base::Hash intent_hash(const Emission& emission, codec::Buffer& scratch);

// The same for two, which can cost less than one after the other.
void intent_hashes(const Emission& a, base::Hash& of_a, const Emission& b, base::Hash& of_b,
                   codec::Buffer& scratch);

// Bytes that belong to one delivery of one tick and to nothing else.
base::Hash delivery_entropy(base::ByteView tick_entropy, std::uint64_t delivery,
                            codec::Buffer& scratch);

// The hash of a value as one that stands alone; it is given without the self-describe tag.
base::Hash value_hash(base::ByteView value);

}  // namespace holdfast::kernel
