// SPDX-License-Identifier: Apache-2.0
// A disk in front of another that counts the files that are open, and on which some bytes cannot be
// read. For tests only.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "env/disk.h"

namespace holdfast::store::testing {

class FrontDisk : public env::Disk {
 public:
  explicit FrontDisk(env::Disk& disk) : disk_(disk) {}

  // Reads that touch these bytes of the file fail.
  void break_bytes(const std::string& path, std::uint64_t begin, std::uint64_t end) {
    broken_[path] = {begin, end};
  }
  std::size_t most_open() const { return most_open_; }

  base::Result<std::unique_ptr<env::File>> open(const std::string& path,
                                                env::OpenMode mode) override {
    auto file = TRY(disk_.open(path, mode));
    most_open_ = std::max(most_open_, ++open_);
    return std::unique_ptr<env::File>(std::make_unique<FrontFile>(*this, path, std::move(file)));
  }
  base::Result<void> rename(const std::string& from, const std::string& to) override {
    return disk_.rename(from, to);
  }
  base::Result<void> remove(const std::string& path) override { return disk_.remove(path); }
  base::Result<void> make_directory(const std::string& path) override {
    return disk_.make_directory(path);
  }
  base::Result<void> sync_directory(const std::string& path) override {
    return disk_.sync_directory(path);
  }
  base::Result<std::vector<std::string>> list(const std::string& path) override {
    return disk_.list(path);
  }
  base::Result<std::unique_ptr<env::FileLock>> lock(const std::string& path,
                                                    std::string_view holder) override {
    return disk_.lock(path, holder);
  }
  base::Result<std::unique_ptr<env::FileLock>> lock_folder(const std::string& path) override {
    return disk_.lock_folder(path);
  }

 private:
  class FrontFile : public env::File {
   public:
    FrontFile(FrontDisk& disk, std::string path, std::unique_ptr<env::File> file)
        : disk_(disk), path_(std::move(path)), file_(std::move(file)) {}
    ~FrontFile() override { --disk_.open_; }

    base::Result<std::size_t> read_at(std::uint64_t offset,
                                      std::span<std::uint8_t> into) const override {
      const auto broken = disk_.broken_.find(path_);
      if (broken != disk_.broken_.end() && offset < broken->second.second &&
          offset + into.size() > broken->second.first)
        return base::Error(base::ErrorCode::kIo, path_, "cannot be read");
      return file_->read_at(offset, into);
    }
    base::Result<std::size_t> write_at(std::uint64_t offset, base::ByteView bytes) override {
      return file_->write_at(offset, bytes);
    }
    base::Result<void> sync_data() override { return file_->sync_data(); }
    base::Result<void> truncate(std::uint64_t size) override { return file_->truncate(size); }
    base::Result<void> preallocate(std::uint64_t size) override { return file_->preallocate(size); }
    base::Result<std::uint64_t> size() const override { return file_->size(); }
    base::Result<bool> is_at(const std::string& path) const override { return file_->is_at(path); }

   private:
    FrontDisk& disk_;
    const std::string path_;
    const std::unique_ptr<env::File> file_;
  };

  env::Disk& disk_;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> broken_;
  std::size_t open_ = 0;
  std::size_t most_open_ = 0;
};

}  // namespace holdfast::store::testing
