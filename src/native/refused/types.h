// SPDX-License-Identifier: Apache-2.0
// What the refused programs share.
#pragma once

#include "holdfast/module.h"

struct Placed {
  static constexpr std::string_view kSchema = "shop/Placed@1";
  std::string id;
  std::uint64_t cents = 0;
};

struct Charge {
  static constexpr std::string_view kEffect = "shop/charge@1";
  static constexpr holdfast::Executor kExecutor = holdfast::worker("payments");
  struct Params {
    std::uint64_t cents = 0;
  };
  struct Receipt {};
};
