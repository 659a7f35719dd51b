// SPDX-License-Identifier: Apache-2.0
// Process: who we are, for people who wonder which process has a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::env {

class Process {
 public:
  virtual ~Process() = default;

  virtual std::int64_t id() = 0;
  virtual std::string host_name() = 0;

  // Differs from one start of the machine to the next; empty where the system does not tell.
  virtual std::string boot_id() = 0;
};

std::unique_ptr<Process> posix_process();

// "process 123 on host build-7"
std::string describe(Process& process);

}  // namespace holdfast::env
