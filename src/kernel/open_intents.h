// SPDX-License-Identifier: Apache-2.0
// OpenIntents: the effects that were opened and have not settled, by their hash. There is one for
// every sleeping instance, so each is kept small: what varies in length stands in one block.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "kernel/blobs.h"
#include "kernel/hash_trie.h"

namespace holdfast::kernel {

class Intent {
 public:
  Intent(std::uint32_t workflow, std::uint32_t effect, std::uint64_t opened_at,
         std::uint64_t opened_ns, base::ByteView key, base::ByteView params,
         std::string_view issuer_ref);

  std::uint32_t workflow() const noexcept { return workflow_; }
  std::uint32_t effect() const noexcept { return effect_; }
  std::uint64_t opened_at() const noexcept { return opened_at_; }  // the record
  std::uint64_t opened_ns() const noexcept { return opened_ns_; }
  base::ByteView key() const noexcept { return {block_.get(), key_size_}; }
  base::ByteView params() const noexcept { return {block_.get() + key_size_, params_size_}; }
  std::string_view issuer_ref() const noexcept {
    return base::as_text({block_.get() + key_size_ + params_size_, issuer_size_});
  }

  std::uint64_t last_progress = 0;  // the sequence number of the last frame

 private:
  std::uint32_t workflow_;
  std::uint32_t effect_;
  std::uint64_t opened_at_;
  std::uint64_t opened_ns_;
  std::uint32_t key_size_;
  std::uint32_t params_size_;
  std::uint32_t issuer_size_;
  std::unique_ptr<std::uint8_t[]> block_;
};

class OpenIntents {
 public:
  // Ordered: walking over them must give the same order everywhere.
  using Table = std::map<base::Hash, Intent>;

  Intent* find(const base::Hash& intent);
  const Intent* find(const base::Hash& intent) const;
  void add(const base::Hash& hash, Intent intent);
  void remove(const base::Hash& intent);
  void progressed(const base::Hash& intent, std::uint64_t sequence);
  const Table& all() const noexcept { return table_; }

  // Writes what changed since the last flush to the trie.
  base::Result<void> flush(Blobs& blobs);
  const HashTrie& trie() const noexcept { return trie_; }
  base::Result<void> restore(const Blobs& blobs, HashTrie trie);

 private:
  Table table_;
  std::set<base::Hash> changed_;  // since the last flush, also those that are gone
  HashTrie trie_;
};

}  // namespace holdfast::kernel
