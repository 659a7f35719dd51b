// SPDX-License-Identifier: Apache-2.0
#include "kernel/open_intents.h"

#include <cstring>
#include <optional>
#include <utility>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "kernel/list_reader.h"

namespace holdfast::kernel {
namespace {

base::Bytes encode(const Intent& intent) {
  codec::Buffer out;
  codec::write_list_head(out, 8);
  codec::write_nat(out, intent.workflow());
  codec::write_nat(out, intent.effect());
  codec::write_nat(out, intent.opened_at());
  codec::write_nat(out, intent.opened_ns());
  codec::write_nat(out, intent.last_progress);
  codec::write_bytes(out, intent.key());
  codec::write_bytes(out, intent.params());
  codec::write_text(out, intent.issuer_ref());
  return out.to_bytes();
}

std::optional<Intent> decode(base::ByteView bytes) {
  ListReader list(codec::View::of(bytes));
  const std::uint64_t workflow = list.nat();
  const std::uint64_t effect = list.nat();
  const std::uint64_t opened_at = list.nat();
  const std::uint64_t opened_ns = list.nat();
  const std::uint64_t last_progress = list.nat();
  const base::ByteView key = list.bytes();
  const base::ByteView params = list.bytes();
  const std::string_view issuer_ref = list.text();
  if (!list.good() || workflow > UINT32_MAX || effect > UINT32_MAX) return std::nullopt;
  Intent intent(static_cast<std::uint32_t>(workflow), static_cast<std::uint32_t>(effect), opened_at,
                opened_ns, key, params, issuer_ref);
  intent.last_progress = last_progress;
  return intent;
}

}  // namespace

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
  changed_.insert(hash);
}

void OpenIntents::remove(const base::Hash& intent) {
  table_.erase(intent);
  changed_.insert(intent);
}

void OpenIntents::progressed(const base::Hash& intent, std::uint64_t sequence) {
  find(intent)->last_progress = sequence;
  changed_.insert(intent);
}

base::Result<void> OpenIntents::flush(Blobs& blobs) {
  HashTrie::Changes changes;
  for (const base::Hash& hash : changed_) {
    const Intent* intent = find(hash);
    changes[hash] = intent == nullptr ? std::nullopt : std::optional(encode(*intent));
  }
  TRY(trie_.apply(blobs, changes));
  changed_.clear();
  return {};
}

base::Result<void> OpenIntents::restore(const Blobs& blobs, HashTrie trie) {
  bool good = true;
  TRY(trie.visit(blobs, [&](const base::Hash& hash, base::ByteView bytes) {
    auto intent = decode(bytes);
    good = intent.has_value();
    if (good) table_.emplace_hint(table_.end(), hash, std::move(*intent));
    return good;
  }));
  if (!good) return base::Error(base::ErrorCode::kCorrupt, "an open intent is damaged");
  trie_ = trie;
  return {};
}

}  // namespace holdfast::kernel
