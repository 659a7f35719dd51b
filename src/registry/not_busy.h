// SPDX-License-Identifier: Apache-2.0
// What the machine refuses because it is full is not what somebody else has: in a registry
// kUnavailable means that somebody is busy and that trying again helps, and nothing else.
#pragma once

#include <utility>

#include "base/result.h"

namespace holdfast::registry {

template <class T>
base::Result<T> not_busy(base::Result<T> result) {
  if (result || result.error().code() != base::ErrorCode::kUnavailable) return result;
  return base::Error(base::ErrorCode::kIo, result.error().where(), result.error().message());
}

}  // namespace holdfast::registry
