// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace holdfast::postgres {

// kInvalid, at that place: libpq cannot read the connection string.
base::Result<void> check_conninfo(const std::string& place, const std::string& conninfo);

}  // namespace holdfast::postgres
