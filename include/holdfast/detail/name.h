// SPDX-License-Identifier: Apache-2.0
// Names of definitions, namespace/Name@version, by the rules of the engine (defs/name.h).
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>

namespace holdfast::detail {

// A type that has a name of its own: struct Placed { static constexpr std::string_view kSchema =
// "shop/Placed@1"; ... };
template <class T>
concept Named = requires {
  { T::kSchema } -> std::convertible_to<std::string_view>;
};

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_mark(char c) { return c == '.' || c == '_' || c == '-'; }

// Letters, digits and marks, a letter first.
constexpr bool is_word(std::string_view text, bool may_have_upper) {
  if (text.empty() || is_digit(text.front()) || is_mark(text.front())) return false;
  for (const char c : text) {
    if (!is_lower(c) && !is_digit(c) && !is_mark(c) && !(may_have_upper && is_upper(c)))
      return false;
  }
  return true;
}

// A whole number from 1 that fits 32 bits.
constexpr bool is_version(std::string_view text) {
  if (text.empty() || text.size() > 10 || text.front() == '0') return false;
  std::uint64_t number = 0;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number <= 0xffffffff;
}

constexpr bool is_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::size_t at = name.rfind('@');
  if (name.size() > 255 || slash == name.npos || at == name.npos || at < slash) return false;
  return is_word(name.substr(0, slash), false) &&
         is_word(name.substr(slash + 1, at - slash - 1), true) && is_version(name.substr(at + 1));
}

// The system's own definitions are in every world.
constexpr bool is_reserved(std::string_view name) { return name.substr(0, 4) == "sys/"; }

// The system's schemas of what comes back from effects.
inline constexpr std::string_view kReceiptEnvelope = "sys/EffectReceiptEnvelope@1";
inline constexpr std::string_view kReceiptRejected = "sys/EffectReceiptRejected@1";
inline constexpr std::string_view kStreamFrame = "sys/EffectStreamFrame@1";

// "Placed" of "shop/Placed@1".
constexpr std::string_view short_name(std::string_view name) {
  name.remove_prefix(name.find('/') + 1);
  return name.substr(0, name.rfind('@'));
}

// A name as it stands in a value: its bytes behind the head of a CBOR text. They are part of the
// program, so that writing and reading a field spends nothing on its name.
template <const std::string_view& Name>
inline constexpr auto kEncodedName = [] {
  static_assert(Name.size() < 256, "holdfast: a name has at most 255 bytes");
  constexpr std::size_t kHead = Name.size() < 24 ? 1 : 2;
  std::array<std::uint8_t, kHead + Name.size()> encoded{};
  encoded[0] = static_cast<std::uint8_t>(kHead == 1 ? 0x60 + Name.size() : 0x78);
  if (kHead == 2) encoded[1] = static_cast<std::uint8_t>(Name.size());
  for (std::size_t i = 0; i < Name.size(); ++i)
    encoded[kHead + i] = static_cast<std::uint8_t>(Name[i]);
  return encoded;
}();

inline constexpr std::string_view kTagName = "$tag";
inline constexpr std::string_view kValueName = "$value";
inline constexpr const auto& kTag = kEncodedName<kTagName>;
inline constexpr const auto& kValue = kEncodedName<kValueName>;

}  // namespace holdfast::detail
