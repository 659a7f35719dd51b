// SPDX-License-Identifier: Apache-2.0
// Process: sys/process.run@1. Runs a program, if the node allows it and it is still the file that
// was allowed (executors/program.h): argv and no shell, stdin from the params through a pipe,
// stdout and stderr up to a limit in the receipt. Its environment is what the params ask for among
// the variables that the node lists, and HOLDFAST_IDEMPOTENCY_KEY (the intent). Any way to end by
// itself is `ok`, with the exit code or the signal.
//
// Who is stopped, or has had its time, gets SIGTERM with its whole process group, and SIGKILL after
// a grace time. When a program has ended, the rest of its group is killed. A program dies with us,
// however we die, so that it can be run again after a restart; what it has started in its turn ends
// with it unless we were killed. What has left its process group is not found any more. Where
// orphans become our children, those of a group that has ended are waited for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/clock.h"
#include "executors/secrets.h"
#include "executors/thread_executor.h"

namespace holdfast::executors {

struct ProcessOptions {
  QueueOptions queue{.at_once = 16};
  std::vector<std::string> programs = {};   // that may be run, by their whole paths; no others
  std::vector<std::string> variables = {};  // that params may set; no others
  std::size_t output_bytes = std::size_t{1} << 20;         // of stdout, and of stderr
  std::uint64_t time_limit_ns = 3'600 * 1'000'000'000ULL;  // also where nobody asks for one
  std::uint64_t grace_ns = 5 * 1'000'000'000ULL;
};

// Whether a list of variables may have this one. Not those by which the loader takes in code: they
// would turn every program into any other. kInvalid says why.
base::Result<void> check_variable(std::string_view name);

// What is given must outlive it; secrets may be null. kInvalid: the options cannot be used.
// kConflict: this program ignores SIGCHLD.
// A program that is not there, or a variable that no list may have, makes options useless.
base::Result<std::unique_ptr<Executor>> process_executor(const ProcessOptions& options,
                                                         env::Clock& clock,
                                                         const SecretSource* secrets);

}  // namespace holdfast::executors
