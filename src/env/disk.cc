// SPDX-License-Identifier: Apache-2.0
#include "env/disk.h"

namespace holdfast::env {
namespace {

// A signal stops a write now and then. So many in a row mean that writing does not get on.
constexpr int kMaxWritesWithoutProgress = 1000;

base::Result<void> write_file(Disk& disk, const std::string& path, base::ByteView bytes) {
  const auto file = TRY(disk.open(path, OpenMode::kCreate));
  TRY(write_all(*file, 0, bytes));
  return file->sync_data();
}

}  // namespace

base::Result<void> write_all(File& file, std::uint64_t offset, base::ByteView bytes) {
  int without_progress = 0;
  while (!bytes.empty()) {
    const std::size_t written = TRY(file.write_at(offset, bytes));
    without_progress = written == 0 ? without_progress + 1 : 0;
    if (without_progress > kMaxWritesWithoutProgress)
      return base::Error(base::ErrorCode::kIo, "writing does not get on");
    offset += written;
    bytes = bytes.subspan(written);
  }
  return {};
}

base::Result<void> read_all(const File& file, std::uint64_t offset, std::span<std::uint8_t> into) {
  const std::size_t count = TRY(file.read_at(offset, into));
  if (count < into.size()) {
    return base::Error(base::ErrorCode::kCorrupt, "the file ends at " +
                                                      std::to_string(offset + count) + ", before " +
                                                      std::to_string(offset + into.size()));
  }
  return {};
}

base::Result<base::Bytes> read_file(Disk& disk, const std::string& path, std::size_t limit) {
  const auto file = TRY(disk.open(path, OpenMode::kRead));
  const std::uint64_t size = TRY(file->size());
  if (size > limit) {
    return base::Error(base::ErrorCode::kTooLarge, path,
                       "more than " + std::to_string(limit) + " bytes");
  }
  base::Bytes bytes(size);
  TRY(read_all(*file, 0, bytes));
  return bytes;
}

base::Result<void> replace_file(Disk& disk, const std::string& path, base::ByteView bytes) {
  const std::string temporary = path + ".new";
  // A power cut may have left the file of an earlier attempt under both names: emptying it under
  // one would empty it under the other.
  const auto removed = disk.remove(temporary);
  if (!removed && removed.error().code() != base::ErrorCode::kNotFound)
    return base::Error(removed.error().code(), removed.error().where(), removed.error().message());
  auto written = write_file(disk, temporary, bytes);
  if (written) written = disk.rename(temporary, path);
  if (!written) {
    // Gives back the space. The first error is the one to tell.
    static_cast<void>(disk.remove(temporary).has_value());
    return written;
  }
  return disk.sync_directory(parent_of(path));
}

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

}  // namespace holdfast::env
