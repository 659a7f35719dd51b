// SPDX-License-Identifier: Apache-2.0
#include "kernel/open_intents.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/copy.h"
#include "base/trace_context.h"
#include "codec/cbor_writer.h"
#include "codec/well_formed.h"
#include "kernel/cell_codec.h"
#include "kernel/list_reader.h"
#include "kernel/read_back.h"
#include "kernel/work_codec.h"

namespace holdfast::kernel {
namespace {

base::Bytes encode(const Intent& intent) {
  codec::Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, intent.work ? 10 : intent.trace().empty() ? 8 : 9);
  codec::write_nat(out, intent.workflow());
  codec::write_nat(out, intent.effect());
  codec::write_nat(out, intent.opened_at());
  codec::write_nat(out, intent.opened_ns());
  codec::write_nat(out, intent.last_progress);
  codec::write_bytes(out, intent.key());
  codec::write_bytes(out, intent.params());
  codec::write_text(out, intent.issuer_ref());
  if (!intent.trace().empty() || intent.work) codec::write_bytes(out, intent.trace());
  if (intent.work) write_work(out, *intent.work);
  return out.to_bytes();
}

std::optional<Intent> decode(base::ByteView bytes) {
  if (!codec::is_well_formed(bytes)) return std::nullopt;
  ListReader list(codec::View::of(bytes));
  const std::uint64_t workflow = list.nat();
  const std::uint64_t effect = list.nat();
  const std::uint64_t opened_at = list.nat();
  const std::uint64_t opened_ns = list.nat();
  const std::uint64_t last_progress = list.nat();
  const base::ByteView key = list.bytes();
  const base::ByteView params = list.bytes();
  const std::string_view issuer_ref = list.text();
  const base::ByteView trace = list.at_end() ? base::ByteView() : list.bytes();
  list.require(trace.empty() || base::TraceContext::of(trace));
  std::shared_ptr<const Work> work;
  if (!list.at_end()) {
    work = read_work(list.next());
    list.require(work != nullptr);
  }
  if (!list.done() || workflow > UINT32_MAX || effect > UINT32_MAX) return std::nullopt;
  Intent intent(static_cast<std::uint32_t>(workflow), static_cast<std::uint32_t>(effect), opened_at,
                opened_ns, key_hash(key), key, params, issuer_ref, trace);
  intent.last_progress = last_progress;
  intent.work = std::move(work);
  return intent;
}

base::Error damaged_intent() { return {base::ErrorCode::kCorrupt, "an open intent is damaged"}; }

}  // namespace

Intent::Intent(std::uint32_t workflow, std::uint32_t effect, std::uint64_t opened_at,
               std::uint64_t opened_ns, const base::Hash& cell, base::ByteView key,
               base::ByteView params, std::string_view issuer_ref, base::ByteView trace)
    : workflow_(workflow),
      effect_(effect),
      opened_at_(opened_at),
      opened_ns_(opened_ns),
      cell_(cell),
      key_size_(static_cast<std::uint32_t>(key.size())),
      params_size_(static_cast<std::uint32_t>(params.size())),
      issuer_size_(static_cast<std::uint32_t>(issuer_ref.size())),
      trace_size_(static_cast<std::uint32_t>(trace.size())) {
  auto bytes = std::make_shared_for_overwrite<std::uint8_t[]>(key.size() + params.size() +
                                                              issuer_ref.size() + trace.size());
  std::uint8_t* at = bytes.get();
  for (const base::ByteView part : {key, params, base::as_bytes(issuer_ref), trace}) {
    base::copy_bytes(at, part.data(), part.size());
    at += part.size();
  }
  bytes_ = std::move(bytes);
}

Intent* OpenIntents::find(const Blobs& blobs, const base::Hash& hash) {
  const auto found = recent_.find(hash);
  if (found != recent_.end()) return found->second.intent ? &*found->second.intent : nullptr;
  if (trie_.size() == 0 || failure_) return nullptr;
  auto bytes = trie_.find(blobs, cache_, hash);
  if (!bytes) {
    failure_ = std::move(bytes).error();
    return nullptr;
  }
  if (!bytes->has_value()) return nullptr;
  auto intent = read(**bytes);
  if (!intent) {
    failure_ = damaged_intent();
    return nullptr;
  }
  looked_at_.push_back(hash);
  return &*recent_.try_emplace(hash, std::move(intent)).first->second.intent;
}

