// SPDX-License-Identifier: Apache-2.0
// For tests, fuzz targets and benchmarks: base64 as a text of its own.
#pragma once

#include <string>

#include "base/base64.h"

namespace holdfast::base::testing {

inline std::string to_base64(ByteView bytes) {
  std::string text;
  base64_encode_append(bytes, text);
  return text;
}

}  // namespace holdfast::base::testing
