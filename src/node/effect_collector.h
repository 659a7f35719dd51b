// SPDX-License-Identifier: Apache-2.0
// EffectCollector: removes the blobs that workflows put and that nothing in the world names any
// more, beside the world, a piece at a time. The rule is in docs/formats/blobs.md, why it holds in
// docs/decisions/0010-executors.md.
//
// It begins when as much was put as there is to read, about, so that it costs a part of what
// putting costs. It first has the kernel's own blobs collected: what is left of old states would
// keep blobs of workflows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "node/effect_blobs.h"
#include "node/history.h"
#include "node/local_world.h"
#include "store/effect_gc.h"
#include "store/kept_values.h"

namespace holdfast::node {

class EffectCollector {
 public:
  // What was removed, for a log. On the thread that collects.
  using Told = std::function<void(const store::GcProgress&)>;

  // All of them must outlive it, except that `history` may be null: then the index is read as it
  // lies in its file. A file of less than `least_bytes` is left alone.
  EffectCollector(LocalWorld& world, WorldEffectBlobs& blobs, History* history,
                  std::uint64_t least_bytes = Collector::kLeastBytes, Told told = {});
  ~EffectCollector();

  // As Collector::go_on, and to be called when that has nothing to do.
  base::Result<bool> go_on();

 private:
  enum class Stage : std::uint8_t {
    kIdle,
    kAwaitsKernel,  // the kernel's blobs are collected
    kLearns,
    kReadsBlobs,
    kReadsRecords,
    kReadsIndex,
    kRemoves
  };
  class IndexReading;
  class IndexReader;

  base::Result<bool> is_due();
  base::Result<bool> work();
  base::Result<bool> begin();
  base::Result<bool> learn();
  base::Result<bool> read_blobs();
  base::Result<bool> read_records();
  base::Result<bool> read_index();
  base::Result<bool> remove();
  base::Result<void> show(base::ByteView value) { return names_->look_at(value); }
  void end();

  LocalWorld& world_;
  WorldEffectBlobs& blobs_;
  History* const history_;
  const std::uint64_t least_bytes_;
  const Told told_;

  Stage stage_ = Stage::kIdle;
  bool has_run_ = false;            // since the world was opened; what was put before is not known
  std::uint64_t written_then_ = 0;  // when the one that runs began
  std::uint64_t written_before_ = 0;  // when the last one that ended did

  // Of the one that runs.
  std::unique_ptr<store::JournalPin> pin_;
  store::RecordNumber last_record_ = 0;
  std::shared_ptr<const store::HashSieve> sieve_;
  std::optional<store::EffectNames> names_;
  std::optional<store::BlobValues> kernel_values_;  // used and destroyed with the store
  std::optional<store::RecordValues> records_;
  std::shared_ptr<IndexReading> index_reading_;
};

}  // namespace holdfast::node
