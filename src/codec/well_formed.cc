// SPDX-License-Identifier: Apache-2.0
#include "codec/well_formed.h"

#include "codec/cbor_head.h"

namespace holdfast::codec {

bool is_well_formed(base::ByteView bytes) noexcept {
  if (bytes.size() <= sizeof kSelfDescribe ||
      std::memcmp(bytes.data(), kSelfDescribe, sizeof kSelfDescribe) != 0)
    return false;
  base::ByteView rest = bytes.subspan(sizeof kSelfDescribe);
  // Each item takes at least a byte, so more items than bytes cannot follow; nothing overflows.
  for (std::uint64_t left = 1; left != 0; --left) {
    if (left > rest.size()) return false;
    const auto major = static_cast<Major>(rest[0] >> 5);
    const std::uint8_t info = rest[0] & 0x1f;
    rest = rest.subspan(1);
    std::uint64_t number = info;
    if (info >= kOneByte) {
      if (info > kEightBytes) return false;
      const std::size_t size = std::size_t{1} << (info - kOneByte);
      if (rest.size() < size) return false;
      number = load_big_endian(rest.data(), size);
      rest = rest.subspan(size);
    }
    switch (major) {
      case Major::kBytes:
      case Major::kText:
        if (number > rest.size()) return false;
        rest = rest.subspan(static_cast<std::size_t>(number));
        break;
      case Major::kList:
      case Major::kMap:
        if (number > rest.size()) return false;
        left += major == Major::kMap ? 2 * number : number;
        break;
      case Major::kTag: ++left; break;
      case Major::kNat:
      case Major::kNegative:
      case Major::kSimple: break;
    }
  }
  return rest.empty();
}

}  // namespace holdfast::codec
