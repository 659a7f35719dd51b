// SPDX-License-Identifier: Apache-2.0
// What the bodies of steps throw, and what is thrown at them.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace holdfast {

// A step that throws it fails with a code of its own. Any other exception is step.exception.
class StepError : public std::runtime_error {
 public:
  StepError(std::string the_code, const std::string& message)
      : std::runtime_error(message), code(std::move(the_code)) {}
  const std::string code;
};

// Nobody answered in time.
class WaitTimedOut : public StepError {
 public:
  WaitTimedOut() : StepError("step.wait_timed_out", "nobody answered in time") {}
};

// A child has not completed: it failed, with this code, or could not be started (a code that begins
// with "workflow.").
class ChildFailed : public StepError {
 public:
  using StepError::StepError;
};

// A child was cancelled.
class ChildCancelled : public ChildFailed {
 public:
  using ChildFailed::ChildFailed;
};

}  // namespace holdfast
