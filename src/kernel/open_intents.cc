// SPDX-License-Identifier: Apache-2.0
#include "kernel/open_intents.h"

#include <cstring>
#include <utility>

#include "base/check.h"

namespace holdfast::kernel {

Intent::Intent(std::uint32_t workflow, std::uint32_t effect, std::uint64_t opened_at,
               std::uint64_t opened_ns, base::ByteView key, base::ByteView params,
               std::string_view issuer_ref)
    : workflow_(workflow),
      effect_(effect),
      opened_at_(opened_at),
      opened_ns_(opened_ns),
      key_size_(static_cast<std::uint32_t>(key.size())),
      params_size_(static_cast<std::uint32_t>(params.size())),
      issuer_size_(static_cast<std::uint32_t>(issuer_ref.size())),
      block_(new std::uint8_t[key.size() + params.size() + issuer_ref.size()]) {
  std::uint8_t* at = block_.get();
  for (const base::ByteView part : {key, params, base::as_bytes(issuer_ref)}) {
    if (!part.empty()) std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
}

Intent* OpenIntents::find(const base::Hash& intent) {
  const auto found = table_.find(intent);
  return found == table_.end() ? nullptr : &found->second;
}

const Intent* OpenIntents::find(const base::Hash& intent) const {
  const auto found = table_.find(intent);
  return found == table_.end() ? nullptr : &found->second;
}

void OpenIntents::add(const base::Hash& hash, Intent intent) {
  const bool added = table_.emplace(hash, std::move(intent)).second;
  CHECK(added);  // an identity is never given twice
}

}  // namespace holdfast::kernel
