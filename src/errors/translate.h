// SPDX-License-Identifier: Apache-2.0
// Errors on both sides of the public API: those of include/holdfast, for programs, and those of
// base, which the rest of the code speaks. The one place that says which is which: the codes are
// not the same ones, nor in the same order.
#pragma once

#include "base/error.h"
#include "holdfast/result.h"

namespace holdfast::errors {

ErrorCode outside(base::ErrorCode code) noexcept;

// kTimedOut has nothing of its own inside: it is kUnavailable there, where trying again helps.
base::ErrorCode inside(ErrorCode code) noexcept;

// With the place in front of the message. A file that the system does not find is kIo: kNotFound is
// for what a caller has named.
Error outside(const base::Error& error);

// The place stays part of the message.
base::Error inside(const Error& error);

}  // namespace holdfast::errors
