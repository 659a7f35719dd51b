// SPDX-License-Identifier: Apache-2.0
#include "store/seals.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"

namespace holdfast::store {
namespace {

constexpr const char* kSealsSchema = R"(
  CREATE TABLE IF NOT EXISTS seals(
    last INTEGER PRIMARY KEY, first INTEGER NOT NULL, hash BLOB NOT NULL, key BLOB NOT NULL,
    signature BLOB NOT NULL);
)";

constexpr const char* kColumns =
    "SELECT first, last, hash, key, signature FROM seals ORDER BY last";

template <class Array>
bool take(base::ByteView bytes, Array& into) {
  if (bytes.size() != into.size()) return false;
  std::ranges::copy(bytes, into.begin());
  return true;
}

base::Result<Seal> read_seal(const SqliteStatement& row) {
  Seal seal{.first = row.nat(0), .last = row.nat(1), .hash = {}, .key = {}, .signature = {}};
  const bool is_whole = seal.first > 0 && seal.first <= seal.last &&
                        seal.last - seal.first < kMaxSealRecords &&
                        take(row.bytes(2), seal.hash.bytes) && take(row.bytes(3), seal.key) &&
                        take(row.bytes(4), seal.signature);
  if (is_whole) return seal;
  return base::Error(base::ErrorCode::kCorrupt, kSealsFile,
                     "what it has of record " + std::to_string(seal.last) + " is no seal");
}

}  // namespace

base::Result<std::unique_ptr<Seals>> Seals::open(WorldFolder& world) {
  WorldDatabase opened = TRY(open_world_database(world, kSealsFile, kSealsSchema));
  std::unique_ptr<Seals> seals(new Seals(std::move(opened)));
  SqliteDatabase& database = seals->database_.database;
  seals->insert_ = TRY(database.prepare("INSERT INTO seals VALUES (?1, ?2, ?3, ?4, ?5)"));
  seals->trim_ = TRY(database.prepare("DELETE FROM seals WHERE last < ?1"));
  auto newest = TRY(database.prepare(std::string(kColumns) + " DESC LIMIT 2"));
  if (TRY(newest.step())) seals->last_ = TRY(read_seal(newest));
  if (seals->last_ && TRY(newest.step())) seals->before_last_ = TRY(read_seal(newest));
  return seals;
}

base::Result<void> Seals::add(std::span<const Seal> seals, RecordNumber needed) {
  if (seals.empty()) return {};
  CHECK(!last_ || last_->last < seals.front().first);
  auto written = write(seals, needed);
  if (!written) {
    if (database_.database.is_in_transaction())
      static_cast<void>(database_.database.run("ROLLBACK").has_value());
    return written;
  }
  before_last_ = seals.size() > 1 ? seals[seals.size() - 2] : last_;
  last_ = seals.back();
  return {};
}

base::Result<void> Seals::write(std::span<const Seal> seals, RecordNumber needed) {
  TRY(database_.database.run("BEGIN IMMEDIATE"));
  for (const Seal& seal : seals) {
    insert_.bind(1, seal.last);
    insert_.bind(2, seal.first);
    insert_.bind(3, base::ByteView(seal.hash.bytes));
    insert_.bind(4, base::ByteView(seal.key));
    insert_.bind(5, base::ByteView(seal.signature));
    TRY(insert_.step());
  }
  trim_.bind(1, std::min(needed, seals.front().first) - 1);
  TRY(trim_.step());
  return database_.database.run("COMMIT");
}

base::Result<std::optional<Seal>> look_at_last_seal(const WorldPlace& world) {
  const auto look = TRY(DatabaseLook::open(world, kSealsFile));
  if (!look) return std::optional<Seal>();
  auto newest = TRY(look->database().prepare(std::string(kColumns) + " DESC LIMIT 1"));
  if (!TRY(newest.step())) return std::optional<Seal>();
  return std::optional(TRY(read_seal(newest)));
}

base::Result<std::unique_ptr<SealsLook>> SealsLook::open(const WorldPlace& world) {
  auto look = TRY(DatabaseLook::open(world, kSealsFile));
  if (!look) return std::unique_ptr<SealsLook>();
  SqliteStatement select = TRY(look->database().prepare(kColumns));
  // A WORLD that cannot be read is told by whoever opens the world.
  auto file = read_world_file(world.disk, world.path);
  return std::unique_ptr<SealsLook>(
      new SealsLook(std::move(look), world.id.value_or(JournalId{}),
                    file ? std::move(file->restored) : std::vector<Restored>(), std::move(select)));
}

base::Result<std::optional<Seal>> SealsLook::next() {
  if (!TRY(select_.step())) return std::optional<Seal>();
  return std::optional(TRY(read_seal(select_)));
}

}  // namespace holdfast::store
