// SPDX-License-Identifier: Apache-2.0
// SealCheck: whether the records of a journal are those that were sealed. For verify; nothing is
// changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "node/seal.h"

namespace holdfast::node {

// What somebody knows from elsewhere, and holds the seals against.
struct SealTerms {
  std::optional<base::Ed25519Key> key = {};  // nothing else counts
  struct Remembered {
    store::RecordNumber record = 0;
    base::Hash hash;
  };
  std::optional<Remembered> seal = {};  // ends with that record
};

class SealCheck {
 public:
  // Without seals nothing is checked, unless the terms ask for some.
  SealCheck(store::SealsLook* seals, store::RecordNumber journal_first, const SealTerms& terms,
            base::Errors& errors);

  // Each record of the journal, in order.
  void check(const store::Record& record);
  void finish(store::RecordNumber journal_last, std::vector<std::string>& notes);

  std::uint64_t records() const noexcept { return records_; }                  // that are as sealed
  const std::optional<store::Seal>& last() const noexcept { return before_; }  // when finished

 private:
  void next_seal();
  bool is_good(const store::Seal& seal);
  void look_for_gaps(const store::Seal& seal);
  void compare_with_remembered(const store::Seal& seal);
  bool follows() const { return before_ && before_->last + 1 == seal_->first; }
  void wrong(std::string where, std::string why);

  store::SealsLook* seals_;
  store::RecordNumber journal_first_;
  SealTerms terms_;
  base::Errors& errors_;
  std::optional<store::Seal> before_;
  std::optional<store::Seal> seal_;  // that covers the next record, or comes behind it
  bool seal_is_good_ = false;
  std::optional<SealDraft> draft_;  // of its records so far
  std::optional<store::RecordNumber> begins_;
  std::optional<store::RecordNumber> straddles_;  // up to here nothing can be said
  bool is_remembered_ = false;
  std::uint64_t records_ = 0;
};

}  // namespace holdfast::node
