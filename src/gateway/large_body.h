// SPDX-License-Identifier: Apache-2.0
// LargeBody: the body of an answer that is written in parts, as its reader takes them. JSON is made
// of its document part by part, so that what waits for a slow reader is the document, and not the
// several times as much that it comes to.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "codec/buffer.h"
#include "codec/json_writer.h"
#include "codec/view.h"

namespace holdfast::gateway {

class LargeBody {
 public:
  enum class Form : std::uint8_t { kBytes, kJsonOfCbor };

  LargeBody(codec::Buffer bytes, Form form) : bytes_(std::move(bytes)) {
    if (form == Form::kJsonOfCbor) json_.emplace(codec::View::of(bytes_.view()));
  }
  LargeBody(const LargeBody&) = delete;
  LargeBody& operator=(const LargeBody&) = delete;

  std::uint64_t size() const noexcept { return json_ ? json_->size() : bytes_.size(); }
  std::size_t in_memory() const noexcept { return bytes_.size(); }

  // The next part, in place of what is in `out`. False: it is the last.
  bool next(codec::Buffer& out, std::size_t about) {
    if (json_) return json_->next(out, about);
    const std::size_t end = std::min(bytes_.size(), at_ + about);
    out.clear();
    out.append(bytes_.view(at_, end));
    at_ = end;
    return at_ != bytes_.size();
  }

 private:
  codec::Buffer bytes_;
  std::optional<codec::JsonPieces> json_;
  std::size_t at_ = 0;
};

}  // namespace holdfast::gateway
