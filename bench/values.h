// SPDX-License-Identifier: Apache-2.0
// Values for a benchmark's ticks, out of JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/check.h"
#include "codec/normaliser.h"

namespace holdfast::bench {

// Canonical, without the self-describe tag.
inline base::Bytes value(std::string_view json) {
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_json(codec::Schema::any(), json);
  CHECK(made.has_value());
  return {made->begin(), made->end()};
}

// The event that places an order of the demo's shop.
inline base::Bytes order_placed(std::string_view id) {
  return value(R"({"id":")" + std::string(id) + R"(","sku":"mug","count":2,"cents":1990})");
}

}  // namespace holdfast::bench
