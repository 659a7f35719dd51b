// SPDX-License-Identifier: Apache-2.0
// BackupDesk: how the backup that runs gets on, and what became of the last one, for those who ask.
// For any thread.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "holdfast/backup.h"

namespace holdfast::engine {

class BackupDesk {
 public:
  // False: one runs.
  [[nodiscard]] bool begin(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (present_ && present_->status == BackupInfo::Status::kRunning) return false;
    present_ = BackupInfo{.name = name, .status = BackupInfo::Status::kRunning};
    return true;
  }
  void at(std::uint64_t done, std::uint64_t total) {
    const std::lock_guard lock(mutex_);
    present_->done_bytes = done;
    present_->total_bytes = total;
  }
  void end(BackupInfo info) {
    const std::lock_guard lock(mutex_);
    present_ = std::move(info);
  }
  void end_badly(const std::string& name, std::string error) {
    BackupInfo info{.name = name, .status = BackupInfo::Status::kFailed};
    info.error = std::move(error);
    end(std::move(info));
  }

  // The one that runs, or the last.
  std::optional<BackupInfo> present() const {
    const std::lock_guard lock(mutex_);
    return present_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<BackupInfo> present_;
};

}  // namespace holdfast::engine
