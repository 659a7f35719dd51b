// SPDX-License-Identifier: Apache-2.0
// What the commands share that ask a world something: where, and how it ends.
#pragma once

#include <functional>

#include "cli/output.h"
#include "cli/world_source.h"

namespace holdfast::cli {

// What may succeed later has an exit code of its own.
[[nodiscard]] inline ExitCode refuse_or_retry(const base::Error& error) {
  const ExitCode refused = refuse(error);
  return error.code() == base::ErrorCode::kUnavailable ? ExitCode::kTryAgain : refused;
}

using Look = std::function<base::Result<ExitCode>(WorldSource& source, const Where& where)>;

[[nodiscard]] inline ExitCode look_at(const Where& said, const std::vector<Module>& modules,
                                      const Look& look) {
  const auto where = settle(said);
  if (!where) return misused(where.error().to_string());
  const auto source = source_at(*where, modules);
  if (!source) return refuse_or_retry(source.error());
  const auto looked = look(**source, *where);
  return looked ? *looked : refuse_or_retry(looked.error());
}

}  // namespace holdfast::cli
