// SPDX-License-Identifier: Apache-2.0
#include "executors/blob.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
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

// A blob that is to be kept, with what it names.
struct Put {
  base::Hash intent;
  base::ByteView bytes;  // in the params
  base::Hash blob;
  base::Bytes edge;
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

base::Result<Put> read_put(const kernel::OpenIntent& intent) {
  const Params params(intent.params);
  const auto field = params.find("bytes");
  if (!field || !field->bytes()) return base::invalid("$.bytes", "is wanted");
  const base::ByteView bytes = *field->bytes();
  const base::Hash hash = base::sha256(bytes);
  const auto expected = TRY(optional_hash(params, "blob_ref"));
  if (expected && *expected != hash)
    return base::invalid("$.blob_ref", "the bytes are " + hash.to_text());
  auto edge = TRY(edge_of(hash, params));
  return Put{intent.intent, bytes, hash, std::move(edge)};
}

class PutPerformer : public PatientPerformer {
 public:
  PutPerformer(std::size_t at_once, EffectBlobs& blobs)
      : PatientPerformer(at_once), blobs_(blobs) {}

 private:
  void perform_all(const std::vector<kernel::OpenIntent>& intents, Desk& desk) override {
    std::vector<Put> puts;
    for (const kernel::OpenIntent& intent : intents) {
      auto put = read_put(intent);
      if (put) {
        puts.push_back(std::move(*put));
      } else {
        desk.done(intent.intent, failed("blob.put", put.error()));
      }
    }
    // What one of them cannot have, the others may.
    if (puts.size() > 1) {
      if (const auto pin = keep(puts)) {
        for (const Put& put : puts) desk.done(put.intent, receipt_of(put, *pin));
        return;
      }
    }
    for (const Put& put : puts) {
      const auto pin = keep({&put, 1});
      desk.done(put.intent, pin ? receipt_of(put, *pin) : failed("blob.put", pin.error()));
    }
  }

  base::Result<BlobPin> keep(std::span<const Put> puts) {
    std::vector<base::ByteView> blobs;
    for (const Put& put : puts) {
      blobs.push_back(put.bytes);
      blobs.emplace_back(put.edge);
    }
    return blobs_.keep(blobs);
  }

  static Receipt receipt_of(const Put& put, const BlobPin& pin) {
    codec::Buffer out;
    codec::write_map_head(out, 3);  // sys/BlobPutReceipt@1
    codec::write_text(out, "blob_ref");
    codec::write_text(out, put.blob.to_text());
    codec::write_text(out, "edge_ref");
    codec::write_text(out, base::sha256(put.edge).to_text());
    codec::write_text(out, "size");
    codec::write_nat(out, put.bytes.size());
    return succeeded(out, pin);
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
