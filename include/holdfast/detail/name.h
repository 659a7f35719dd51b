// SPDX-License-Identifier: Apache-2.0
// Names of definitions, namespace/Name@version, as far as the compiler can judge them.
#pragma once

#include <concepts>
#include <string_view>

namespace holdfast::detail {

// A type that has a name of its own: struct Placed { static constexpr std::string_view kSchema =
// "shop/Placed@1"; ... };
template <class T>
concept Named = requires {
  { T::kSchema } -> std::convertible_to<std::string_view>;
};

constexpr bool is_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::size_t at = name.rfind('@');
  if (slash == 0 || slash == name.npos || at == name.npos || at <= slash + 1) return false;
  if (at + 1 == name.size() || name[at + 1] == '0') return false;
  for (const char c : name.substr(at + 1)) {
    if (c < '0' || c > '9') return false;
  }
  for (const char c : name.substr(0, at)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '.' && c != '_' && c != '-' && c != '/')
      return false;
  }
  return name.find('/', slash + 1) == name.npos;
}

// The system's own definitions are in every world.
constexpr bool is_reserved(std::string_view name) { return name.substr(0, 4) == "sys/"; }

// "Placed" of "shop/Placed@1".
constexpr std::string_view short_name(std::string_view name) {
  name.remove_prefix(name.find('/') + 1);
  return name.substr(0, name.rfind('@'));
}

}  // namespace holdfast::detail
