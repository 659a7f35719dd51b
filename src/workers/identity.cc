// SPDX-License-Identifier: Apache-2.0
#include "workers/identity.h"

#include <algorithm>

#include "base/sha256.h"

namespace holdfast::workers {
namespace {

// With what it is for in front, and lengths, so that no two uses hash the same bytes.
base::Hash hash_of(std::string_view use, std::initializer_list<std::string_view> parts) {
  std::string bytes(use);
  for (const std::string_view part : parts)
    bytes.append(1, '\0').append(std::to_string(part.size())).append(1, ':').append(part);
  return base::sha256(base::as_bytes(bytes));
}

}  // namespace

std::string worker_id(std::string_view node, std::string_view name, std::string_view secret) {
  constexpr std::size_t kPrefix = sizeof "sha256:" - 1;
  return "w-" + hash_of("holdfast worker", {node, name, secret}).to_text().substr(kPrefix, 32);
}

base::Hash secret_hash(std::string_view secret) {
  return hash_of("holdfast worker secret", {secret});
}

bool is_secret(std::string_view text) noexcept {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool same_hash(const base::Hash& a, const base::Hash& b) noexcept {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i)
    difference |= a.bytes[i] ^ unsigned { b.bytes[i] };
  return difference == 0;
}

}  // namespace holdfast::workers
