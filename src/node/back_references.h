// SPDX-License-Identifier: Apache-2.0
// BackReferences: follows a journal and checks that each record names, for every instance it
// touched, the record that touched it before. A timeline is a walk along these.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "base/hash.h"
#include "kernel/record_view.h"

namespace holdfast::node {

class BackReferences {
 public:
  // About 100 bytes of memory each.
  static constexpr std::size_t kMaxFollowed = 4'000'000;

  explicit BackReferences(std::uint64_t first_record) : first_record_(first_record) {}

  // Takes the next record. What is wrong with it, if anything is.
  std::optional<base::Error> follow(const kernel::RecordView& record);

  std::uint64_t followed() const noexcept { return last_.size(); }
  std::uint64_t unfollowed() const noexcept { return unfollowed_; }

 private:
  std::uint64_t first_record_;
  std::unordered_map<base::Hash, std::uint64_t, base::HashOfHash> last_;  // 0: it was deleted
  std::uint64_t unfollowed_ = 0;
};

}  // namespace holdfast::node
