// SPDX-License-Identifier: Apache-2.0
// Who an intent is. Two hashes over canonical maps: the derived key says which emission it was
// (workflow, effect, instance, place in the journal), the intent hash adds what is asked of whom.
// So equal effects of two instances or two steps never share an identity, and replay gives the
// same one. What is the same for every emission of a workflow is hashed once, ahead of time.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/buffer.h"
#include "defs/definition.h"

namespace holdfast::kernel {

// Binds a workflow and an effect it emits, each by name and definition.
base::Hash site_hash(std::string_view workflow, const base::Hash& workflow_hash,
                     std::string_view effect, const base::Hash& effect_hash);

// Binds an effect and who performs it.
base::Hash effect_identity(std::string_view effect, const base::Hash& effect_hash,
                           const defs::Executor& executor);

// Which emission: where in the journal, which delivery of that tick, which effect of that step.
struct Emission {
  base::Hash site;
  base::ByteView key;  // of the instance, canonical
  std::uint64_t record = 0;
  std::uint64_t delivery = 0;
  std::uint64_t index = 0;
  std::string_view requested_key;
};

// `scratch` is overwritten.
base::Hash intent_hash(const Emission& emission, const base::Hash& effect_identity,
                       base::ByteView params, codec::Buffer& scratch);

// Bytes that belong to one delivery of one tick and to nothing else.
base::Hash delivery_entropy(base::ByteView tick_entropy, std::uint64_t delivery,
                            codec::Buffer& scratch);

}  // namespace holdfast::kernel
