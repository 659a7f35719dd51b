// SPDX-License-Identifier: Apache-2.0
#include "node/effect_collector.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "store/database_look.h"

namespace holdfast::node {
namespace {

constexpr std::size_t kPieceBytes = store::EffectGc::kPieceBytes;

store::EffectNames::Keep keep_in(WorldEffectBlobs& blobs) {
  return [&blobs](std::span<const base::Hash> named) {
    return blobs.with_collection([&](store::EffectGc& gc) { return gc.keep(named); });
  };
}

}  // namespace

// What the thread of the history has read of the index, for the one that collects.
class EffectCollector::IndexReading {
 public:
  enum class State : std::uint8_t { kReads, kDone, kFailed };
  State state() const noexcept { return state_; }

  // After kFailed.
  base::Error error() const { return {code_, where_, message_}; }

  void done() { state_ = State::kDone; }
  void failed(const base::Error& error) {
    code_ = error.code();
    where_ = error.where();
    message_ = error.message();
    state_ = State::kFailed;
  }

 private:
  base::ErrorCode code_ = base::ErrorCode::kIo;
  std::string where_;
  std::string message_;
  std::atomic<State> state_ = State::kReads;
};

class EffectCollector::IndexReader {
 public:
  IndexReader(WorldEffectBlobs& blobs, const store::WorldFolder& folder,
              std::shared_ptr<const store::HashSieve> sieve, std::shared_ptr<IndexReading> reading)
      : folder_(folder), names_(std::move(sieve), keep_in(blobs)), reading_(std::move(reading)) {}

  // It is let go of, perhaps before it was called.
  ~IndexReader() {
    if (reading_->state() == IndexReading::State::kReads)
      reading_->failed({base::ErrorCode::kConflict, "history", "the index was begun anew"});
  }
  IndexReader(const IndexReader&) = delete;
  IndexReader& operator=(const IndexReader&) = delete;

  // A piece of it. Null: the index is not open, and lies in its file.
  bool read(store::SqliteDatabase* index) {
    const auto more = read_piece(index);
    if (more && *more) return true;
    values_.reset();
    look_.reset();
    more ? reading_->done() : reading_->failed(more.error());
    return false;
  }

 private:
  base::Result<bool> read_piece(store::SqliteDatabase* index) {
    if (!values_) {
      if (index == nullptr) {
        look_ = TRY(store::DatabaseLook::open(store::WorldPlace::of(folder_), store::kHistoryFile));
        if (!look_) return false;
        index = &look_->database();
      }
      values_.emplace(TRY(store::IndexValues::open(*index)));
    }
    const bool more = TRY(
        values_->next(kPieceBytes, [this](base::ByteView value) { return names_.look_at(value); }));
    TRY(names_.flush());
    return more;
  }

