// SPDX-License-Identifier: Apache-2.0
// Outbox: the reports that no server has acknowledged yet, in memory and in a file. A report that
// was put and flushed survives the death of the process and a power cut; one that was dropped may
// come back after either, so whoever receives reports must recognise one it has seen.
//
// Invariants: (1) flush() that succeeds makes everything that was put before it durable; (2) what
// is put stays in memory whatever the disk does, until it is dropped; (3) after a failed write or
// sync the file is not trusted: the next flush writes all that is held into a new one.
//
// The file is append-only (docs/formats/outbox.md). It is written anew when most of it is about
// reports that were dropped. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/buffer.h"
#include "env/disk.h"

namespace holdfast::work {

class Outbox {
 public:
  // What opening found, for the log.
  struct Recovered {
    std::size_t reports = 0;
    std::uint64_t unreadable_bytes = 0;  // at the end of the file, left out
  };

  // kInvalid: the file is not an outbox, or a newer version has written it. kTooLarge: it has more
  // bytes than an outbox can come to.
  static base::Result<Outbox> open(env::Disk& disk, std::string path);

  // Replaces what is held for the dispatch. At most kMaxReportBytes.
  void put(const std::string& dispatch, base::Bytes report);
  void drop(const std::string& dispatch);

  // Whether there is something that flush() would write.
  bool has_unwritten() const noexcept { return unwritten_.size() != 0 || is_broken_; }
  base::Result<void> flush();

  const std::map<std::string, base::Bytes>& held() const noexcept { return held_; }
  std::size_t held_bytes() const noexcept { return held_bytes_; }
  const Recovered& recovered() const noexcept { return recovered_; }

 private:
  Outbox(env::Disk& disk, std::string path) : disk_(&disk), path_(std::move(path)) {}
  base::Result<void> read(base::ByteView bytes);
  base::Result<void> rewrite();
  base::Result<void> append();
  void forget(std::map<std::string, base::Bytes>::iterator held);

  env::Disk* disk_;
  std::string path_;
  std::unique_ptr<env::File> file_;
  std::uint64_t end_ = 0;     // of what was written
  codec::Buffer unwritten_;   // frames
  bool has_new_put_ = false;  // among them
  bool is_broken_ = false;
  std::map<std::string, base::Bytes> held_;
  std::size_t held_bytes_ = 0;
  Recovered recovered_;
};

}  // namespace holdfast::work
