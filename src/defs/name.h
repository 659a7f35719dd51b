// SPDX-License-Identifier: Apache-2.0
// Names of definitions: namespace/name@version, such as com.acme/Order.placed@2. The namespace
// `sys` belongs to Holdfast.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::defs {

inline constexpr std::size_t kMaxNameBytes = 255;

// Definitions of one kind that a manifest lists, and its subscriptions.
inline constexpr std::size_t kMaxListed = 5'000;

// What is wrong with a name, or nothing.
std::optional<std::string> name_problem(std::string_view name);

bool is_reserved(std::string_view name) noexcept;

}  // namespace holdfast::defs