  const store::WorldFolder& folder_;
  store::EffectNames names_;
  const std::shared_ptr<IndexReading> reading_;
  std::unique_ptr<store::DatabaseLook> look_;
  std::optional<store::IndexValues> values_;
};

EffectCollector::EffectCollector(LocalWorld& world, WorldEffectBlobs& blobs, History* history,
                                 std::uint64_t least_bytes, Told told)
    : world_(world),
      blobs_(blobs),
      history_(history),
      least_bytes_(least_bytes),
      told_(std::move(told)) {}

EffectCollector::~EffectCollector() { end(); }

base::Result<bool> EffectCollector::is_due() {
  const std::uint64_t file_bytes = TRY(blobs_.file_bytes());
  if (file_bytes < least_bytes_) return false;
  if (!has_run_) return true;
  const std::uint64_t kernel_bytes =
      TRY(world_.kernel_blobs().with_store([this] { return world_.blobs().file_bytes(); }));
  return blobs_.written_bytes() - written_before_ >=
         std::max({least_bytes_, file_bytes / 2, kernel_bytes / 2});
}

base::Result<bool> EffectCollector::go_on() {
  auto more = work();
  if (more) return more;
  end();
  // Somebody holds the blobs: it is tried again after the next snapshot.
  if (more.error().code() == base::ErrorCode::kConflict) return false;
  return std::move(more).error();
}

base::Result<bool> EffectCollector::work() {
  switch (stage_) {
    case Stage::kIdle:
      if (!TRY(is_due())) return false;
      world_.collector().ask();
      stage_ = Stage::kAwaitsKernel;
      return true;
    case Stage::kAwaitsKernel: return begin();
    case Stage::kLearns: return learn();
    case Stage::kReadsBlobs: return read_blobs();
    case Stage::kReadsRecords: return read_records();
    case Stage::kReadsIndex: return read_index();
    case Stage::kRemoves: break;
  }
  return remove();
}

// What is pinned comes first, then where the records end: a receipt that was durable before is in
// them, and the blobs of every other one are pinned.
base::Result<bool> EffectCollector::begin() {
  pin_ = world_.journal().pin(0);
  written_then_ = blobs_.written_bytes();
  if (!TRY(blobs_.begin_collection())) {
    end();
    return false;
  }
  last_record_ = world_.journal().durable();
  stage_ = Stage::kLearns;
  return true;
}

base::Result<bool> EffectCollector::learn() {
  const bool more = TRY(blobs_.with_collection([](store::EffectGc& gc) { return gc.learn(); }));
  if (more) return true;
  using Sieve = std::shared_ptr<const store::HashSieve>;
  sieve_ = TRY(blobs_.with_collection(
      [](store::EffectGc& gc) -> base::Result<Sieve> { return gc.sieve(); }));
  names_.emplace(sieve_, keep_in(blobs_));
  // Behind the last record: whatever was a blob of a snapshot then is one of these.
  TRY(world_.kernel_blobs().with_store([this]() -> base::Result<void> {
    kernel_values_.emplace(TRY(store::BlobValues::open(world_.blobs())));
    return {};
  }));
  stage_ = Stage::kReadsBlobs;
  return true;
}

base::Result<bool> EffectCollector::read_blobs() {
  const bool more = TRY(world_.kernel_blobs().with_store([this]() -> base::Result<bool> {
    auto read =
        kernel_values_->next(kPieceBytes, [this](base::ByteView value) { return show(value); });
    if (read && !*read) kernel_values_.reset();
    return read;
  }));
  TRY(names_->flush());
  if (more) return true;
  records_.emplace(TRY(world_.journal().read(pin_->first())), last_record_);
  stage_ = Stage::kReadsRecords;
  return true;
}

base::Result<bool> EffectCollector::read_records() {
  const bool more =
      TRY(records_->next(kPieceBytes, [this](base::ByteView value) { return show(value); }));
  TRY(names_->flush());
  if (more) return true;
  records_.reset();
  pin_.reset();
  stage_ = Stage::kReadsIndex;
  return true;
}

// On the thread of the history, which has the index to itself. It may go on when the collector is
// gone.
base::Result<bool> EffectCollector::read_index() {
  using State = IndexReading::State;
  if (!index_reading_) {
    index_reading_ = std::make_shared<IndexReading>();
    auto visit =
        [reading = std::make_shared<IndexReader>(blobs_, world_.folder(), sieve_, index_reading_)](
            store::SqliteDatabase* index, store::SqliteDatabase*) { return reading->read(index); };
    if (history_ != nullptr) {
      TRY(history_->visit(std::move(visit)));
    } else {
      while (visit(nullptr, nullptr)) continue;
    }
  }
  if (index_reading_->state() == State::kReads) return true;
  if (index_reading_->state() == State::kFailed) return index_reading_->error();
  index_reading_.reset();
  stage_ = Stage::kRemoves;
  return true;
}

base::Result<bool> EffectCollector::remove() {
  const store::GcProgress progress =
      TRY(blobs_.with_collection([](store::EffectGc& gc) { return gc.remove(); }));
  if (!progress.done) return true;
  has_run_ = true;
  written_before_ = written_then_;
  end();
  if (told_ && progress.removed != 0) told_(progress);
  return false;
}

void EffectCollector::end() {
  if (kernel_values_) world_.kernel_blobs().with_store([this] { kernel_values_.reset(); });
  blobs_.end_collection();
  records_.reset();
  pin_.reset();
  names_.reset();
  sieve_.reset();
  index_reading_.reset();
  stage_ = Stage::kIdle;
}

}  // namespace holdfast::node
