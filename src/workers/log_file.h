// SPDX-License-Identifier: Apache-2.0
// LogFile: what tasks wrote, on disk, so that it can be read after the server was restarted. Lines
// are appended to segments of bounded size; the oldest segment goes when there are too many.
//
// Appending never waits for the disk: a thread of its own writes. What was written survives the end
// of the process, but nothing is synced, so a power cut may lose the newest lines. A process that
// is killed may lose the lines of its last moments. Lines that the disk has no room for, or is too
// slow for, are not kept; `dropped` counts the reports that were lost.
//
// A segment is a row of frames: length and CRC-32C of the body, four bytes each, then the body.
// Numbers are little-endian. Reading ends at the first frame that is not whole.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "env/disk.h"
#include "workers/messages.h"

namespace holdfast::workers {

// Lines of one dispatch, as LogStore::append takes them.
struct LogReportOfTask {
  std::string task = {};
  std::uint64_t dispatch = 0;
  std::uint64_t attempt = 0;
  std::uint64_t from = 0;
  std::vector<LogLine> lines = {};
};

struct LogFileLimits {
  std::size_t segment_bytes = std::size_t{16} << 20;
  std::size_t segments = 8;
  std::size_t queue_bytes = std::size_t{8} << 20;  // that wait to be written
};

class LogFile {
 public:
  using Visit = std::function<void(const LogReportOfTask& report)>;

  // Makes the folder if it is not there, and shows everything that was kept, oldest first.
  static base::Result<std::unique_ptr<LogFile>> open(std::unique_ptr<env::Disk> disk,
                                                     std::string folder, LogFileLimits limits,
                                                     const Visit& visit);
  // Writes what waits.
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  void append(const LogReportOfTask& report);

  std::uint64_t dropped() const;

 private:
  LogFile(std::unique_ptr<env::Disk> disk, std::string folder, LogFileLimits limits)
      : disk_(std::move(disk)), folder_(std::move(folder)), limits_(limits) {}

  base::Result<void> read_segments(const Visit& visit);
  void loop();
  base::Result<void> write(base::ByteView bytes);
  base::Result<void> begin_segment();
  std::string path_of(std::uint64_t segment) const;

  const std::unique_ptr<env::Disk> disk_;
  const std::string folder_;
  const LogFileLimits limits_;

  // Of the thread that writes.
  std::vector<std::uint64_t> segments_;  // oldest first; the last one is written to
  std::unique_ptr<env::File> file_;
  std::uint64_t size_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  base::Bytes queue_;
  std::uint64_t queued_ = 0;  // reports in the queue
  std::uint64_t dropped_ = 0;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace holdfast::workers
