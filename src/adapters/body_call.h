// SPDX-License-Identifier: Apache-2.0
// The call of a body: params in, what it did out.
#pragma once

#include <optional>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "holdfast/handler.h"

namespace holdfast::adapters {

// What the body did, as bytes in `receipt`, or why nobody knows.
std::optional<EffectError> perform(const detail::RawHandler& body, const Call& call,
                                   base::ByteView params, codec::Buffer& receipt);

// The `results` of a sys/StepRan@1.
base::ByteView results_of(base::ByteView receipt);

}  // namespace holdfast::adapters
