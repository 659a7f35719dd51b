// SPDX-License-Identifier: Apache-2.0
// Whether values of a type have a field, by its name; dotted, if it is inside another.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "holdfast/detail/record.h"

namespace holdfast::detail {

template <class T>
struct FieldPath {
  static bool has(std::string_view path) {
    if constexpr (Record<T>) {
      const std::size_t dot = path.find('.');
      const std::string_view rest = dot == path.npos ? "" : path.substr(dot + 1);
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return (has_in<I>(path.substr(0, dot), rest) || ...);
      }
      (std::make_index_sequence<kFieldCount<T>>());
    } else {
      return false;
    }
  }

 private:
  template <std::size_t I>
  static bool has_in(std::string_view name, std::string_view rest) {
    if (name != kFieldName<T, I>) return false;
    return rest.empty() || FieldPath<FieldType<T, I>>::has(rest);
  }
};

template <class T>
struct FieldPath<std::optional<T>> : FieldPath<T> {};

// Any key may be in one.
template <class T>
struct FieldPath<std::map<std::string, T>> {
  static bool has(std::string_view path) {
    const std::size_t dot = path.find('.');
    return dot == path.npos || FieldPath<T>::has(path.substr(dot + 1));
  }
};

// As they are written: {"$tag": name, "$value": what it holds}.
template <class... Arms>
struct FieldPath<std::variant<Arms...>> {
  static bool has(std::string_view path) {
    constexpr std::string_view kValueOf = "$value.";
    if (path == "$tag" || path == "$value") return true;
    return path.starts_with(kValueOf) &&
           (FieldPath<Arms>::has(path.substr(kValueOf.size())) || ...);
  }
};
template <ScopedEnum T>
struct FieldPath<T> {
  static bool has(std::string_view path) { return path == "$tag"; }
};

}  // namespace holdfast::detail
