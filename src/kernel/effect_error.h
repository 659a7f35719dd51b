// SPDX-License-Identifier: Apache-2.0
// sys/EffectError@1: how whatever fails says why.
#pragma once

#include <string_view>

#include "codec/buffer.h"

namespace holdfast::kernel {

// One that trying again does not help, without details. Texts are cut and made UTF-8.
void write_effect_error(codec::Buffer& out, std::string_view code, std::string_view message);

}  // namespace holdfast::kernel
