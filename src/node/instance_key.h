// SPDX-License-Identifier: Apache-2.0
// An instance as the key of a map.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace holdfast::node {

// No name of a workflow has a zero in it.
inline std::string instance_key(std::string_view workflow, base::ByteView key) {
  std::string name(workflow);
  name += '\0';
  name += base::as_text(key);
  return name;
}

}  // namespace holdfast::node
