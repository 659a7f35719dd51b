// SPDX-License-Identifier: Apache-2.0
// A response as it comes in, within limits, and the receipt that is made of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "executors/effect_blobs.h"
#include "executors/receipt.h"
#include "executors/secret.h"

namespace holdfast::executors {

class HttpResponse {
 public:
  explicit HttpResponse(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // False: that is too much.
  bool add_header_line(std::string_view line);
  bool add_body(std::string_view piece);
  bool is_too_large() const noexcept { return too_large_; }

  // Hides the secrets, in case the server says again what it was told.
  void hide(const std::vector<Secret>& secrets);

  struct Times {
    std::uint64_t start_ns;
    std::uint64_t end_ns;
  };
  Receipt receipt(long status, const Times& times) const;

  // The body becomes a blob, which is durable when this returns.
  Receipt receipt_by_blob(long status, const Times& times, EffectBlobs& blobs) const;

 private:
  void write_head(codec::Buffer& out, long status, const Times& times) const;

  const std::size_t most_bytes_;
  std::map<std::string, std::string> headers_;  // names in lower case
  std::size_t header_bytes_ = 0;
  std::string body_;
  bool too_large_ = false;
};

}  // namespace holdfast::executors
