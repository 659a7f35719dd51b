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

base::Result<void> BlobsLook::prepare_numbers() {
  if (has_find_number_) return {};
  find_number_ = TRY(look_->database().prepare("SELECT hash, bytes FROM blobs WHERE id = ?1"));
  find_next_ =
      TRY(look_->database().prepare("SELECT id FROM blobs WHERE id > ?1 ORDER BY id LIMIT 1"));
  has_find_number_ = true;
  return {};
}

base::Result<std::optional<std::uint64_t>> BlobsLook::number_after(std::uint64_t number) {
  TRY(prepare_numbers());
  find_next_.bind(1, number);
  std::optional<std::uint64_t> next;
  if (TRY(find_next_.step())) next = find_next_.nat(0);
  find_next_.reset();
  return next;
}

std::string BlobsLook::damage() {
  auto check = look_->database().prepare("PRAGMA quick_check(1)");
  if (!check) return check.error().message();
  const auto found = check->step();
  if (!found) return found.error().message();
  return !*found || check->text(0) == "ok" ? std::string() : std::string(check->text(0));
}

base::Result<base::Bytes> BlobsLook::numbered(std::uint64_t number) {
  TRY(prepare_numbers());
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
