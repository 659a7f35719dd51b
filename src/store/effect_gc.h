// SPDX-License-Identifier: Apache-2.0
// EffectGc: removes the blobs that workflows put and that nothing names any more, a piece at a
// time. The store does not know what values mean, so it looks at bytes: a blob stays if its hash
// stands, as 32 bytes or as 64 hexadecimal digits, in anything that the world keeps. Which bytes
// those are is for the caller, who shows all of them; docs/formats/blobs.md has the rule.
//
//   begin -> learn until false -> keep what everything that the world keeps names -> remove
//
// Promises:
//  1. It removes no blob that was named, nor one that a kept blob names: in its bytes, or in the
//     refs it was put with (sys/BlobEdge@1). A kept blob keeps its edges.
//  2. It removes no blob that was put, or put again, after it began, nor one of `pinned`.
//  3. A crash at any point loses nothing: the marks of a run that did not end are not used.
//  4. Memory is bounded, whatever the number of blobs: marks are in the file.
//  5. When a blob that it has to read is damaged, nothing is removed from then on.
//
// One at a time; together with the store for one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "store/blob_gc.h"
#include "store/blob_store.h"
#include "store/hash_sieve.h"

namespace holdfast::store {

class EffectGc {
 public:
  // About how many bytes one piece of work reads or removes; one blob alone may have more.
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  // How many blobs wait in memory to be read; others are found again in the marks.
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 16;

  // The blobs must outlive it. `pinned` stay, whether they are named or not.
  static base::Result<std::unique_ptr<EffectGc>> begin(BlobStore& blobs,
                                                       std::span<const base::Hash> pinned,
                                                       std::size_t most_waiting = kMostWaiting);

  // Reads what blobs there are. False: all of them are known.
  base::Result<bool> learn();

  // Finds what is named. For any thread, after learn() gave false.
  std::shared_ptr<const HashSieve> sieve() const { return sieve_; }

  // These stay, with all that they name. Hashes of other things are ignored.
  base::Result<void> keep(std::span<const base::Hash> named);

  // When everything was shown that names blobs. After an error it is over; begin another one.
  base::Result<GcProgress> remove();

 private:
  struct Statements {
    SqliteStatement next;       // to learn
    SqliteStatement find;       // the number of a blob
    SqliteStatement by_number;  // its hash
    SqliteStatement mark;
    SqliteStatement followed;
    SqliteStatement unfollowed;  // marks behind a number
    SqliteStatement add_edge;
    SqliteStatement edges;
    SqliteStatement unmarked;
    SqliteStatement remove;
  };
  enum class Stage : std::uint8_t { kLearns, kFollows, kRemoves, kOver };

  EffectGc(BlobStore& blobs, Statements statements, std::size_t most_waiting);

  base::Result<void> start(std::span<const base::Hash> pinned);
  base::Result<void> check() const;
  template <class Work>
  base::Result<void> in_piece(Work&& work);
  base::Result<bool> learn_piece();
  base::Result<void> learn_edge(std::int64_t number, base::ByteView bytes);
  base::Result<void> mark(std::int64_t number);
  base::Result<void> mark_named(base::ByteView bytes);
  base::Result<void> mark_all(std::span<const base::Hash> named);
  base::Result<void> follow_piece();
  base::Result<std::size_t> follow(std::int64_t number);
  base::Result<bool> find_unfollowed();
  base::Result<void> remove_piece();

  BlobStore& blobs_;
  Statements statements_;
  const std::size_t most_waiting_;
  const std::uint64_t collection_;
  std::shared_ptr<HashSieve> sieve_;
  Stage stage_ = Stage::kLearns;
  std::int64_t floor_ = 0;             // blobs above it were put since it began
  std::int64_t at_ = 0;                // of the stage: blobs up to here are done
  std::vector<std::int64_t> waiting_;  // marked, and to be followed
  bool has_overflowed_ = false;        // marks that did not fit in there since the last round
  GcProgress progress_;
};

// Gathers what many values name, so that it is kept in few transactions.
class EffectNames {
 public:
  // Keeps them: EffectGc::keep, wherever that is called.
  using Keep = std::function<base::Result<void>(std::span<const base::Hash> named)>;
  EffectNames(std::shared_ptr<const HashSieve> sieve, Keep keep)
      : sieve_(std::move(sieve)), keep_(std::move(keep)) {}

  base::Result<void> look_at(base::ByteView value);
  base::Result<void> flush();

 private:
  const std::shared_ptr<const HashSieve> sieve_;
  const Keep keep_;
  std::vector<base::Hash> found_;
};

}  // namespace holdfast::store
