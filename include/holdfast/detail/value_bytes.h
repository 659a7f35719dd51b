// SPDX-License-Identifier: Apache-2.0
// Values and keys as bytes: canonical, without the self-describe tag, as an engine and runs in
// memory take them where there are no types any more.
#pragma once

#include <type_traits>

#include "holdfast/detail/record.h"
#include "holdfast/step.h"
#include "holdfast/types.h"

namespace holdfast::detail {

// The key of a workflow that has none.
struct NoKey {};

template <class T>
Bytes bytes_of_value(const T& value) {
  return encoded([&](Writer& out) { Form<T>::write(out, value); });
}

// Empty: there is none.
template <class Key>
Bytes bytes_of_key(const Key& key) {
  if constexpr (std::is_same_v<Key, NoKey>) {
    return {};
  } else {
    return bytes_of_value(key);
  }
}

}  // namespace holdfast::detail