std::optional<Intent> OpenIntents::read(base::ByteView bytes) const {
  auto intent = decode(bytes);
  if (intent && read_back_ != nullptr && !read_back_->fits(*intent)) intent.reset();
  return intent;
}

void OpenIntents::given_twice() { failure_ = corrupt("an intent was opened twice"); }

void OpenIntents::let_go() {
  for (const base::Hash& hash : looked_at_) {
    const auto found = recent_.find(hash);
    if (found != recent_.end() && !found->second.changed) recent_.erase(found);
  }
  looked_at_.clear();
}

void OpenIntents::remove(const base::Hash& hash) {
  const auto found = recent_.find(hash);
  CHECK(found != recent_.end() && found->second.intent);
  --size_;
  counts_.remove(found->second.intent->effect(), found->second.intent->opened_ns());
  // Most come and go between two flushes, and leave nothing behind.
  if (!found->second.indexed) {
    recent_.erase(found);
    return;
  }
  found->second.intent.reset();
  found->second.changed = true;
}

void OpenIntents::progressed(const base::Hash& hash, std::uint64_t sequence) {
  const auto found = recent_.find(hash);
  CHECK(found != recent_.end() && found->second.intent);
  found->second.intent->last_progress = sequence;
  found->second.changed = true;
}

void OpenIntents::set_work(const base::Hash& hash, std::shared_ptr<const Work> work) {
  const auto found = recent_.find(hash);
  CHECK(found != recent_.end() && found->second.intent);
  found->second.intent->work = std::move(work);
  found->second.changed = true;
}

void OpenIntents::set_workflow(const base::Hash& hash, std::uint32_t workflow) {
  const auto found = recent_.find(hash);
  CHECK(found != recent_.end() && found->second.intent);
  found->second.intent->move_to(workflow);
  found->second.changed = true;
}

base::Result<void> OpenIntents::flush(Blobs& blobs) {
  HashTrie::Changes changes;
  for (const auto& [hash, recent] : recent_) {
    if (!recent.changed) continue;
    changes[hash] = recent.intent ? std::optional(encode(*recent.intent)) : std::nullopt;
  }
  HashTrie made = trie_;
  TRY(made.apply(blobs, cache_, std::move(changes)));
  // One that was opened is there already, or one that is there is not counted.
  if (made.size() != size_) return corrupt("the index of open intents has not what it should");
  trie_ = made;
  recent_.clear();
  looked_at_.clear();
  return {};
}

void OpenIntents::restore(HashTrie trie) {
  trie_ = trie;
  size_ = trie.size();
}

base::Result<void> OpenIntents::visit(const Blobs& blobs, const Visitor& visitor) const {
  const auto recent = in_order();
  auto next = recent.begin();
  bool good = true;
  bool more = true;
  TRY(trie_.visit(blobs, [&](const base::Hash& hash, base::ByteView bytes) {
    for (; more && next != recent.end() && next->first < hash; ++next)
      more = visitor(next->first, *next->second);
    if (!more) return false;
    if (recent_.contains(hash)) return true;  // its turn comes next, or it is gone
    const auto intent = read(bytes);
    good = intent.has_value();
    more = good && visitor(hash, *intent);
    return more;
  }));
  if (!good) return damaged_intent();
  for (; more && next != recent.end(); ++next) more = visitor(next->first, *next->second);
  return {};
}

// Those that are open.
std::vector<std::pair<base::Hash, const Intent*>> OpenIntents::in_order() const {
  std::vector<std::pair<base::Hash, const Intent*>> open;
  for (const auto& [hash, recent] : recent_) {
    if (recent.intent) open.emplace_back(hash, &*recent.intent);
  }
  std::sort(open.begin(), open.end());
  return open;
}

}  // namespace holdfast::kernel
