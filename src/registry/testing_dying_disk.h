// SPDX-License-Identifier: Apache-2.0
// A disk in front of another, on which a process dies before its Nth call: a Death is thrown, and
// nothing is done on the way out but to let go of locks, as the system does. For tests only.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "env/disk.h"

namespace holdfast::registry::testing {

struct Death {};

class DyingDisk : public env::Disk {
 public:
  explicit DyingDisk(env::Disk& disk) : disk_(disk) {}

  // Dies when so many more calls have been made.
  void die_after(std::uint64_t calls) { dies_at_ = calls_ + calls; }
  std::uint64_t calls() const { return calls_; }

  base::Result<std::unique_ptr<env::File>> open(const std::string& path,
                                                env::OpenMode mode) override {
    count();
    auto file = TRY(disk_.open(path, mode));
    return std::unique_ptr<env::File>(std::make_unique<DyingFile>(*this, std::move(file)));
  }
  base::Result<void> rename(const std::string& from, const std::string& to) override {
    count();
    return disk_.rename(from, to);
  }
  base::Result<void> remove(const std::string& path) override {
    count();
    return disk_.remove(path);
  }
  base::Result<void> make_directory(const std::string& path) override {
    count();
    return disk_.make_directory(path);
  }
  base::Result<void> sync_directory(const std::string& path) override {
    count();
    return disk_.sync_directory(path);
  }
  base::Result<std::vector<std::string>> list(const std::string& path) override {
    count();
    return disk_.list(path);
  }
  base::Result<std::unique_ptr<env::FileLock>> lock(const std::string& path,
                                                    std::string_view holder) override {
    count();
    return disk_.lock(path, holder);
  }
  base::Result<std::unique_ptr<env::FileLock>> lock_to_look(const std::string& path) override {
    count();
    return disk_.lock_to_look(path);
  }

 private:
  class DyingFile : public env::File {
   public:
    DyingFile(DyingDisk& disk, std::unique_ptr<env::File> file)
        : disk_(disk), file_(std::move(file)) {}
    base::Result<std::size_t> read_at(std::uint64_t offset,
                                      std::span<std::uint8_t> into) const override {
      return file_->read_at(offset, into);
    }
    base::Result<std::size_t> write_at(std::uint64_t offset, base::ByteView bytes) override {
      disk_.count();
      return file_->write_at(offset, bytes);
    }
    base::Result<void> sync_data() override {
      disk_.count();
      return file_->sync_data();
    }
    base::Result<void> truncate(std::uint64_t size) override {
      disk_.count();
      return file_->truncate(size);
    }
    base::Result<void> preallocate(std::uint64_t size) override {
      disk_.count();
      return file_->preallocate(size);
    }
    base::Result<std::uint64_t> size() const override { return file_->size(); }
    base::Result<bool> is_at(const std::string& path) const override { return file_->is_at(path); }

   private:
    DyingDisk& disk_;
    std::unique_ptr<env::File> file_;
  };

  void count() {
    if (calls_++ == dies_at_) throw Death{};
  }

  env::Disk& disk_;
  std::uint64_t calls_ = 0;
  std::uint64_t dies_at_ = ~std::uint64_t{0};
};

}  // namespace holdfast::registry::testing
