// SPDX-License-Identifier: Apache-2.0
// What the disk under a folder can do by itself, so that a figure says how much of it is used.
#pragma once

#include <string>

#include "base/result.h"

namespace holdfast::cli {

struct DiskLimits {
  double sync_p50_us = 0;      // 4 KiB into bytes that were written before, made durable
  double append_mb_per_s = 0;  // 256 KiB at a time, each made durable
};

base::Result<DiskLimits> measure_disk(const std::string& folder);

}  // namespace holdfast::cli
