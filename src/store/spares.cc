// SPDX-License-Identifier: Apache-2.0
#include "store/spares.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::store {
namespace {

constexpr std::string_view kSparePrefix = "spare-";
constexpr std::uint64_t kMaxSpareNumber = std::uint64_t{1} << 60;
constexpr std::size_t kChunkBytes = std::size_t{256} << 10;

std::optional<std::uint64_t> spare_number(std::string_view name) {
  const std::string_view digits = name.substr(kSparePrefix.size());
  std::uint64_t number = 0;
  const auto end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, number);
  if (problem != std::errc() || stop != end || number > kMaxSpareNumber) return std::nullopt;
  return number;
}

// Whether the file has this length and holds nothing.
base::Result<bool> is_blank(env::Disk& disk, const std::string& path, std::uint64_t bytes) {
  const auto file = TRY(disk.open(path, env::OpenMode::kRead));
  if (TRY(file->size()) != bytes) return false;
  base::Bytes chunk(kChunkBytes);
  for (std::uint64_t at = 0; at < bytes;) {
    const std::size_t count = TRY(file->read_at(at, chunk));
    if (count == 0) return false;
    if (std::any_of(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(count),
                    [](std::uint8_t byte) { return byte != 0; }))
      return false;
    at += count;
  }
  return true;
}

}  // namespace

Spares::Spares(env::Disk& disk, std::string folder, std::uint64_t bytes, std::size_t wanted)
    : disk_(disk), folder_(std::move(folder)), bytes_(bytes), wanted_(wanted) {}

std::string Spares::new_path() {
  const std::lock_guard guard(mutex_);
  return folder_ + "/" + std::string(kSparePrefix) + std::to_string(next_number_++);
}

std::vector<std::string> Spares::adopt(const std::vector<std::string>& names) {
  std::vector<std::string> unusable;
  for (const std::string& name : names) {
    if (!name.starts_with(kSparePrefix)) continue;
    const std::string path = folder_ + "/" + name;
    const auto number = spare_number(name);
    const bool is_wanted = number && ready() < wanted_;
    const auto is_good = is_wanted ? is_blank(disk_, path, bytes_) : base::Result<bool>(false);
    const bool is_gone = !(is_good && *is_good) && disk_.remove(path).has_value();
    const bool is_stuck = is_good && !*is_good && !is_gone;
    if (!is_good || is_stuck) unusable.push_back(path);
    const std::lock_guard guard(mutex_);
    // What stays keeps its name, which no new one may have.
    if (number && !is_gone) next_number_ = std::max(next_number_, *number + 1);
    if (is_good && *is_good) ready_.push_back(path);
  }
  return unusable;
}

base::Result<void> Spares::fill(env::File& file, std::uint64_t bytes) {
  // Asks for all of the space first: a full disk is found before half of it is written.
  TRY(file.preallocate(bytes));
  // A piece at a time: one sync of all of it would keep the journal's own waiting until the disk
  // has taken it.
  const base::Bytes zeros(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kChunkBytes)));
  for (std::uint64_t at = 0; at < bytes; at += zeros.size()) {
    const std::uint64_t length = std::min<std::uint64_t>(zeros.size(), bytes - at);
    TRY(env::write_all(file, at, base::ByteView(zeros).first(static_cast<std::size_t>(length))));
    TRY(file.sync_data());
  }
  return {};
}

base::Result<std::string> Spares::fill_at(const std::string& path, env::OpenMode mode,
                                          std::uint64_t bytes) {
  const auto file = TRY(disk_.open(path, mode));
  auto filled = fill(*file, bytes);
  if (!filled) {
    // Gives back the space. The first error is the one to tell.
    static_cast<void>(disk_.remove(path).has_value());
    return std::move(filled).error();
  }
  return path;
}

base::Result<std::string> Spares::make_apart(std::uint64_t bytes) {
  return fill_at(new_path(), env::OpenMode::kCreate, bytes);
}

base::Result<void> Spares::make_one() {
  std::string used;
  {
    const std::lock_guard guard(mutex_);
    if (ready_.size() + in_making_ >= wanted_) return {};
    ++in_making_;
    if (!used_.empty()) {
      used = std::move(used_.back());
      used_.pop_back();
    }
  }
  auto made = used.empty() ? make_apart(bytes_) : fill_at(used, env::OpenMode::kReadWrite, bytes_);
  const std::lock_guard guard(mutex_);
  --in_making_;
  if (!made) return std::move(made).error();
  ready_.push_back(std::move(*made));
  return {};
}

std::optional<std::string> Spares::take(std::size_t keep) {
  const std::lock_guard guard(mutex_);
  if (ready_.size() <= keep) return std::nullopt;
  std::string path = std::move(ready_.back());
  ready_.pop_back();
  return path;
}

base::Result<void> Spares::recycle(const std::string& path) {
  const std::uint64_t size = TRY(TRY(disk_.open(path, env::OpenMode::kRead))->size());
  bool is_wanted = false;
  {
    const std::lock_guard guard(mutex_);
    is_wanted = size == bytes_ && ready_.size() + in_making_ + used_.size() < wanted_;
  }
  if (!is_wanted) return remove(path);
  const std::string second_life = new_path();
  auto renamed = disk_.rename(path, second_life);
  if (!renamed) {
    if (renamed.error().code() != base::ErrorCode::kUnavailable) return renamed;
    // No room for a name: then the file makes some.
    return remove(path);
  }
  TRY(sync_names());
  const std::lock_guard guard(mutex_);
  used_.push_back(second_life);
  return {};
}

base::Result<void> Spares::remove(const std::string& path) {
  TRY(disk_.remove(path));
  return sync_names();
}

// Whatever it fails for, names have changed by now, and nobody knows whether they will stay.
base::Result<void> Spares::sync_names() {
  auto synced = disk_.sync_directory(folder_);
  if (synced) return {};
  return base::Error(base::ErrorCode::kIo, synced.error().where(), synced.error().message());
}

std::size_t Spares::ready() const {
  const std::lock_guard guard(mutex_);
  return ready_.size();
}

}  // namespace holdfast::store
