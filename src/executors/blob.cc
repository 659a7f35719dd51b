// SPDX-License-Identifier: Apache-2.0
#include "executors/blob.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "codec/cbor_head.h"
#include "codec/cbor_writer.h"
#include "codec/limits.h"
#include "executors/params.h"

namespace holdfast::executors {
namespace {

// Room for what stands around the bytes in a receipt.
constexpr std::size_t kMaxGotBytes = codec::kMaxValueBytes - 4096;

// One that has nothing to wait for but orders.
class PatientPerformer : public Performer {
 public:
  explicit PatientPerformer(std::size_t at_once) : at_once_(std::max<std::size_t>(1, at_once)) {}

  void perform(Desk& desk) final {
    while (true) {
      const Orders orders = desk.take(at_once_);
      if (orders.end) return;
      if (!orders.starts.empty()) {
        perform_all(orders.starts, desk);
        continue;
      }
      // What is stopped was over before anybody could look: nothing is under way between orders.
      std::unique_lock lock(mutex_);
      woken_.wait(lock, [this] { return calls_; });
      calls_ = false;
    }
  }
  void wake() noexcept final {
    const std::lock_guard lock(mutex_);
    calls_ = true;
    woken_.notify_one();
  }

 private:
  virtual void perform_all(const std::vector<kernel::OpenIntent>& intents, Desk& desk) = 0;

  const std::size_t at_once_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool calls_ = false;
};

base::Result<std::optional<base::Hash>> optional_hash(const Params& params,
                                                      std::string_view field) {
  const auto text = TRY(params.optional_text(field));
  if (!text) return std::optional<base::Hash>();
  return std::optional(TRY(base::Hash::parse(*text)));
}

struct Put {
  base::Hash blob;
  base::Hash edge;
  std::uint64_t size = 0;
};

// sys/BlobEdge@1: which other blobs a blob names, for whoever follows them.
base::Result<base::Bytes> edge_of(const base::Hash& blob, const Params& params) {
  const auto refs = params.find("refs");
  codec::Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_map_head(out, 2);
  codec::write_text(out, "refs");
  codec::write_list_head(out, refs ? refs->size() : 0);
  if (refs) {
    for (const codec::View ref : refs->elements()) {
      const auto text = ref.text();
      if (!text || !base::Hash::parse(*text)) return base::invalid("$.refs", "must be hashes");
      codec::write_text(out, *text);
    }
  }
  codec::write_text(out, "blob_ref");
  codec::write_text(out, blob.to_text());
  return out.to_bytes();
}

base::Result<Put> put(EffectBlobs& blobs, base::ByteView raw) {
  const Params params(raw);
  const auto field = params.find("bytes");
  if (!field || !field->bytes()) return base::invalid("$.bytes", "is wanted");
  const base::ByteView bytes = *field->bytes();
  const base::Hash hash = base::sha256(bytes);
  const auto expected = TRY(optional_hash(params, "blob_ref"));
  if (expected && *expected != hash)
    return base::invalid("$.blob_ref", "the bytes are " + hash.to_text());
  const base::Bytes edge = TRY(edge_of(hash, params));
  Put made{TRY(blobs.put(bytes)), TRY(blobs.put(edge)), bytes.size()};
  if (made.blob != hash || made.edge != base::sha256(edge))
    return base::Error(base::ErrorCode::kCorrupt, "the store calls the bytes by another hash");
  return made;
}

class PutPerformer : public PatientPerformer {
 public:
  PutPerformer(std::size_t at_once, EffectBlobs& blobs)
      : PatientPerformer(at_once), blobs_(blobs) {}

 private:
  void perform_all(const std::vector<kernel::OpenIntent>& intents, Desk& desk) override {
    std::vector<std::pair<base::Hash, Put>> done;
    for (const kernel::OpenIntent& intent : intents) {
      auto made = put(blobs_, intent.params);
      if (made) {
        done.emplace_back(intent.intent, *made);
      } else {
        desk.done(intent.intent, failed("blob.put", made.error()));
      }
    }
    const auto synced = blobs_.sync();
    for (const auto& [intent, made] : done)
      desk.done(intent, synced ? receipt_of(made) : failed("blob.put", synced.error()));
  }

  static Receipt receipt_of(const Put& made) {
    codec::Buffer out;
    codec::write_map_head(out, 3);  // sys/BlobPutReceipt@1
    codec::write_text(out, "blob_ref");
    codec::write_text(out, made.blob.to_text());
    codec::write_text(out, "edge_ref");
    codec::write_text(out, made.edge.to_text());
    codec::write_text(out, "size");
    codec::write_nat(out, made.size);
    return succeeded(out);
  }

  EffectBlobs& blobs_;
};

class GetPerformer : public PatientPerformer {
 public:
  GetPerformer(std::size_t at_once, EffectBlobs& blobs)
      : PatientPerformer(at_once), blobs_(blobs) {}

 private:
  void perform_all(const std::vector<kernel::OpenIntent>& intents, Desk& desk) override {
    for (const kernel::OpenIntent& intent : intents) {
      auto got = get(intent.params);
      desk.done(intent.intent, got ? std::move(*got) : failed("blob.get", got.error()));
    }
  }

  base::Result<Receipt> get(base::ByteView raw) {
    const auto hash = TRY(optional_hash(Params(raw), "blob_ref"));
    if (!hash) return base::invalid("$.blob_ref", "is wanted");
    const base::Bytes bytes = TRY(blobs_.get(*hash));
    if (base::sha256(bytes) != *hash)
      return base::Error(base::ErrorCode::kCorrupt, hash->to_text(), "the store gave other bytes");
    if (bytes.size() > kMaxGotBytes)
      return base::Error(base::ErrorCode::kTooLarge, hash->to_text(),
                         "the blob is too large for a receipt");
    codec::Buffer out;
    codec::write_map_head(out, 3);  // sys/BlobGetReceipt@1
    codec::write_text(out, "blob_ref");
    codec::write_text(out, hash->to_text());
    codec::write_text(out, "size");
    codec::write_nat(out, bytes.size());
    codec::write_text(out, "bytes");
    codec::write_bytes(out, bytes);
    return succeeded(out);
  }

  EffectBlobs& blobs_;
};

}  // namespace

std::unique_ptr<Executor> blob_put_executor(const BlobOptions& options, EffectBlobs& blobs) {
  return std::make_unique<ThreadExecutor>(
      std::make_unique<PutPerformer>(options.queue.at_once, blobs), options.queue.waiting);
}

std::unique_ptr<Executor> blob_get_executor(const BlobOptions& options, EffectBlobs& blobs) {
  return std::make_unique<ThreadExecutor>(
      std::make_unique<GetPerformer>(options.queue.at_once, blobs), options.queue.waiting);
}

}  // namespace holdfast::executors
