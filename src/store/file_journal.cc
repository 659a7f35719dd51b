// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "store/file_journal_body.h"

namespace holdfast::store {
namespace {

class TablePin : public JournalPin {
 public:
  TablePin(std::shared_ptr<SegmentTable> table, RecordNumber from)
      : table_(std::move(table)), first_(table_->pin(from)) {}
  ~TablePin() override { table_->unpin(first_); }
  TablePin(const TablePin&) = delete;
  TablePin& operator=(const TablePin&) = delete;

  RecordNumber first() const override { return first_; }
  bool holds() const override { return table_->segment_of(first_).has_value(); }

 private:
  const std::shared_ptr<SegmentTable> table_;
  const RecordNumber first_;
};

}  // namespace

class FileJournal::Alone {
 public:
  explicit Alone(std::atomic<bool>& is_in_use) : is_in_use_(is_in_use) {
    const bool was_in_use = is_in_use_.exchange(true, std::memory_order_acquire);
    CHECK(!was_in_use);
  }
  ~Alone() { is_in_use_.store(false, std::memory_order_release); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  std::atomic<bool>& is_in_use_;
};

FileJournal::FileJournal(WorldFolder& world, JournalOptions options, std::unique_ptr<Spares> spares,
                         std::shared_ptr<SegmentTable> table, SegmentWriter writer,
                         std::uint64_t epoch)
    : world_(world),
      options_(options),
      folder_(world.journal_path()),
      spares_(std::move(spares)),
      table_(std::move(table)),
      writer_(std::move(writer)),
      epoch_(epoch) {
  table_->set_durable(writer_.durable());
}

base::Result<void> FileJournal::alive() const {
  if (!latched_) return {};
  return base::Error(latched_->code, latched_->where, latched_->why);
}

base::Error FileJournal::latch(base::Error error) {
  const bool is_lost = error.code() == base::ErrorCode::kConflict;
  latched_ = {is_lost ? base::ErrorCode::kConflict : base::ErrorCode::kIo, error.where(),
              "the journal has stopped, nothing more will be acknowledged: " + error.message()};
  return {latched_->code, latched_->where, latched_->why};
}

base::Result<void> FileJournal::fence() {
  auto ours = world_.check_ours();
  if (!ours) return latch(std::move(ours).error());
  const std::string path = segment_path(folder_, writer_.segment().number);
  const auto is_there = writer_.is_at(path);
  if (!is_there) return latch({is_there.error().code(), path, is_there.error().message()});
  if (*is_there) return {};
  return latch({base::ErrorCode::kConflict, path, "the segment was removed or replaced"});
}

std::size_t FileJournal::max_batch_bytes() const { return kMaxBatchBytes - kBatchHeaderBytes; }

base::Result<RecordNumber> FileJournal::append(std::span<const base::ByteView> records, Room room) {
  const Alone alone(is_in_use_);
  TRY(alive());
  CHECK(!records.empty() && writer_.is_synced());
  const std::size_t body_bytes = body_bytes_of(records);
  if (body_bytes > max_batch_bytes()) {
    return base::Error(base::ErrorCode::kTooLarge,
                       "a batch of " + std::to_string(body_bytes) + " bytes; at most " +
                           std::to_string(max_batch_bytes()) + " are allowed");
  }
  TRY(fence());
  const std::size_t batch_bytes = batch_bytes_of(body_bytes);
  auto written = write(records, batch_bytes, room);
  if (!written) {
    if (latched_) return std::move(written).error();
    // A full disk is no reason to stop: the next batch is written over what there is of this one.
    if (written.error().code() == base::ErrorCode::kUnavailable) return std::move(written).error();
    return latch(std::move(written).error());
  }
  return writer_.last();
}

base::Result<void> FileJournal::write(std::span<const base::ByteView> records,
                                      std::size_t batch_bytes, Room room) {
  if (!writer_.has_room_for(batch_bytes)) TRY(roll(batch_bytes, room));
  return writer_.write(records);
}

base::Result<RecordNumber> FileJournal::sync() {
  const Alone alone(is_in_use_);
  return sync_batch();
}

// The fence comes behind the sync: whoever opens the world after it finds what is acknowledged.
base::Result<RecordNumber> FileJournal::sync_batch() {
  TRY(alive());
  if (writer_.is_synced()) return writer_.durable();
  auto synced = writer_.sync();
  if (!synced) return latch(std::move(synced).error());
  TRY(fence());
  table_->set_durable(writer_.durable());
  table_->add_landmark(writer_.segment().number, {writer_.chain(), writer_.end()});
  return writer_.durable();
}

base::Result<void> FileJournal::mark() {
  const Alone alone(is_in_use_);
  return write_mark();
}

base::Result<void> FileJournal::write_mark() {
  TRY(sync_batch());
  if (writer_.ends_with_mark()) return {};
  TRY(fence());
  auto written = writer_.write({});
  if (!written) {
    // As in append: whatever comes next is written over it.
    if (written.error().code() == base::ErrorCode::kUnavailable) return written;
    return latch(std::move(written).error());
  }
  TRY(sync_batch());
  return {};
}

base::Result<void> FileJournal::prepare() {
  TRY(world_.check_ours());
  return spares_->make_one();
}

bool FileJournal::has_room(Room room) const {
  const std::size_t kept_back = std::min(options_.reserve_segments, options_.spare_segments);
  if (room == Room::kReserve) return spares_->ready() >= kept_back;
  return spares_->ready() >= std::min(kept_back + 1, options_.spare_segments);
}

base::Result<std::string> FileJournal::take_blank(std::uint64_t bytes, Room room) {
  if (bytes > options_.segment_bytes) return spares_->make_apart(bytes);
  const std::size_t keep = room == Room::kReserve ? 0 : options_.reserve_segments;
  if (auto path = spares_->take(keep)) return *path;
  TRY(spares_->make_one());
  if (auto path = spares_->take(keep)) return *path;
  // Fewer are wanted than are kept back, or all of them are just being made.
  return spares_->make_apart(options_.segment_bytes);
}

base::Result<void> FileJournal::roll(std::size_t batch_bytes, Room room) {
  const std::uint64_t needed = SegmentWriter::segment_bytes_for(batch_bytes);
  if (writer_.has_failed_write()) {
    TRY(writer_.clear_failed_write());
    auto synced = writer_.sync_file();
    if (!synced) return latch(std::move(synced).error());
  }
  PutInUse put;
  put.blank_path = TRY(take_blank(needed, room));
  put.header.journal = world_.id();
  put.header.nonce = world_.random().next_u64();
  put.header.number = writer_.segment().number + 1;
  put.header.previous = writer_.segment().number;
  put.header.bytes = std::max(needed, options_.segment_bytes);
  put.header.first = writer_.chain().next;
  put.header.synced = writer_.durable();
  put.header.epoch = epoch_;
  put.header.chain = writer_.chain().hash;
  auto segment = put.run(world_.disk(), folder_);
  if (!segment) {
    // Once its name may be there, the new segment may be what the next opening goes by, and
    // nothing may be added to the old one any more.
    if (put.begun) return latch(std::move(segment).error());
    static_cast<void>(world_.disk().remove(put.blank_path).has_value());
    return std::move(segment).error();
  }
  auto handed_over = writer_.hand_over_to(put.header.number);
  if (!handed_over) return latch(std::move(handed_over).error());
  writer_ = SegmentWriter(std::move(*segment), kBlockBytes, writer_.chain(), epoch_);
  table_->add({writer_.segment().number, writer_.segment().first});
  return {};
}

base::Result<void> FileJournal::trim(RecordNumber below) {
  const Alone alone(is_in_use_);
  TRY(alive());
  TRY(fence());
  table_->give_up(below);
  // One after the other, each durably: a gap would look like damage. Readers are told first.
  while (auto entry = table_->take_given_up(options_.held_segments)) {
    auto gone = spares_->recycle(segment_path(folder_, entry->number));
    if (gone) {
      table_->removed();
      continue;
    }
    if (gone.error().code() != base::ErrorCode::kUnavailable) return latch(std::move(gone).error());
    table_->put_back(std::move(*entry));
    return gone;
  }
  return {};
}

base::Result<std::unique_ptr<JournalReader>> FileJournal::read(RecordNumber from) {
  return read_file_journal(world_.disk(), folder_, world_.id(), table_, from);
}

std::unique_ptr<JournalPin> FileJournal::pin(RecordNumber from) {
  return std::make_unique<TablePin>(table_, from);
}

base::Result<void> FileJournal::close() {
  const Alone alone(is_in_use_);
  TRY(write_mark());
  latched_ = {base::ErrorCode::kIo, folder_, "the journal is closed"};
  return {};
}

}  // namespace holdfast::store
