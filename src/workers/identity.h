// SPDX-License-Identifier: Apache-2.0
// Who a worker is. The worker makes its secret and stores it before it enrols; the server has only
// a hash. The id follows from node, name and secret, so an enrolment whose answer was lost is
// simply sent again.
#pragma once

#include <string>
#include <string_view>

#include "base/hash.h"

namespace holdfast::workers {

// "w-" and 32 hexadecimal digits.
std::string worker_id(std::string_view node, std::string_view name, std::string_view secret);

// What the world keeps of a secret.
base::Hash secret_hash(std::string_view secret);

// 64 lower-case hexadecimal digits.
bool is_secret(std::string_view text) noexcept;

// Takes the same time wherever they differ.
bool same_hash(const base::Hash& a, const base::Hash& b) noexcept;

}  // namespace holdfast::workers
