// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <sys/random.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/hex.h"

namespace holdfast::base {
namespace {

constexpr std::string_view kPrefix = "sha256:";

struct ProcessKey {
  std::uint64_t a;
  std::uint64_t b;
};

const ProcessKey& process_key() noexcept {
  static const ProcessKey key = [] {
    ProcessKey random;
    CHECK(getrandom(&random, sizeof random, 0) == sizeof random);
    return random;
  }();
  return key;
}

// The two halves of the product together: every bit of both goes into every bit.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

std::string Hash::to_text() const { return std::string(kPrefix) + to_hex(bytes); }

Result<Hash> Hash::parse(std::string_view text) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'F'; };
  Hash hash;
  if (!text.starts_with(kPrefix) || !hex_decode(text.substr(kPrefix.size()), hash.bytes) ||
      std::any_of(text.begin(), text.end(), is_upper)) {
    return Error(ErrorCode::kInvalid, "is not 'sha256:' and 64 lower-case hex digits");
  }
  return hash;
}

std::size_t HashOfHash::operator()(const Hash& hash) const noexcept {
  const ProcessKey& key = process_key();
  std::uint64_t a;
  std::uint64_t b;
  std::memcpy(&a, hash.bytes.data(), sizeof a);
  std::memcpy(&b, hash.bytes.data() + sizeof a, sizeof b);
  return mix(a ^ key.a, b ^ key.b);
}

std::size_t HashOfText::operator()(std::string_view text) const noexcept {
  const ProcessKey& key = process_key();
  std::uint64_t hash = key.a ^ text.size();
  const auto add = [&](const char* at, std::size_t size) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, size);
    hash = mix(hash ^ word, key.b);
  };
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const char* at = text.data();
  if (text.size() < kWord) {
    if (!text.empty()) add(at, text.size());
    return hash;
  }
  // The last word overlaps the one before it.
  const char* const last = at + text.size() - kWord;
  for (; at < last; at += kWord) add(at, kWord);
  add(last, kWord);
  return hash;
}

}  // namespace holdfast::base
