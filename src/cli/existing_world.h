// SPDX-License-Identifier: Apache-2.0
// ExistingWorld: the folder of a world for commands that work on it while no other process has it.
// Also commands that only look take the lock: what is written while they read would look like
// damage.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "env/posix_disk.h"
#include "env/process.h"
#include "env/random.h"
#include "store/file_journal.h"

namespace holdfast::cli {

// In the folder of a world while it is served: "PID URL" and a line feed.
inline constexpr const char* kServerFile = "SERVER";

class ExistingWorld {
 public:
  // kNotFound: there is no world. kConflict: another process has it, and the message says which.
  static base::Result<std::unique_ptr<ExistingWorld>> open(const std::string& path);

  store::WorldFolder& folder() noexcept { return *folder_; }

 private:
  ExistingWorld() = default;

  std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  std::unique_ptr<env::Random> random_ = env::posix_random();
  std::unique_ptr<env::Process> process_ = env::posix_process();
  std::unique_ptr<store::WorldFolder> folder_;
};

// Tells what opening the journal had to mend, if anything.
void remark_recovery(const store::RecoveryReport& report);

// Wall time, for what a command writes into a world that no node runs.
inline std::uint64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace holdfast::cli
