// SPDX-License-Identifier: Apache-2.0
#include "store/looking_disk.h"

#include <utility>

namespace holdfast::store {
namespace {

base::Error only_looked_at(const std::string& path) {
  return {base::ErrorCode::kIo, path, "is only looked at"};
}

class LookedAtFile : public env::File {
 public:
  // Without a file it is an empty one.
  LookedAtFile(std::string path, std::unique_ptr<env::File> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  base::Result<std::size_t> read_at(std::uint64_t offset,
                                    std::span<std::uint8_t> into) const override {
    if (!file_) return std::size_t{0};
    return file_->read_at(offset, into);
  }
  base::Result<std::size_t> write_at(std::uint64_t, base::ByteView) override {
    return only_looked_at(path_);
  }
  base::Result<void> sync_data() override { return only_looked_at(path_); }
  base::Result<void> truncate(std::uint64_t) override { return only_looked_at(path_); }
  base::Result<void> preallocate(std::uint64_t) override { return only_looked_at(path_); }
  base::Result<std::uint64_t> size() const override {
    if (!file_) return std::uint64_t{0};
    return file_->size();
  }
  base::Result<bool> is_at(const std::string& path) const override {
    if (!file_) return path == path_;
    return file_->is_at(path);
  }

 private:
  const std::string path_;
  const std::unique_ptr<env::File> file_;
};

}  // namespace

base::Result<std::unique_ptr<env::File>> LookingDisk::open(const std::string& path,
                                                           env::OpenMode mode) {
  std::unique_ptr<env::File> file;
  if (mode != env::OpenMode::kCreate) file = TRY(disk_.open(path, env::OpenMode::kRead));
  return std::unique_ptr<env::File>(std::make_unique<LookedAtFile>(path, std::move(file)));
}

base::Result<void> LookingDisk::rename(const std::string& from, const std::string&) {
  return only_looked_at(from);
}
base::Result<void> LookingDisk::remove(const std::string& path) { return only_looked_at(path); }
base::Result<void> LookingDisk::make_directory(const std::string& path) {
  return only_looked_at(path);
}
base::Result<void> LookingDisk::sync_directory(const std::string& path) {
  return only_looked_at(path);
}
base::Result<std::vector<std::string>> LookingDisk::list(const std::string& path) {
  return disk_.list(path);
}
base::Result<std::unique_ptr<env::FileLock>> LookingDisk::lock(const std::string& path,
                                                               std::string_view) {
  return only_looked_at(path);
}

}  // namespace holdfast::store
