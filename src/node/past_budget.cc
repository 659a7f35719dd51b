// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "node/past_world.h"

namespace holdfast::node {

base::Error PastBudget::over(base::Error error) {
  is_over_ = true;
  return error;
}

base::Result<void> PastBudget::ask() {
  if (!limits_.goes_on) return {};
  auto goes_on = limits_.goes_on();
  if (!goes_on) return over(std::move(goes_on).error());
  return {};
}

base::Result<void> PastBudget::check_way(std::uint64_t records) {
  if (records <= limits_.records - records_) return {};
  const std::string count = std::to_string(records);
  const std::string most = std::to_string(limits_.records);
  return over({base::ErrorCode::kTooLarge,
               records_ == 0
                   ? "the nearest snapshot is " + count + " records before it; at most " + most +
                         " are replayed"
                   : count + " records are left to replay behind " + std::to_string(records_) +
                         " that were; at most " + most + " are replayed"});
}

base::Result<void> PastBudget::take_record(std::size_t bytes, std::uint64_t held) {
  TRY(check_way(1));
  ++records_;
  return take_bytes(bytes, held);
}

base::Result<void> PastBudget::take_bytes(std::size_t bytes, std::uint64_t held) {
  bytes_ += bytes;
  if (bytes_ + held <= limits_.bytes) return {};
  return over(
      {base::ErrorCode::kTooLarge, "more than " + std::to_string(limits_.bytes) +
                                       " bytes of records and blobs would have to be read again"});
}

}  // namespace holdfast::node
