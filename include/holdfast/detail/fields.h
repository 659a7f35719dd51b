// SPDX-License-Identifier: Apache-2.0
// The fields of a plain struct, and the names of a scoped enum, at compile time and without a
// macro. Fields are counted by asking how many values the braces take, reached by structured
// bindings, and named by what the compiler prints for a pointer to them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace holdfast::detail {

inline constexpr std::size_t kMaxFields = 20;
inline constexpr std::size_t kMaxEnumerators = 64;

// Becomes whatever a field wants. It is never run: only whether it would compile is asked.
struct AnyField {
  template <class T>
  operator T() const {  // NOLINT(google-explicit-constructor)
    return T();
  }
};

template <class T, std::size_t... I>
consteval bool takes(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyField())...}; };
}

// One more than the limit is as far as it counts.
template <class T, std::size_t Count = 0>
consteval std::size_t count_fields() {
  if constexpr (Count <= kMaxFields && takes<T>(std::make_index_sequence<Count + 1>())) {
    return count_fields<T, Count + 1>();
  } else {
    return Count;
  }
}

template <class T>
inline constexpr std::size_t kFieldCount = count_fields<std::remove_const_t<T>>();

// References to all fields, in the order of their declaration.
// clang-format off
template <class T>
constexpr auto fields_of(T& record) {
  constexpr std::size_t count = kFieldCount<T>;
  static_assert(count <= kMaxFields, "holdfast: a struct has at most 20 fields; put some of them into structs of their own");
  if constexpr (count == 0) { static_cast<void>(record); return std::tuple<>(); }
  else if constexpr (count == 1) { auto& [a] = record; return std::tie(a); }
  else if constexpr (count == 2) { auto& [a, b] = record; return std::tie(a, b); }
  else if constexpr (count == 3) { auto& [a, b, c] = record; return std::tie(a, b, c); }
  else if constexpr (count == 4) { auto& [a, b, c, d] = record; return std::tie(a, b, c, d); }
  else if constexpr (count == 5) { auto& [a, b, c, d, e] = record; return std::tie(a, b, c, d, e); }
  else if constexpr (count == 6) { auto& [a, b, c, d, e, f] = record; return std::tie(a, b, c, d, e, f); }
  else if constexpr (count == 7) { auto& [a, b, c, d, e, f, g] = record; return std::tie(a, b, c, d, e, f, g); }
  else if constexpr (count == 8) { auto& [a, b, c, d, e, f, g, h] = record; return std::tie(a, b, c, d, e, f, g, h); }
  else if constexpr (count == 9) { auto& [a, b, c, d, e, f, g, h, i] = record; return std::tie(a, b, c, d, e, f, g, h, i); }
  else if constexpr (count == 10) { auto& [a, b, c, d, e, f, g, h, i, j] = record; return std::tie(a, b, c, d, e, f, g, h, i, j); }
  else if constexpr (count == 11) { auto& [a, b, c, d, e, f, g, h, i, j, k] = record; return std::tie(a, b, c, d, e, f, g, h, i, j, k); }
  else if constexpr (count == 12) { auto& [a, b, c, d, e, f, g, h, i, j, k, l] = record; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l); }
  else if constexpr (count == 13) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = record; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m); }
  else if constexpr (count == 14) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = record; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n); }
  else if constexpr (count == 15) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = record; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o); }
  else if constexpr (count == 16) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = record; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p); }
  else if constexpr (count == 17) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = record; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q); }
  else if constexpr (count == 18) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = record; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r); }
  else if constexpr (count == 19) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = record; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s); }
  else if constexpr (count == 20) { auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = record; return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t); }
}
// clang-format on

template <class T>
using FieldTuple = decltype(fields_of(std::declval<T&>()));

template <class T, std::size_t I>
using FieldType = std::remove_cvref_t<std::tuple_element_t<I, FieldTuple<T>>>;

// clang 14 takes a pointer into an object as a template argument only inside a struct.
template <class Pointer>
struct Place {
  Pointer pointer;
};
template <class Pointer>
Place(Pointer) -> Place<Pointer>;

// `auto`, because gcc would print what the name of a return type stands for behind the argument.
template <Place P>
consteval auto print_place() {
  return std::string_view(__PRETTY_FUNCTION__);
}

template <auto V>
consteval auto print_value() {
  return std::string_view(__PRETTY_FUNCTION__);
}

consteval bool is_identifier_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Both compilers print the argument last, with closing brackets behind it.
consteval std::string_view last_identifier(std::string_view printed) {
  std::size_t end = printed.size();
  while (end != 0 && !is_identifier_char(printed[end - 1])) --end;
  std::size_t begin = end;
  while (begin != 0 && is_identifier_char(printed[begin - 1])) --begin;
  return printed.substr(begin, end - begin);
}

#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wundefined-internal"
#pragma GCC diagnostic ignored "-Wundefined-var-template"
#endif

// A T that has an address and nothing else: declared, never defined, looked at only while
// compiling.
template <class T>
struct Specimen {
  T value;
};
template <class T>
extern const Specimen<T> kSpecimen;

template <class T, std::size_t I>
inline constexpr std::string_view kFieldName =
    last_identifier(print_place<Place{&std::get<I>(fields_of(kSpecimen<T>.value))}>());

#pragma GCC diagnostic pop

template <auto Member>
inline constexpr std::string_view kMemberName = last_identifier(print_value<Member>());

// The name of an enumerator; a number, which no name begins with, where there is none.
template <auto V>
inline constexpr std::string_view kEnumeratorName = last_identifier(print_value<V>());

template <class Enum>
consteval auto enumerator_names() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<std::string_view, kMaxEnumerators>{kEnumeratorName<static_cast<Enum>(I)>...};
  }
  (std::make_index_sequence<kMaxEnumerators>());
}

// By value; empty where the enum has no such value.
template <class Enum>
inline constexpr auto kEnumerators = [] {
  auto names = enumerator_names<Enum>();
  for (std::string_view& name : names) {
    if (name.empty() || (name.front() >= '0' && name.front() <= '9')) name = {};
  }
  return names;
}();

}  // namespace holdfast::detail
