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

class SealCheck {
 public:
  // Without seals nothing is checked. With a key, only what it has signed counts.
  SealCheck(store::SealsLook* seals, store::RecordNumber journal_first,
            std::optional<base::Ed25519Key> key, base::Errors& errors);

  // Each record of the journal, in order.
  void check(const store::Record& record);
  void finish(store::RecordNumber journal_last, std::vector<std::string>& notes);

  std::uint64_t records() const noexcept { return records_; }  // that were sealed as they are
  const std::optional<base::Ed25519Key>& key() const noexcept { return last_key_; }

 private:
  void next_seal();
  void judge(const store::Seal& seal);
  void wrong(std::string where, std::string why);

  store::SealsLook* seals_;
  store::RecordNumber journal_first_;
  std::optional<base::Ed25519Key> key_;
  base::Errors& errors_;
  std::optional<store::Seal> before_;
  std::optional<store::Seal> seal_;  // that covers the next record, or comes behind it
  std::optional<SealDraft> draft_;   // of its records so far
  std::optional<base::Ed25519Key> last_key_;
  std::optional<store::RecordNumber> begins_;
  std::uint64_t records_ = 0;
};

}  // namespace holdfast::node
