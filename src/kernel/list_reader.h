// SPDX-License-Identifier: Apache-2.0
// ListReader: takes the elements of a canonical list one after another, and remembers whether all
// of them were as expected.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/cbor_writer.h"
#include "codec/view.h"

namespace holdfast::kernel {

// What optional_nat() reads.
inline void write_optional_nat(codec::Buffer& out, std::optional<std::uint64_t> value) {
  if (!value) return codec::write_null(out);
  codec::write_nat(out, *value);
}

class ListReader {
 public:
  explicit ListReader(codec::View list)
      : elements_(list.elements()),
        at_(elements_.begin()),
        good_(list.kind() == codec::ViewKind::kList) {}

  codec::View next() {
    if (at_ == elements_.end()) {
      good_ = false;
      return codec::View::of(kNothing);
    }
    const codec::View view = *at_;
    ++at_;
    return view;
  }
  bool boolean() { return take(next().boolean()); }
  std::uint64_t nat() { return take(next().nat()); }
  std::uint32_t nat32() {
    const std::uint64_t number = nat();
    good_ &= number <= UINT32_MAX;
    return static_cast<std::uint32_t>(number);
  }
  std::optional<std::uint64_t> optional_nat() {
    const codec::View view = next();
    if (view.is_null()) return std::nullopt;
    return take(view.nat());
  }
  std::string_view text() { return take(next().text()); }
  base::ByteView bytes() { return take(next().bytes()); }
  base::Hash hash() {
    const std::optional<base::Hash> hash = optional_hash();
    good_ &= hash.has_value();
    return hash.value_or(base::Hash());
  }
  // Empty bytes stand for none.
  std::optional<base::Hash> optional_hash() {
    const base::ByteView from = bytes();
    if (from.empty()) return std::nullopt;
    base::Hash hash;
    if (from.size() == hash.bytes.size()) {
      std::copy(from.begin(), from.end(), hash.bytes.begin());
    } else {
      good_ = false;
    }
    return hash;
  }
  // A number that stands for one of the values up to `last`.
  template <class Enum>
  Enum choice(Enum last) {
    const std::uint64_t number = nat();
    if (number <= static_cast<std::uint64_t>(last)) return static_cast<Enum>(number);
    good_ = false;
    return Enum{};
  }

  // What else has to be so.
  void require(bool good) noexcept { good_ &= good; }

  bool at_end() const noexcept { return at_ == elements_.end(); }
  bool good() const noexcept { return good_; }

  // Nothing was wrong, and nothing is left.
  bool done() const noexcept { return good_ && at_end(); }

 private:
  static constexpr std::uint8_t kNothing[1] = {codec::kNullByte};

  template <class T>
  T take(const std::optional<T>& value) {
    good_ &= value.has_value();
    return value.value_or(T{});
  }

  codec::View::Elements elements_;
  codec::View::Elements::Iterator at_;
  bool good_;
};

}  // namespace holdfast::kernel
