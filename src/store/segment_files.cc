// SPDX-License-Identifier: Apache-2.0
#include "store/segment_files.h"

#include <charconv>
#include <utility>

namespace holdfast::store {
namespace {

constexpr std::size_t kDigits = 12;
constexpr std::string_view kSuffix = ".log";

}  // namespace

std::string segment_name(std::uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  return digits.append(kSuffix);
}

std::optional<std::uint64_t> segment_number(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  const std::string_view digits = name.substr(0, name.size() - kSuffix.size());
  std::uint64_t number = 0;
  const auto end = digits.data() + digits.size();
  const auto [stop, problem] = std::from_chars(digits.data(), end, number);
  if (problem != std::errc() || stop != end || segment_name(number) != name) return std::nullopt;
  return number;
}

base::Error corrupt_at(const std::string& path, std::uint64_t offset, const std::string& why) {
  return {base::ErrorCode::kCorrupt, path + " at " + std::to_string(offset), why};
}

base::Error other_version_at(const std::string& path, std::uint64_t version, std::uint64_t known) {
  return {base::ErrorCode::kConflict, path,
          "is of version " + std::to_string(version) + ", and this program knows version " +
              std::to_string(known) + ": open the world with the release that wrote it"};
}

base::Result<Segment> open_segment(env::Disk& disk, const std::string& folder,
                                   const JournalId& journal, std::uint64_t number,
                                   env::OpenMode mode) {
  const std::string path = segment_path(folder, number);
  auto file = TRY(disk.open(path, mode));
  Block block;
  const std::size_t count = TRY(file->read_at(0, block));
  if (count < block.size()) return corrupt_at(path, count, "the file ends inside its header");
  if (const auto version = other_segment_version(block))
    return other_version_at(path, *version, kJournalVersion);
  const auto header = decode_segment(block);
  if (!header) return corrupt_at(path, 0, "the header of the segment is damaged");
  if (header->journal != journal) return corrupt_at(path, 0, "the segment is of another journal");
  if (header->number != number)
    return corrupt_at(path, 0, "the segment is number " + std::to_string(header->number));
  return Segment{*header, std::move(file)};
}

base::Result<Segment> PutInUse::run(env::Disk& disk, const std::string& folder) {
  auto file = TRY(disk.open(blank_path, env::OpenMode::kReadWrite));
  TRY(env::write_all(*file, 0, encode(header)));
  if (write_contents) TRY(write_contents(*file, header));
  TRY(file->sync_data());
  begun = true;
  TRY(disk.rename(blank_path, segment_path(folder, header.number)));
  TRY(disk.sync_directory(folder));
  return Segment{header, std::move(file)};
}

}  // namespace holdfast::store
