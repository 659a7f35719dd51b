// SPDX-License-Identifier: Apache-2.0
#include "store/effect_gc.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/sha256.h"
#include "codec/view.h"
#include "codec/well_formed.h"

namespace holdfast::store {
namespace {

// Marks that are still to be followed have kind 0, and those that were kind 1. Beyond these are the
// edges of a blob, marked or not.
constexpr std::int64_t kFirstEdge = 2;
constexpr const char* kMark = R"(
  INSERT INTO marks SELECT ?1, 0
    WHERE NOT EXISTS (SELECT 1 FROM marks WHERE blob = ?1 AND kind < 2)
    RETURNING blob
)";
constexpr const char* kFollowed = "UPDATE marks SET kind = 1 WHERE blob = ?1 AND kind = 0";

constexpr const char* kUnmarked = R"(
  SELECT id, length(bytes) FROM blobs WHERE id > ?1 AND id <= ?2
    AND NOT EXISTS (SELECT 1 FROM marks WHERE marks.blob = blobs.id AND kind < 2)
    AND NOT EXISTS (SELECT 1 FROM touched WHERE touched.blob = blobs.id)
  ORDER BY id LIMIT ?3
)";

constexpr std::int64_t kRemovedAtOnce = 256;
constexpr std::size_t kLearntAtOnce = 4096;

// Of a value in which names are looked for, and of what was found before it is kept.
constexpr std::size_t kPartBytes = std::size_t{1} << 18;
constexpr std::size_t kMostFound = std::size_t{1} << 14;

// What a blob takes at least, with its row and its place in the index of hashes.
constexpr std::uint64_t kLeastBytesPerBlob = 80;

base::Hash hash_from(base::ByteView bytes) {
  base::Hash hash;
  if (bytes.size() == hash.bytes.size()) std::ranges::copy(bytes, hash.bytes.begin());
  return hash;
}

}  // namespace

EffectGc::EffectGc(BlobStore& blobs, Statements statements, std::size_t most_waiting)
    : blobs_(blobs),
      statements_(std::move(statements)),
      most_waiting_(most_waiting),
      collection_(blobs.new_collection()) {}

base::Result<std::unique_ptr<EffectGc>> EffectGc::begin(BlobStore& blobs,
                                                        std::span<const base::Hash> pinned,
                                                        std::size_t most_waiting) {
  SqliteDatabase& database = blobs.database();
  Statements all;
  all.next = TRY(
      database.prepare("SELECT id, hash, bytes FROM blobs WHERE id > ?1 AND id <= ?2 ORDER BY id"));
  all.find = TRY(database.prepare("SELECT id FROM blobs WHERE hash = ?1"));
  all.by_number = TRY(database.prepare("SELECT hash FROM blobs WHERE id = ?1"));
  all.mark = TRY(database.prepare(kMark));
  all.followed = TRY(database.prepare(kFollowed));
  all.unfollowed = TRY(database.prepare(
      "SELECT blob FROM marks WHERE blob > ?1 AND kind = 0 ORDER BY blob LIMIT ?2"));
  all.add_edge =
      TRY(database.prepare("INSERT OR IGNORE INTO marks SELECT id, ?2 FROM blobs WHERE hash = ?1"));
  all.edges = TRY(database.prepare("SELECT kind FROM marks WHERE blob = ?1 AND kind >= 2"));
  all.unmarked = TRY(database.prepare(kUnmarked));
  all.remove = TRY(database.prepare("DELETE FROM blobs WHERE id = ?1"));
  std::unique_ptr<EffectGc> gc(new EffectGc(blobs, std::move(all), most_waiting));
  TRY(blobs.transact([&] { return gc->start(pinned); }));
  return gc;
}

base::Result<void> EffectGc::start(std::span<const base::Hash> pinned) {
  SqliteDatabase& database = blobs_.database();
  for (const char* table : {"marks", "touched"})
    TRY(database.run("DELETE FROM " + std::string(table)));
  auto last = TRY(database.prepare("SELECT ifnull(max(id), 0), ifnull(min(id), 0) FROM blobs"));
  TRY(last.step());
  floor_ = last.number(0);
  const auto numbers = static_cast<std::uint64_t>(floor_ - last.number(1) + 1);
  last.reset();
  sieve_ =
      std::make_shared<HashSieve>(std::min(numbers, TRY(blobs_.file_bytes()) / kLeastBytesPerBlob));
  return mark_all(pinned);
}

