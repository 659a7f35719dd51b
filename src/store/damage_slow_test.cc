// SPDX-License-Identifier: Apache-2.0
// Every byte of a small journal, changed one at a time.
#include <iostream>

#include "store/batch_scanner.h"
#include "store/segment_files.h"
#include "store/testing.h"

namespace holdfast::store::testing {
namespace {

constexpr RecordNumber kRecords = 9;
const std::string kFolder = "./world/journal";

void fill(SimWorld& world, bool close) {
  auto open = world.open();
  ASSERT_TRUE(open) << open.error().to_string();
  for (RecordNumber number = 1; number <= kRecords; number += 3) {
    ASSERT_TRUE(commit_batch((*open)->journal(), 2, 900));
    ASSERT_TRUE(commit_batch((*open)->journal(), 1, 2500));
  }
  if (close) {
    ASSERT_TRUE((*open)->journal().close());
  }
}

// A part of a segment file that is read as a whole.
struct Part {
  std::string path;
  std::uint64_t begin;
  std::uint64_t end;
  enum class Kind : std::uint8_t { kSynced, kLast, kFree } kind;
};

std::vector<Part> parts_of(SimWorld& world) {
  std::vector<Part> parts;
  env::SimDisk& disk = world.disk();
  const auto names = disk.list(kFolder);
  for (const std::string& name : *names) {
    if (!segment_number(name)) continue;
    const std::string path = kFolder + "/" + name;
    const base::Bytes& bytes = disk.now().files.at(disk.now().names.at(path));
    const auto header = decode_segment(base::ByteView(bytes).first(kBlockBytes));
    const auto file = *disk.open(path, env::OpenMode::kRead);
    BatchScanner scanner(*file, *header);
    parts.push_back({path, 0, kBlockBytes, Part::Kind::kSynced});
    while (*scanner.next() == BatchScanner::Found::kBatch) {
      // A handover matters when the segment behind it is gone, and for nothing else.
      const bool is_handover = read_handover(scanner.header(), scanner.body()).has_value();
      parts.push_back({path, scanner.header().offset, scanner.offset(),
                       is_handover ? Part::Kind::kFree : Part::Kind::kSynced});
    }
    if (segment_number(name) == 2u) parts.back().kind = Part::Kind::kLast;
    parts.push_back({path, scanner.offset(), bytes.size(), Part::Kind::kFree});
  }
  return parts;
}

// What is wrong with the world after this byte was changed, in one of the ways that are allowed.
void check_damage(SimWorld& world, const Part& part, std::uint64_t offset, bool closed) {
  SCOPED_TRACE(part.path + " at " + std::to_string(offset));
  env::DiskState damaged = world.disk().now();
  damaged.files.at(damaged.names.at(part.path))[offset] ^=
      static_cast<std::uint8_t>(1u << offset % 8);
  SimWorld after(std::move(damaged));
  const auto open = after.open();
  const auto records =
      open ? read_all((*open)->journal())
           : base::Result<std::vector<std::string>>(
                 base::Error(open.error().code(), open.error().where(), open.error().message()));
  if (part.kind == Part::Kind::kSynced) {
    ASSERT_FALSE(records);
    EXPECT_EQ(records.error().code(), base::ErrorCode::kCorrupt);
    EXPECT_EQ(records.error().where(), part.path + " at " + std::to_string(part.begin));
    return;
  }
  ASSERT_TRUE(records) << records.error().to_string();
  // The last batch of a journal that was not closed may be a torn write, which is all that can be
  // known; it is reported. Everything else holds no records.
  const bool may_lose = part.kind == Part::Kind::kLast && !closed;
  EXPECT_EQ(records->size(), may_lose ? kRecords - 1 : kRecords);
  if (part.kind == Part::Kind::kLast) {
    EXPECT_TRUE((*open)->report().torn);
  }
  for (std::size_t i = 0; i < records->size(); ++i)
    EXPECT_EQ((*records)[i], record_text(i + 1, i % 3 == 2 ? 2500 : 900));
}

void change_every_byte(bool close) {
  SimWorld world;
  fill(world, close);
  const std::vector<Part> parts = parts_of(world);
  ASSERT_GT(parts.size(), 9u);
  std::uint64_t flipped = 0;
  for (const Part& part : parts) {
    const std::uint64_t step = part.kind == Part::Kind::kFree ? 61 : 1;
    for (std::uint64_t offset = part.begin; offset < part.end; offset += step) {
      check_damage(world, part, offset, close);
      ++flipped;
      if (::testing::Test::HasFailure()) return;
    }
  }
  std::cout << "damage: " << flipped << " bytes, one at a time\n";
}

TEST(Damage, of_any_byte_of_a_closed_journal_is_found) { change_every_byte(true); }
TEST(Damage, of_any_byte_of_an_unclosed_journal_is_found) { change_every_byte(false); }

TEST(Damage, of_the_world_file_is_found) {
  SimWorld world;
  fill(world, true);
  const std::size_t size =
      world.disk().now().files.at(world.disk().now().names.at("./world/WORLD")).size();
  for (std::size_t offset = 0; offset < size; ++offset) {
    env::DiskState damaged = world.disk().now();
    damaged.files.at(damaged.names.at("./world/WORLD"))[offset] ^= 0x10;
    const auto open = SimWorld(std::move(damaged)).open();
    ASSERT_FALSE(open);
    EXPECT_EQ(open.error().code(), base::ErrorCode::kCorrupt);
  }
}

TEST(Damage, a_missing_file_is_found) {
  SimWorld world;
  fill(world, true);
  for (const std::string path : {"./world/WORLD", "./world/journal/000000000002.log"}) {
    env::DiskState damaged = world.disk().now();
    damaged.names.erase(path);
    const auto open = SimWorld(std::move(damaged)).open();
    ASSERT_FALSE(open) << path;
    EXPECT_EQ(open.error().code(), base::ErrorCode::kCorrupt);
  }
}

TEST(Damage, a_cut_file_is_found) {
  SimWorld world;
  fill(world, true);
  for (const std::string path :
       {"./world/journal/000000000001.log", "./world/journal/000000000002.log"}) {
    for (std::size_t size = 0; size < 5 * kBlockBytes; size += 1000) {
      env::DiskState damaged = world.disk().now();
      damaged.files.at(damaged.names.at(path)).resize(size);
      SimWorld after(std::move(damaged));
      const auto open = after.open();
      const bool is_found = !open || !read_all((*open)->journal());
      EXPECT_TRUE(is_found) << path << " with " << size;
    }
  }
}

}  // namespace
}  // namespace holdfast::store::testing
