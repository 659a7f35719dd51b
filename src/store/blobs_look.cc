// SPDX-License-Identifier: Apache-2.0
#include "store/blobs_look.h"

#include <utility>

#include "base/sha256.h"

namespace holdfast::store {

base::Result<std::unique_ptr<BlobsLook>> BlobsLook::open(const WorldPlace& world,
                                                         const std::string& file) {
  auto look = TRY(DatabaseLook::open(world, file));
  if (!look) return std::unique_ptr<BlobsLook>();
  SqliteStatement find = TRY(look->database().prepare(kFindBlob));
  return std::unique_ptr<BlobsLook>(new BlobsLook(std::move(look), std::move(find)));
}

base::Result<std::vector<SnapshotEntry>> BlobsLook::snapshots() {
  SqliteStatement select = TRY(look_->database().prepare(kListSnapshots));
  return read_snapshots(select);
}

base::Result<std::uint64_t> BlobsLook::last_number() {
  auto select = TRY(look_->database().prepare(
      "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'blobs'"));
  if (!TRY(select.step())) return std::uint64_t{0};
  return select.nat(0);
}

base::Result<base::Bytes> BlobsLook::numbered(std::uint64_t number) {
  if (!has_find_number_) {
    find_number_ = TRY(look_->database().prepare("SELECT hash, bytes FROM blobs WHERE id = ?1"));
    has_find_number_ = true;
  }
  find_number_.bind(1, number);
  const std::string name = look_->path() + ", blob number " + std::to_string(number);
  if (!TRY(find_number_.step()))
    return base::Error(base::ErrorCode::kNotFound, name, "there is no such blob");
  const base::ByteView stored = find_number_.bytes(1);
  base::Bytes bytes(stored.begin(), stored.end());
  const bool is_whole = base::equal(find_number_.bytes(0), base::sha256(bytes).bytes);
  find_number_.reset();
  if (!is_whole) return base::Error(base::ErrorCode::kCorrupt, name, "is not what its hash says");
  return bytes;
}

base::Result<std::uint64_t> BlobsLook::check(base::Errors& errors) {
  const std::string& path = look_->path();
  auto whole = TRY(look_->database().prepare("PRAGMA integrity_check(1)"));
  if (TRY(whole.step()) && whole.text(0) != "ok")
    errors.push_back(base::Error(base::ErrorCode::kCorrupt, path, std::string(whole.text(0))));
  auto select = TRY(look_->database().prepare("SELECT hash, bytes FROM blobs"));
  std::uint64_t count = 0;
  while (TRY(select.step())) {
    ++count;
    if (base::equal(select.bytes(0), base::sha256(select.bytes(1)).bytes)) continue;
    errors.push_back(base::Error(base::ErrorCode::kCorrupt,
                                 path + ", blob number " + std::to_string(count),
                                 "is not what its hash says"));
  }
  return count;
}

}  // namespace holdfast::store