base::Result<void> EffectGc::check() const {
  if (stage_ != Stage::kOver && blobs_.is_current(collection_)) return {};
  return base::Error(base::ErrorCode::kConflict,
                     "this collection has ended; another one has to begin");
}

template <class Work>
base::Result<void> EffectGc::in_piece(Work&& work) {
  TRY(check());
  auto done = blobs_.transact(work);
  if (!done) stage_ = Stage::kOver;
  return done;
}

base::Result<bool> EffectGc::learn() {
  CHECK(stage_ == Stage::kLearns || stage_ == Stage::kOver);
  bool more = false;
  TRY(in_piece([&]() -> base::Result<void> {
    more = TRY(learn_piece());
    return {};
  }));
  if (more) return true;
  stage_ = Stage::kFollows;
  at_ = 0;
  return false;
}

base::Result<bool> EffectGc::learn_piece() {
  SqliteStatement& next = statements_.next;
  next.bind(1, at_);
  next.bind(2, floor_);
  std::size_t bytes = 0;
  for (std::size_t count = 0; bytes < kPieceBytes && count < kLearntAtOnce; ++count) {
    if (!TRY(next.step())) return false;
    at_ = next.number(0);
    const base::Hash hash = hash_from(next.bytes(1));
    const base::ByteView blob = next.bytes(2);
    if (base::sha256(blob) != hash)
      return base::Error(base::ErrorCode::kCorrupt, hash.to_text(), "the blob is damaged");
    bytes += blob.size();
    sieve_->add(hash);
    TRY(learn_edge(at_, blob));
  }
  next.reset();
  return true;
}

// sys/BlobEdge@1, as the executor that puts blobs writes it. A workflow may put bytes that look the
// same; then more is kept.
base::Result<void> EffectGc::learn_edge(std::int64_t number, base::ByteView bytes) {
  constexpr std::uint8_t kBegins[] = {0xd9, 0xd9, 0xf7, 0xa2, 0x64, 'r', 'e', 'f', 's'};
  if (bytes.size() < sizeof kBegins || !std::ranges::equal(bytes.first(sizeof kBegins), kBegins) ||
      !codec::is_well_formed(bytes))
    return {};
  const auto named = codec::View::of(bytes).find("blob_ref");
  const auto text = named ? named->text() : std::nullopt;
  const auto hash = text ? base::Hash::parse(*text) : base::Result<base::Hash>(base::Hash{});
  if (!text || !hash) return {};
  statements_.add_edge.bind(1, base::ByteView(hash->bytes));
  statements_.add_edge.bind(2, number + kFirstEdge);
  TRY(statements_.add_edge.step());
  return {};
}

base::Result<void> EffectGc::keep(std::span<const base::Hash> named) {
  CHECK(stage_ == Stage::kFollows || stage_ == Stage::kOver);
  return in_piece([&] { return mark_all(named); });
}

base::Result<void> EffectGc::mark_all(std::span<const base::Hash> named) {
  for (const base::Hash& hash : named) {
    statements_.find.bind(1, base::ByteView(hash.bytes));
    if (!TRY(statements_.find.step())) continue;
    const std::int64_t number = statements_.find.number(0);
    statements_.find.reset();
    TRY(mark(number));
  }
  return {};
}

// Whatever was put since it began stays, and need not be read: it was put with the knowledge of
// what it names, which is therefore named elsewhere, or was put again as well.
base::Result<void> EffectGc::mark(std::int64_t number) {
  if (number > floor_) return {};
  statements_.mark.bind(1, number);
  const bool is_new = TRY(statements_.mark.step());
  statements_.mark.reset();
  if (!is_new) return {};
  ++progress_.marked;
  if (waiting_.size() < most_waiting_) {
    waiting_.push_back(number);
  } else {
    has_overflowed_ = true;
  }
  return {};
}

base::Result<void> EffectGc::mark_named(base::ByteView bytes) {
  EffectNames names(sieve_, [this](std::span<const base::Hash> named) { return mark_all(named); });
  TRY(names.look_at(bytes));
  return names.flush();
}

