// SPDX-License-Identifier: Apache-2.0
// OpenIntents: the effects that were opened and have not settled, by their hash. In memory are
// those that were opened, settled or looked at since the last flush; the others sleep in the index,
// so that a million waiting instances cost no memory. An index that cannot be read stops the world:
// `failure` is set, and whatever is answered after that must not be used.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "kernel/blobs.h"
#include "kernel/first_bytes.h"
#include "kernel/hash_trie.h"
#include "kernel/open_counts.h"
#include "kernel/work.h"

namespace holdfast::kernel {

class ReadBack;

class Intent {
 public:
  Intent(std::uint32_t workflow, std::uint32_t effect, std::uint64_t opened_at,
         std::uint64_t opened_ns, const base::Hash& cell, base::ByteView key, base::ByteView params,
         std::string_view issuer_ref, base::ByteView trace = {});

  std::uint32_t workflow() const noexcept { return workflow_; }
  std::uint32_t effect() const noexcept { return effect_; }
  std::uint64_t opened_at() const noexcept { return opened_at_; }  // the record
  std::uint64_t opened_ns() const noexcept { return opened_ns_; }
  const base::Hash& cell() const noexcept { return cell_; }  // that opened it
  base::ByteView key() const noexcept { return {bytes_.get(), key_size_}; }
  base::ByteView params() const noexcept { return {bytes_.get() + key_size_, params_size_}; }
  std::string_view issuer_ref() const noexcept {
    return base::as_text({bytes_.get() + key_size_ + params_size_, issuer_size_});
  }

  base::ByteView trace() const noexcept {  // of the instance; empty: none
    return {bytes_.get() + key_size_ + params_size_ + issuer_size_, trace_size_};
  }

  // What holds the four above; whoever needs them longer than this intent keeps it.
  const std::shared_ptr<const std::uint8_t[]>& bytes() const noexcept { return bytes_; }

  std::uint64_t last_progress = 0;  // the sequence number of the last frame

  // What workers have to do with it; null: it was never leased.
  std::shared_ptr<const Work> work;
  const Lease* lease() const noexcept {  // null: nobody holds it
    return work != nullptr && work->lease ? &*work->lease : nullptr;
  }
  std::uint64_t queued_ns() const noexcept { return work ? work->queued_ns : opened_ns_; }

  // Its instance has moved to another version of its workflow.
  void move_to(std::uint32_t workflow) noexcept { workflow_ = workflow; }

 private:
  std::uint32_t workflow_;
  std::uint32_t effect_;
  std::uint64_t opened_at_;
  std::uint64_t opened_ns_;
  base::Hash cell_;
  std::uint32_t key_size_;
  std::uint32_t params_size_;
  std::uint32_t issuer_size_;
  std::uint32_t trace_size_;
  std::shared_ptr<const std::uint8_t[]> bytes_;
};

class OpenIntents {
 public:
  // `read_back` is asked about what comes from the index; without one nobody is.
  explicit OpenIntents(ReadBack* read_back = nullptr) : read_back_(read_back) {}

  // Null: there is none. It holds until the next flush or trim, or until the intent is removed.
  Intent* find(const Blobs& blobs, const base::Hash& intent);

  // With what an Intent is made of. An identity is never given twice, unless the numbers of records
  // began again: then the world fails.
  template <class... Parts>
  const Intent& add(const base::Hash& hash, const Parts&... parts) {
    const auto [place, added] = recent_.try_emplace(hash, parts...);
    if (!added) [[unlikely]] {
      given_twice();
      place->second.intent.emplace(parts...);
    }
    ++size_;
    counts_.add(place->second.intent->effect(), place->second.intent->opened_ns());
    return *place->second.intent;
  }
  void remove(const base::Hash& intent);  // one that was found
  // These change one that was found.
  void progressed(const base::Hash& intent, std::uint64_t sequence);
  void set_work(const base::Hash& intent, std::shared_ptr<const Work> work);
  void set_workflow(const base::Hash& intent, std::uint32_t workflow);

  std::uint64_t size() const noexcept { return size_; }
  // Of those that were opened or counted here; what an index had before must be counted.
  const OpenCounts& counts() const noexcept { return counts_; }
  void count(const Intent& intent) { counts_.add(intent.effect(), intent.opened_ns()); }
  void begin_counting() noexcept { counts_.clear(); }

  std::size_t in_memory() const noexcept { return recent_.size(); }

  // Lets go of those that were only looked at, when there are many. To be called between ticks.
  void trim() {
    if (looked_at_.size() > kMostLookedAt) let_go();
  }
  static constexpr std::size_t kMostLookedAt = 4096;

  // Writes what changed to the index, and lets go of everything.
  base::Result<void> flush(Blobs& blobs);

  // The index, as of the last flush.
  const HashTrie& trie() const noexcept { return trie_; }
  void restore(HashTrie trie);

  // All of them in the order of their hashes. The visitor says whether to go on.
  using Visitor = std::function<bool(const base::Hash&, const Intent&)>;
  base::Result<void> visit(const Blobs& blobs, const Visitor& visitor) const;

  const std::optional<base::Error>& failure() const noexcept { return failure_; }
  void forget_failure() noexcept { failure_.reset(); }  // of one who only asked

 private:
  struct Recent {
    // A new one.
    template <class... Parts>
    explicit Recent(Parts&&... parts)
        : intent(std::in_place, std::forward<Parts>(parts)...), changed(true) {}
    // One that the index has.
    explicit Recent(std::optional<Intent>&& known) : intent(std::move(known)), indexed(true) {}

    std::optional<Intent> intent;  // nothing: removed, and the index does not know it yet
    bool changed = false;
    bool indexed = false;
  };
  std::optional<Intent> read(base::ByteView bytes) const;
  std::vector<std::pair<base::Hash, const Intent*>> in_order() const;
  void given_twice();
  void let_go();

  ReadBack* read_back_;
  std::unordered_map<base::Hash, Recent, FirstBytes> recent_;
  std::vector<base::Hash> looked_at_;  // came from the index; may have changed since
  std::uint64_t size_ = 0;
  OpenCounts counts_;
  HashTrie trie_;
  TrieCache cache_;
  std::optional<base::Error> failure_;
};

}  // namespace holdfast::kernel
