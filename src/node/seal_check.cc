// SPDX-License-Identifier: Apache-2.0
#include "node/seal_check.h"

#include <algorithm>
#include <utility>

#include "base/hex.h"

namespace holdfast::node {
namespace {

std::string range_of(store::RecordNumber first, store::RecordNumber last) {
  if (first == last) return "record " + std::to_string(first);
  return "records " + std::to_string(first) + " to " + std::to_string(last);
}

}  // namespace

SealCheck::SealCheck(store::SealsLook* seals, store::RecordNumber journal_first,
                     std::optional<base::Ed25519Key> key, base::Errors& errors)
    : seals_(seals), journal_first_(journal_first), key_(std::move(key)), errors_(errors) {
  next_seal();
}

void SealCheck::wrong(std::string where, std::string why) {
  errors_.push_back(base::Error(base::ErrorCode::kCorrupt, std::move(where), std::move(why)));
}

void SealCheck::next_seal() {
  before_ = std::exchange(seal_, std::nullopt);
  draft_.reset();
  if (seals_ == nullptr) return;
  auto read = seals_->next();
  if (!read) {
    // What is behind it cannot be told either.
    errors_.push_back(std::move(read).error());
    seals_ = nullptr;
    return;
  }
  if (!*read) return;
  seal_ = std::move(**read);
  judge(*seal_);
}

// All that can be said of a seal without its records.
void SealCheck::judge(const store::Seal& seal) {
  const std::string name = "the seal of " + range_of(seal.first, seal.last);
  if (!is_signed(seal)) wrong(store::kSealsFile, name + " was not signed by the key that it names");
  if (key_ && seal.key != *key_)
    wrong(store::kSealsFile, name + " was signed by another key: " + base::to_hex(seal.key));
  last_key_ = seal.key;
  if (!begins_) begins_ = seal.first;
  const store::RecordNumber expected = before_ ? before_->last + 1 : seal.first;
  if (seal.first < expected) wrong(store::kSealsFile, name + " covers what is sealed already");
  // What was trimmed before it could be sealed is nobody's loss.
  if (seal.first > expected && seal.first > journal_first_) {
    wrong(range_of(std::max(expected, journal_first_), seal.first - 1),
          "is not sealed, but what is behind it is");
  }
}

void SealCheck::check(const store::Record& record) {
  while (seal_ && seal_->last < record.number) next_seal();
  if (!seal_ || record.number < seal_->first) return;
  if (record.number == seal_->first) {
    const bool follows = before_ && before_->last + 1 == seal_->first;
    draft_.emplace(follows ? before_->hash : base::Hash{}, seal_->first);
  }
  if (!draft_) return;  // its first records were trimmed
  draft_->add(record.bytes);
  if (record.number != seal_->last) return;
  if (draft_->hash() == seal_->hash) {
    records_ += draft_->records();
  } else {
    wrong(range_of(seal_->first, seal_->last), "not what was sealed");
  }
}

void SealCheck::finish(store::RecordNumber journal_last, std::vector<std::string>& notes) {
  while (seal_ && seal_->last <= journal_last) next_seal();
  if (seal_) {
    wrong("record " + std::to_string(seal_->last),
          "was sealed, but the journal ends with record " + std::to_string(journal_last));
    return;
  }
  if (key_ && !last_key_) wrong(store::kSealsFile, "has no seals, but a key was named");
  if (begins_ && *begins_ > journal_first_)
    notes.push_back("records are sealed from " + std::to_string(*begins_) + " on");
  const store::RecordNumber sealed = before_ ? before_->last : 0;
  if (last_key_ && sealed < journal_last && journal_last >= journal_first_) {
    notes.push_back("not sealed yet: " +
                    range_of(std::max(sealed + 1, journal_first_), journal_last));
  }
}

}  // namespace holdfast::node
