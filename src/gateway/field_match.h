// SPDX-License-Identifier: Apache-2.0
// FieldMatch: "state.sku=mug": what a member of an instance, as GET has it, must be. Texts are
// compared as they are, everything else as it is written in JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/view.h"

namespace holdfast::gateway {

class FieldMatch {
 public:
  // kInvalid: it is none.
  static base::Result<FieldMatch> parse(std::string_view text);

  // What put_instance writes.
  bool holds(codec::View instance) const;

 private:
  std::vector<std::string> path_;
  std::string value_;
};

}  // namespace holdfast::gateway
