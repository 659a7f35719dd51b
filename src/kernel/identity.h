// SPDX-License-Identifier: Apache-2.0
// Who an intent is. Two hashes over canonical maps: one says which step of which instance it was,
// the other adds what that step asks of whom. So equal effects of two instances, of two steps or
// within one step never share an identity, and replay gives the same one. What is the same for
// every emission of a workflow is hashed once, ahead of time.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/buffer.h"
#include "defs/definition.h"

namespace holdfast::kernel {

// Binds a workflow, an effect that it emits and who performs it, each by name and definition.
base::Hash site_hash(std::string_view workflow, const base::Hash& workflow_hash,
                     std::string_view effect, const base::Hash& effect_hash,
                     const defs::Executor& executor);

// Which step: of which instance, where in the journal, which delivery of that tick. `scratch` is
// overwritten, here and below.
base::Hash step_hash(base::ByteView key, std::uint64_t record, std::uint64_t delivery,
                     codec::Buffer& scratch);

// Which effect of that step.
struct Emission {
  base::Hash step;
  base::Hash site;
  std::uint64_t index = 0;
  std::string_view requested_key;
  base::ByteView params;
};

base::Hash intent_hash(const Emission& emission, codec::Buffer& scratch);

// Bytes that belong to one delivery of one tick and to nothing else.
base::Hash delivery_entropy(base::ByteView tick_entropy, std::uint64_t delivery,
                            codec::Buffer& scratch);

// The hash of a value as one that stands alone; it is given without the self-describe tag.
base::Hash value_hash(base::ByteView value, codec::Buffer& scratch);

}  // namespace holdfast::kernel
