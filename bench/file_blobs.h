// SPDX-License-Identifier: Apache-2.0
// Blobs in a file, found through a table in another: what is kept in them costs no memory of the
// process that the system could not take back. For benchmarks; nothing is synced, everything is
// gone at the end.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/check.h"
#include "base/sha256.h"
#include "kernel/blobs.h"

namespace holdfast::bench {

class FileBlobs : public kernel::Blobs {
 public:
  // Room for so many blobs.
  explicit FileBlobs(std::size_t most)
      : slots_(most * 2), data_(std::tmpfile()), file_(std::tmpfile()) {
    CHECK(data_ != nullptr && file_ != nullptr);
    CHECK(::ftruncate(::fileno(file_), static_cast<off_t>(slots_ * sizeof(Slot))) == 0);
    void* table = ::mmap(nullptr, slots_ * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_SHARED,
                         ::fileno(file_), 0);
    CHECK(table != MAP_FAILED);
    table_ = static_cast<Slot*>(table);
  }
  ~FileBlobs() override {
    ::munmap(table_, slots_ * sizeof(Slot));
    std::fclose(file_);
    std::fclose(data_);
  }
  FileBlobs(const FileBlobs&) = delete;
  FileBlobs& operator=(const FileBlobs&) = delete;

  base::Result<base::Bytes> get(const base::Hash& hash) const override {
    const Slot& slot = *find(hash);
    if (slot.size == 0) return base::Error(base::ErrorCode::kNotFound, "no such blob");
    base::Bytes bytes(slot.size);
    const ssize_t got =
        ::pread(::fileno(data_), bytes.data(), bytes.size(), static_cast<off_t>(slot.offset));
    CHECK(got == static_cast<ssize_t>(bytes.size()) && base::sha256(bytes) == hash);
    return bytes;
  }

  base::Result<base::Hash> put(base::ByteView bytes) override {
    const base::Hash hash = base::sha256(bytes);
    Slot& slot = *find(hash);
    if (slot.size != 0) return hash;
    CHECK(++count_ < slots_);
    slot = {hash, end_, bytes.size()};
    const ssize_t put =
        ::pwrite(::fileno(data_), bytes.data(), bytes.size(), static_cast<off_t>(end_));
    CHECK(put == static_cast<ssize_t>(bytes.size()));
    end_ += bytes.size();
    return hash;
  }

  std::size_t bytes() const noexcept { return end_; }

 private:
  struct Slot {
    base::Hash hash;
    std::uint64_t offset;
    std::uint64_t size;  // 0: free
  };

  Slot* find(const base::Hash& hash) const {
    std::uint64_t at = 0;
    std::memcpy(&at, hash.bytes.data(), sizeof at);
    for (at %= slots_; table_[at].size != 0 && table_[at].hash != hash;) at = (at + 1) % slots_;
    return &table_[at];
  }

  std::size_t slots_;
  std::FILE* data_;
  std::FILE* file_;
  Slot* table_;
  std::size_t count_ = 0;
  std::size_t end_ = 0;
};

}  // namespace holdfast::bench
