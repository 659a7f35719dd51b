// SPDX-License-Identifier: Apache-2.0
// The OpenAPI 3.1 document of the routes, made of their table.
#pragma once

#include <span>
#include <string>

#include "gateway/route.h"

namespace holdfast::gateway {

std::string openapi_of(std::span<const Route> routes);

}  // namespace holdfast::gateway
