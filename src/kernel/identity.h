// SPDX-License-Identifier: Apache-2.0
// Who an intent is. Two hashes over canonical maps: the site says which workflow asks whom for
// which effect, each by name and definition, and is known ahead of time; the intent adds which
// instance, where in the journal, and what is asked. So equal effects of two instances, of two
// steps or within one step never share an identity, and replay gives the same one.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/buffer.h"
#include "defs/definition.h"

namespace holdfast::kernel {

base::Hash site_hash(std::string_view workflow, const base::Hash& workflow_hash,
                     std::string_view effect, const base::Hash& effect_hash,
                     const defs::Executor& executor);

// One effect of one step.
struct Emission {
  base::Hash site;
  base::ByteView key;  // of the instance, canonical
  std::uint64_t record = 0;
  std::uint64_t delivery = 0;  // which of the tick
  std::uint64_t index = 0;     // which effect of the step
  base::ByteView params;
  std::string_view requested_key;  // empty: none
};

// `scratch` is overwritten, here and below.
base::Hash intent_hash(const Emission& emission, codec::Buffer& scratch);

// Bytes that belong to one delivery of one tick and to nothing else.
base::Hash delivery_entropy(base::ByteView tick_entropy, std::uint64_t delivery,
                            codec::Buffer& scratch);

// The hash of a value as one that stands alone; it is given without the self-describe tag.
base::Hash value_hash(base::ByteView value, codec::Buffer& scratch);

}  // namespace holdfast::kernel
