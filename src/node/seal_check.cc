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

std::string name_of_seal(const store::Seal& seal) {
  return "the seal of " + range_of(seal.first, seal.last);
}

}  // namespace

SealCheck::SealCheck(store::SealsLook* seals, store::RecordNumber journal_first,
                     const SealTerms& terms, base::Errors& errors)
    : seals_(seals), journal_first_(journal_first), terms_(terms), errors_(errors) {
  next_seal();
}

void SealCheck::wrong(std::string where, std::string why) {
  errors_.push_back(base::Error(base::ErrorCode::kCorrupt, std::move(where), std::move(why)));
}

void SealCheck::next_seal() {
  if (seal_) before_ = std::exchange(seal_, std::nullopt);
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
  seal_is_good_ = is_good(*seal_);
  look_for_gaps(*seal_);
  compare_with_remembered(*seal_);
  if (!begins_) begins_ = seal_->first;
  if (seal_->first < journal_first_ && seal_->last >= journal_first_) straddles_ = seal_->last;
}

// All that can be said of a seal without its records.
bool SealCheck::is_good(const store::Seal& seal) {
  const std::size_t before = errors_.reported();
  if (!is_signed(seal, seals_->world(), seals_->restored()))
    wrong(store::kSealsFile, name_of_seal(seal) + " was not signed by the key that it names" +
                                 (seals_->restored().empty() ? "" : ", in this life of the world"));
  if (terms_.key && seal.key != *terms_.key)
    wrong(store::kSealsFile,
          name_of_seal(seal) + " was signed by another key: " + base::to_hex(seal.key));
  if (before_ && seal.key != before_->key)
    wrong(store::kSealsFile, name_of_seal(seal) + " names another key than the one before");
  return errors_.reported() == before;
}

void SealCheck::look_for_gaps(const store::Seal& seal) {
  const store::RecordNumber expected = before_ ? before_->last + 1 : seal.first;
  if (seal.first < expected)
    wrong(store::kSealsFile, name_of_seal(seal) + " covers what is sealed already");
  // What was trimmed before it could be sealed is nobody's loss.
  if (seal.first > expected && seal.first > journal_first_) {
    wrong(range_of(std::max(expected, journal_first_), seal.first - 1),
          "not sealed, but later records are");
  }
}

void SealCheck::compare_with_remembered(const store::Seal& seal) {
  if (!terms_.seal || terms_.seal->record != seal.last) return;
  is_remembered_ = true;
  if (terms_.seal->hash != seal.hash)
    wrong(store::kSealsFile, name_of_seal(seal) + " is not the one that is remembered");
}

void SealCheck::check(const store::Record& record) {
  while (seal_ && seal_->last < record.number) next_seal();
  if (!seal_ || record.number < seal_->first) return;
  if (record.number == seal_->first)
    draft_.emplace(follows() ? before_->hash : base::Hash{}, seal_->first);
  if (!draft_) return;  // see straddles_
  draft_->add(record.bytes);
  if (record.number != seal_->last) return;
  if (draft_->hash() != seal_->hash) {
    wrong(range_of(seal_->first, seal_->last), "not what was sealed");
  } else if (seal_is_good_) {
    records_ += draft_->records();
  }
}

void SealCheck::finish(store::RecordNumber journal_last, std::vector<std::string>& notes) {
  while (seal_ && seal_->last <= journal_last) next_seal();
  if (seal_) {
    wrong("record " + std::to_string(seal_->last),
          "was sealed, but the journal ends with record " + std::to_string(journal_last));
    next_seal();
  }
  if (terms_.key && !before_) wrong(store::kSealsFile, "has no seals, but a key was named");
  if (terms_.seal && !is_remembered_) {
    wrong(store::kSealsFile, "has no seal that ends with record " +
                                 std::to_string(terms_.seal->record) + ", but one is remembered");
  }
  if (!before_) return;
  if (*begins_ > journal_first_)
    notes.push_back("records are sealed from " + std::to_string(*begins_) + " on");
  if (straddles_) {
    notes.push_back(range_of(journal_first_, *straddles_) +
                    " cannot be held against a seal: it covers records that were trimmed, too");
  }
  if (before_->last < journal_last) {
    notes.push_back("not sealed yet: " +
                    range_of(std::max(before_->last + 1, journal_first_), journal_last));
  }
}

}  // namespace holdfast::node
