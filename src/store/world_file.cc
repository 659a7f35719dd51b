// SPDX-License-Identifier: Apache-2.0
#include "store/world_file.h"

#include <algorithm>

#include "base/crc32c.h"
#include "store/little_endian.h"
#include "store/segment_files.h"

namespace holdfast::store {
namespace {

// "HLDWRLD" and the version, a digit.
constexpr std::uint64_t kMagicOf1 = 0x31'44'4c'52'57'44'4c'48;
constexpr std::uint64_t kVersionShift = 56;
constexpr std::uint64_t kMagicMask = (std::uint64_t{1} << kVersionShift) - 1;

constexpr std::size_t kFixedBytes = 32;  // of version 1: all of it
constexpr std::size_t kRestoredBytes = 4 + 8 + 8;
constexpr std::size_t kMaxBytes = kFixedBytes + 4 + kMaxRestored * kRestoredBytes;
constexpr std::size_t kCrcBytes = 4;

std::uint64_t magic_of(std::uint64_t version) {
  return kMagicOf1 + ((version - 1) << kVersionShift);
}

}  // namespace

// A world that was never restored is written as version 1, which older programs read.
base::Bytes encode(const WorldFile& file) {
  const bool is_first = file.restored.empty();
  const std::size_t count = std::min(file.restored.size(), kMaxRestored);
  base::Bytes bytes(is_first ? kFixedBytes : kFixedBytes + 4 + count * kRestoredBytes);
  FieldWriter fields(bytes);
  fields.number(magic_of(is_first ? 1 : 2));
  fields.bytes(file.id);
  fields.number(std::uint32_t{file.is_begun});
  if (!is_first) {
    fields.number(static_cast<std::uint32_t>(count));
    for (std::size_t i = file.restored.size() - count; i < file.restored.size(); ++i) {
      fields.number(file.restored[i].life);
      fields.number(file.restored[i].after);
      fields.number(file.restored[i].time_ns);
    }
  }
  fields.number(base::crc32c(base::ByteView(bytes).first(bytes.size() - kCrcBytes)));
  return bytes;
}

base::Result<WorldFile> decode_world_file(base::ByteView bytes, const std::string& path) {
  if (bytes.size() < kFixedBytes) return corrupt_at(path, bytes.size(), "the file is too short");
  WorldFile file;
  std::uint64_t magic = 0;
  std::uint32_t begun = 0;
  FieldReader fields(bytes);
  fields.number(magic);
  fields.bytes(file.id);
  fields.number(begun);
  const std::uint64_t version = (magic >> kVersionShift) - '0';
  const bool is_ours = (magic & kMagicMask) == (kMagicOf1 & kMagicMask);
  if (is_ours && version >= 3 && version <= 9) {
    return base::Error(base::ErrorCode::kConflict, path,
                       "is of version " + std::to_string(version) +
                           ", and this program knows versions 1 and 2: open the world with the "
                           "release that wrote it");
  }
  FieldReader end(bytes.last(kCrcBytes));
  std::uint32_t crc = 0;
  end.number(crc);
  const bool is_whole = crc == base::crc32c(bytes.first(bytes.size() - kCrcBytes));
  const bool is_known = is_ours && (version == 1 || version == 2) && begun <= 1;
  if (!is_whole || !is_known || (version == 1 && bytes.size() != kFixedBytes))
    return corrupt_at(path, 0, "the file is damaged");
  file.is_begun = begun == 1;
  if (version == 1) return file;
  std::uint32_t count = 0;
  fields.number(count);
  if (count > kMaxRestored || bytes.size() != kFixedBytes + 4 + count * kRestoredBytes)
    return corrupt_at(path, kFixedBytes - kCrcBytes, "the file is damaged");
  for (std::uint32_t i = 0; i < count; ++i) {
    Restored& restored = file.restored.emplace_back();
    fields.number(restored.life);
    fields.number(restored.after);
    fields.number(restored.time_ns);
  }
  return file;
}

base::Result<WorldFile> read_world_file(env::Disk& disk, const std::string& folder) {
  const std::string path = folder + "/WORLD";
  return decode_world_file(TRY(env::read_file(disk, path, kMaxBytes)), path);
}

}  // namespace holdfast::store
