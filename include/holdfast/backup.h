// SPDX-License-Identifier: Apache-2.0
// Backups of a world that runs. See docs/operating.md.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast {

struct BackupOptions {
  // The most bytes that are read and written in a second, so that running work is hardly slower.
  // 0: as many as the disks take.
  std::uint64_t bytes_per_second = std::uint64_t{32} << 20;
};

// A backup in the folder of backups.
struct BackupInfo {
  enum class Status : std::uint8_t {
    kUnfinished,  // it was interrupted; the same name again completes it
    kRunning,
    kFinished,
    kFailed,  // since the engine was opened; `error` says why
  };
  std::string name = {};
  Status status = Status::kUnfinished;

  // Of the newest that is finished, which stays while the next one runs or if that fails.
  std::uint64_t number = 0;  // how many were finished under this name; 0: none
  std::uint64_t time_ns = 0;
  std::uint64_t first_record = 0;
  std::uint64_t last_record = 0;
  std::uint64_t bytes = 0;
  std::uint64_t copied_bytes = 0;  // that were not there already; 0: it is not known any more

  // Of the one that runs: about how far it is.
  std::uint64_t done_bytes = 0;
  std::uint64_t total_bytes = 0;

  std::string error = {};
};

// One life of a world begins when it is restored from a backup. Records after `after_record` are
// other ones than those of the same numbers in the life before.
struct RestoredLife {
  std::uint32_t life = 0;  // never 0, which is the first
  std::uint64_t after_record = 0;
  std::uint64_t time_ns = 0;
};

}  // namespace holdfast