base::Result<GcProgress> EffectGc::remove() {
  CHECK(stage_ != Stage::kLearns);
  TRY(in_piece([&] { return stage_ == Stage::kFollows ? follow_piece() : remove_piece(); }));
  if (progress_.done) stage_ = Stage::kOver;
  return progress_;
}

base::Result<void> EffectGc::follow_piece() {
  for (std::size_t bytes = 0; bytes < kPieceBytes;) {
    if (waiting_.empty() && !TRY(find_unfollowed())) {
      stage_ = Stage::kRemoves;
      at_ = 0;
      return {};
    }
    const std::int64_t number = waiting_.back();
    waiting_.pop_back();
    bytes += TRY(follow(number)) + kLeastBytesPerBlob;
  }
  return {};
}

// Goes through the marks that found no place in memory. Each round that leaves some behind has
// followed as many as there is place for, so there are few rounds.
base::Result<bool> EffectGc::find_unfollowed() {
  while (has_overflowed_) {
    statements_.unfollowed.bind(1, at_);
    statements_.unfollowed.bind(2, static_cast<std::int64_t>(most_waiting_));
    while (TRY(statements_.unfollowed.step())) {
      at_ = statements_.unfollowed.number(0);
      waiting_.push_back(at_);
    }
    if (!waiting_.empty()) return true;
    // To the end of the marks. What overflowed meanwhile may be before it.
    has_overflowed_ = at_ != 0;
    at_ = 0;
  }
  return false;
}

base::Result<std::size_t> EffectGc::follow(std::int64_t number) {
  statements_.followed.bind(1, number);
  TRY(statements_.followed.step());
  statements_.by_number.bind(1, number);
  if (!TRY(statements_.by_number.step())) {
    return base::Error(base::ErrorCode::kCorrupt, kEffectBlobs,
                       "blob number " + std::to_string(number) + " was found, and is not there");
  }
  const base::Hash hash = hash_from(statements_.by_number.bytes(0));
  statements_.by_number.reset();
  const base::Bytes bytes = TRY(blobs_.get(hash));
  TRY(mark_named(bytes));
  std::vector<std::int64_t> edges;
  statements_.edges.bind(1, number);
  while (TRY(statements_.edges.step())) edges.push_back(statements_.edges.number(0) - kFirstEdge);
  for (const std::int64_t edge : edges) TRY(mark(edge));
  return bytes.size();
}

base::Result<void> EffectGc::remove_piece() {
  struct Unmarked {
    std::int64_t number;
    std::uint64_t bytes;
  };
  std::vector<Unmarked> unmarked;
  std::uint64_t bytes = 0;
  statements_.unmarked.bind(1, at_);
  statements_.unmarked.bind(2, floor_);
  statements_.unmarked.bind(3, kRemovedAtOnce);
  bool more = true;
  while (bytes < kPieceBytes && (more = TRY(statements_.unmarked.step()))) {
    unmarked.push_back({statements_.unmarked.number(0), statements_.unmarked.nat(1)});
    bytes += unmarked.back().bytes;
  }
  statements_.unmarked.reset();
  for (const Unmarked& each : unmarked) {
    statements_.remove.bind(1, each.number);
    TRY(statements_.remove.step());
    at_ = each.number;
  }
  progress_.removed += unmarked.size();
  progress_.removed_bytes += bytes;
  if (more || unmarked.size() == static_cast<std::size_t>(kRemovedAtOnce)) return {};
  progress_.done = true;
  for (const char* table : {"marks", "touched"})
    TRY(blobs_.database().run("DELETE FROM " + std::string(table)));
  return {};
}

// In parts, so that what is found in one value is bounded, too.
base::Result<void> EffectNames::look_at(base::ByteView value) {
  constexpr std::size_t kOverlap = HashSieve::kLongestName - 1;
  for (std::size_t from = 0; from < value.size(); from += kPartBytes) {
    const base::ByteView rest = value.subspan(from);
    sieve_->find(rest.first(std::min(rest.size(), kPartBytes + kOverlap)), found_);
    if (found_.size() >= kMostFound) TRY(flush());
  }
  return {};
}

base::Result<void> EffectNames::flush() {
  if (found_.empty()) return {};
  std::ranges::sort(found_);
  found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  TRY(keep_(found_));
  found_.clear();
  return {};
}

}  // namespace holdfast::store
