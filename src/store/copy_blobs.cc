// SPDX-License-Identifier: Apache-2.0
#include "store/copy_blobs.h"

#include <cstdint>
#include <utility>

namespace holdfast::store {
namespace {

constexpr std::size_t kBlobsPerTransaction = 10'000;

// A page that leads to many others may be damaged: after so many numbers nothing is expected.
constexpr std::uint64_t kMostUnreadable = 100'000;

}  // namespace

base::Result<void> copy_reachable(const BlobsFrom& from, BlobStore& to, const BlobShapes& shapes,
                                  const BlobReference& root) {
  static_cast<void>(to.new_collection());  // the marks are ours now
  BlobMarks marks = TRY(BlobMarks::open(to));
  TRY(to.transact([&] { return marks.clear(); }));
  std::vector<BlobReference> waiting = {root};
  const auto copy_next = [&]() -> base::Result<void> {
    const BlobReference next = waiting.back();
    waiting.pop_back();
    auto found = from(next.hash);
    // Whatever it is that the old file cannot do says nothing of the new one.
    if (!found && found.error().code() != base::ErrorCode::kNotFound) {
      return base::Error(base::ErrorCode::kCorrupt, found.error().where(), found.error().message());
    }
    const base::Bytes bytes = TRY(std::move(found));
    TRY(to.put(bytes));
    const bool is_new = TRY(marks.add(next));
    if (!is_new || next.kind == BlobReference::kPlain) return {};
    auto named = shapes.references_of(next.kind, bytes);
    if (!named) return std::move(named).error().within(next.hash.to_text());
    waiting.insert(waiting.end(), named->begin(), named->end());
    return {};
  };
  while (!waiting.empty()) {
    TRY(to.transact([&]() -> base::Result<void> {
      for (std::size_t i = 0; i < kBlobsPerTransaction && !waiting.empty(); ++i) TRY(copy_next());
      return {};
    }));
  }
  return to.transact([&] { return marks.clear(); });
}

// One number after the other: a damaged page loses the blobs on it, and no others. What the file
// says of its last number is not asked for, as that may be damaged as well.
base::Result<std::uint64_t> copy_all_blobs(BlobsLook& from, BlobStore& to, const LostBlob& lost) {
  std::uint64_t copied = 0;
  std::uint64_t number = 0;
  std::uint64_t unreadable = 0;  // numbers in a row
  bool is_over = false;
  const auto copy_next = [&]() -> base::Result<void> {
    const auto next = from.number_after(number);
    is_over = next && !*next;
    if (is_over) return {};
    number = next ? **next : number + 1;
    auto bytes = from.numbered(number);
    if (bytes) {
      unreadable = 0;
      ++copied;
      TRY(to.put(*bytes));
      return {};
    }
    if (bytes.error().code() == base::ErrorCode::kNotFound) return {};
    is_over = ++unreadable >= kMostUnreadable || number == UINT64_MAX;
    return lost(number, bytes.error());
  };
  while (!is_over) {
    TRY(to.transact([&]() -> base::Result<void> {
      for (std::size_t i = 0; i < kBlobsPerTransaction && !is_over; ++i) TRY(copy_next());
      return {};
    }));
  }
  return copied;
}

}  // namespace holdfast::store
