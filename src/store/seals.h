// SPDX-License-Identifier: Apache-2.0
// Seals: signatures that answer for the records of a world, in a file of its own. Each covers some
// records that follow each other, and the seal before it. What is signed is for others.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/ed25519.h"
#include "base/hash.h"
#include "store/database_look.h"
#include "store/journal.h"
#include "store/world_database.h"

namespace holdfast::store {

inline constexpr const char* kSealsFile = "seals.db";

// So many records at most.
inline constexpr std::size_t kMaxSealRecords = 1024;

struct Seal {
  RecordNumber first = 0;
  RecordNumber last = 0;
  base::Hash hash;  // of the records, and of the seal before
  base::Ed25519Key key{};
  base::Ed25519Signature signature{};

  friend bool operator==(const Seal&, const Seal&) = default;
};

class Seals {
 public:
  // Makes the file if there is none. The world must outlive it.
  static base::Result<std::unique_ptr<Seals>> open(WorldFolder& world);

  const std::optional<Seal>& last() const noexcept { return last_; }
  const std::optional<Seal>& before_last() const noexcept { return before_last_; }

  // For whoever copies it.
  SqliteDatabase& database() noexcept { return database_.database; }

  // All or none, behind the last one. Of those before, what covers nothing from `needed` on is let
  // go of, but for the one that `needed` may follow. After kUnavailable (no space) it is as before.
  base::Result<void> add(std::span<const Seal> seals, RecordNumber needed);

 private:
  explicit Seals(WorldDatabase database) : database_(std::move(database)) {}

  base::Result<void> write(std::span<const Seal> seals, RecordNumber needed);

  WorldDatabase database_;
  SqliteStatement insert_;
  SqliteStatement trim_;
  std::optional<Seal> before_last_;
  std::optional<Seal> last_;
};

// The last one, for looking. Nothing: there is none.
base::Result<std::optional<Seal>> look_at_last_seal(const WorldPlace& world);

// All of them in order, for looking.
class SealsLook {
 public:
  // Null: there is no such file.
  static base::Result<std::unique_ptr<SealsLook>> open(const WorldPlace& world);

  base::Result<std::optional<Seal>> next();

  // Whose they are said to be, and the backups that the world was restored from.
  const JournalId& world() const noexcept { return world_; }
  const std::vector<Restored>& restored() const noexcept { return restored_; }

 private:
  SealsLook(std::unique_ptr<DatabaseLook> look, const JournalId& world,
            std::vector<Restored> restored, SqliteStatement select)
      : look_(std::move(look)),
        world_(world),
        restored_(std::move(restored)),
        select_(std::move(select)) {}

  std::unique_ptr<DatabaseLook> look_;
  JournalId world_;
  std::vector<Restored> restored_;
  SqliteStatement select_;
};

}  // namespace holdfast::store
