// SPDX-License-Identifier: Apache-2.0
// Form<T>: how a C++ type looks as a value: its type expression, how it is written, how it is read.
// Here are the scalars and the containers; structs, enums and variants are in
// holdfast/detail/record.h. A type that has no form stops the compiler with a sentence.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/value.h"

namespace holdfast::detail {

template <class... Types>
struct TypeList {};

template <class T, class... Types>
inline constexpr bool kIsOneOf = (std::same_as<T, Types> || ...);

// The named types that were met while others were described.
struct Schemas {
  std::set<std::pair<std::string, std::string>> all;  // name and type expression
  std::set<const void*> seen;                         // by kTypeId
};

template <class T>
inline constexpr char kTypeId = 0;

// The engine's integers have 64 bits. A narrower field could not hold all that its schema admits.
template <class T>
concept SignedInteger = kIsOneOf<T, long, long long> && sizeof(T) == 8;
template <class T>
concept UnsignedInteger = kIsOneOf<T, unsigned long, unsigned long long> && sizeof(T) == 8;
template <class T>
concept NarrowInteger = std::integral<T> && !std::same_as<T, bool> && sizeof(T) < 8;

template <class T>
inline constexpr bool kHasNoForm = false;

template <class T>
struct Form {
  static_assert(
      kHasNoForm<T>,
      "holdfast: this type cannot be part of a value; use bool, std::int64_t, std::uint64_t, "
      "double, std::string, holdfast::Bytes, Time, Duration, Hash or Uuid, an enum class, "
      "a plain struct, or std::optional, std::vector, std::map<std::string, T>, "
      "std::variant of these");
  using Inner = TypeList<>;
  static std::string type(Schemas&) { return {}; }
  static void write(Writer&, const T&) {}
  static bool read(Reader&, T&) { return false; }
};

template <NarrowInteger T>
struct Form<T> {
  static_assert(kHasNoForm<T>,
                "holdfast: an integer in a value has 64 bits; use std::int64_t or std::uint64_t");
  using Inner = TypeList<>;
  static std::string type(Schemas&) { return {}; }
  static void write(Writer&, T) {}
  static bool read(Reader&, T&) { return false; }
};

template <>
struct Form<bool> {
  using Inner = TypeList<>;
  static std::string type(Schemas&) { return R"({"bool":{}})"; }
  static void write(Writer& out, bool value) { out.boolean(value); }
  static bool read(Reader& in, bool& value) { return in.boolean(value); }
};

template <UnsignedInteger T>
struct Form<T> {
  using Inner = TypeList<>;
  static std::string type(Schemas&) { return R"({"nat":{}})"; }
  static void write(Writer& out, T value) { out.nat(value); }
  static bool read(Reader& in, T& value) {
    std::uint64_t wide = 0;
    if (!in.nat(wide)) return false;
    value = wide;
    return true;
  }
};

template <SignedInteger T>
struct Form<T> {
  using Inner = TypeList<>;
  static std::string type(Schemas&) { return R"({"int":{}})"; }
  static void write(Writer& out, T value) { out.integer(value); }
  static bool read(Reader& in, T& value) {
    std::int64_t wide = 0;
    if (!in.integer(wide)) return false;
    value = wide;
    return true;
  }
};

template <>
struct Form<double> {
  using Inner = TypeList<>;
  static std::string type(Schemas&) { return R"({"float":{}})"; }
  static void write(Writer& out, double value) { out.real(value); }
  static bool read(Reader& in, double& value) { return in.real(value); }
};

template <>
struct Form<std::string> {
  using Inner = TypeList<>;
  static std::string type(Schemas&) { return R"({"text":{}})"; }
  static void write(Writer& out, const std::string& value) { out.text(value); }
  static bool read(Reader& in, std::string& value) {
    std::string_view text;
    if (!in.text(text)) return false;
    value.assign(text);
    return true;
  }
};

template <>
struct Form<Bytes> {
  using Inner = TypeList<>;
  static std::string type(Schemas&) { return R"({"bytes":{}})"; }
  static void write(Writer& out, const Bytes& value) { out.bytes(value); }
  static bool read(Reader& in, Bytes& value) {
    std::span<const std::uint8_t> bytes;
    if (!in.bytes(bytes)) return false;
    value.assign(bytes.begin(), bytes.end());
    return true;
  }
};

// The engine counts nanoseconds without a sign, until 2554; a Time has a sign and lasts until 2262.
// What is later is the last Time, and is written as that.
constexpr Time time_of(std::uint64_t ns) {
  constexpr auto kLast = static_cast<std::uint64_t>(Time::max().time_since_epoch().count());
  return Time(Duration(static_cast<std::int64_t>(ns < kLast ? ns : kLast)));
}

// A time before 1970 is written as it is, and refused by the engine: it does not fit the schema.
template <>
struct Form<Time> {
  using Inner = TypeList<>;
  static std::string type(Schemas&) { return R"({"time":{}})"; }
  static void write(Writer& out, Time value) { out.integer(value.time_since_epoch().count()); }
  static bool read(Reader& in, Time& value) {
    std::uint64_t count = 0;
    if (!in.nat(count)) return false;
    value = time_of(count);
    return true;
  }
};

template <>
struct Form<Duration> {
  using Inner = TypeList<>;
  static std::string type(Schemas&) { return R"({"duration":{}})"; }
  static void write(Writer& out, Duration value) { out.integer(value.count()); }
  static bool read(Reader& in, Duration& value) {
    std::int64_t count = 0;
    if (!in.integer(count)) return false;
    value = Duration(count);
    return true;
  }
};

template <>
struct Form<Hash> {
  using Inner = TypeList<>;
  static std::string type(Schemas&) { return R"({"hash":{}})"; }
  static void write(Writer& out, const Hash& value) { out.hash(value); }
  static bool read(Reader& in, Hash& value) { return in.hash(value); }
};

template <>
struct Form<Uuid> {
  using Inner = TypeList<>;
  static std::string type(Schemas&) { return R"({"uuid":{}})"; }
  static void write(Writer& out, const Uuid& value) { out.uuid(value); }
  static bool read(Reader& in, Uuid& value) { return in.uuid(value); }
};

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
struct Form<std::optional<T>> {
  static_assert(!kIsOptional<T>, "holdfast: an optional of an optional has two ways to be empty");
  using Inner = TypeList<T>;
  static std::string type(Schemas& schemas) {
    return R"({"option":)" + Form<T>::type(schemas) + "}";
  }
  static void write(Writer& out, const std::optional<T>& value) {
    if (value) return Form<T>::write(out, *value);
    out.null();
  }
  static bool read(Reader& in, std::optional<T>& value) {
    value.reset();
    return in.null() || Form<T>::read(in, value.emplace());
  }
};

template <class T>
struct Form<std::vector<T>> {
  using Inner = TypeList<T>;
  static std::string type(Schemas& schemas) { return R"({"list":)" + Form<T>::type(schemas) + "}"; }
  static void write(Writer& out, const std::vector<T>& value) {
    out.list(value.size());
    for (const T& element : value) Form<T>::write(out, element);
  }
  static bool read(Reader& in, std::vector<T>& value) {
    std::uint64_t count = 0;
    if (!in.list(count)) return false;
    value.clear();
    value.reserve(count);
    for (; count != 0; --count) {
      T element{};
      if (!Form<T>::read(in, element)) return false;
      value.push_back(std::move(element));
    }
    return true;
  }
};

// Written in the order of the map; the engine brings the keys into theirs.
template <class T>
struct Form<std::map<std::string, T>> {
  using Inner = TypeList<T>;
  static std::string type(Schemas& schemas) {
    return R"({"map":{"key":{"text":{}},"value":)" + Form<T>::type(schemas) + "}}";
  }
  static void write(Writer& out, const std::map<std::string, T>& value) {
    out.map(value.size());
    for (const auto& [key, element] : value) {
      out.text(key);
      Form<T>::write(out, element);
    }
  }
  static bool read(Reader& in, std::map<std::string, T>& value) {
    std::uint64_t count = 0;
    if (!in.map(count)) return false;
    value.clear();
    for (; count != 0; --count) {
      std::string_view key;
      if (!in.text(key) || !Form<T>::read(in, value[std::string(key)])) return false;
    }
    return true;
  }
};

}  // namespace holdfast::detail
