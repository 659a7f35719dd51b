// SPDX-License-Identifier: Apache-2.0
// What a body is, by its Content-Type. A route takes a few types and no others: a page of another
// origin cannot send these without asking the browser first.
#pragma once

#include <optional>
#include <string_view>

#include "gateway/envelope.h"
#include "gateway/request.h"

namespace holdfast::gateway {

enum class Media : std::uint8_t { kJson, kCbor, kCloudEventJson, kOther };

// Without parameters, in any case. No body and no type: JSON.
Media media_of(const Request& request) noexcept;

// For routes that take a document; nothing: it is of another type.
std::optional<Form> form_of(const Request& request) noexcept;

}  // namespace holdfast::gateway
