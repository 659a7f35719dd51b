// SPDX-License-Identifier: Apache-2.0
// View: looks inside a canonical value without copying it. It stands on one item; lists and maps
// give views of what they hold. It is for bytes that the normaliser has produced or a strict
// decode has accepted: other bytes stop the process at the first item that is not canonical CBOR.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bytes.h"

namespace holdfast::codec {

enum class ViewKind : std::uint8_t {
  kNull,
  kBool,
  kInt,
  kFloat,
  kBytes,
  kText,
  kList,
  kMap,
  kOther
};

class View {
 public:
  // A value that stands alone (with the self-describe tag), or a part of one (without).
  static View of(base::ByteView canonical) noexcept;

  ViewKind kind() const noexcept;
  bool is_null() const noexcept { return kind() == ViewKind::kNull; }

  // The scalar here, if it is of that kind and in that range.
  std::optional<bool> boolean() const noexcept;
  std::optional<std::uint64_t> nat() const noexcept;
  std::optional<std::int64_t> integer() const noexcept;
  std::optional<double> real() const noexcept;  // integers count as real numbers
  std::optional<std::string_view> text() const noexcept;
  std::optional<base::ByteView> bytes() const noexcept;

  // Entries of a list or a map; 0 for anything else.
  std::uint64_t size() const noexcept;

  // The value under a text key of a map.
  std::optional<View> find(std::string_view key) const noexcept;

  // This item's own bytes.
  base::ByteView encoded() const noexcept;

  class Elements;
  class Entries;
  Elements elements() const noexcept;  // of a list; none for anything else
  Entries entries() const noexcept;    // of a map; none for anything else

 private:
  View(const std::uint8_t* at, const std::uint8_t* end) noexcept : at_(at), end_(end) {}
  View next() const noexcept;

  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

class View::Elements {
 public:
  class Iterator {
   public:
    Iterator(View at, std::uint64_t left) noexcept : at_(at), left_(left) {}
    View operator*() const noexcept { return at_; }
    Iterator& operator++() noexcept {
      if (--left_ != 0) at_ = at_.next();
      return *this;
    }
    bool operator==(const Iterator& other) const noexcept { return left_ == other.left_; }

   private:
    View at_;
    std::uint64_t left_;
  };
  Elements(View first, std::uint64_t count) noexcept : first_(first), count_(count) {}
  Iterator begin() const noexcept { return {first_, count_}; }
  Iterator end() const noexcept { return {first_, 0}; }

 private:
  View first_;
  std::uint64_t count_;
};

class View::Entries {
 public:
  class Iterator {
   public:
    Iterator(View key, std::uint64_t left) noexcept : key_(key), left_(left) {}
    std::pair<View, View> operator*() const noexcept { return {key_, key_.next()}; }
    Iterator& operator++() noexcept {
      if (--left_ != 0) key_ = key_.next().next();
      return *this;
    }
    bool operator==(const Iterator& other) const noexcept { return left_ == other.left_; }

   private:
    View key_;
    std::uint64_t left_;
  };
  Entries(View first, std::uint64_t count) noexcept : first_(first), count_(count) {}
  Iterator begin() const noexcept { return {first_, count_}; }
  Iterator end() const noexcept { return {first_, 0}; }

 private:
  View first_;
  std::uint64_t count_;
};

}  // namespace holdfast::codec
