// SPDX-License-Identifier: Apache-2.0
// Opening: looks at everything first, then makes durable what may not be, and raises the epoch,
// before anybody can read or append.
#include <algorithm>
#include <utility>

#include "store/file_journal_body.h"
#include "store/journal_witness.h"
#include "store/recovery.h"
#include "store/torn_files.h"

namespace holdfast::store {
namespace {

// A segment that opening has to make itself is small, so that opening is quick.
constexpr std::uint64_t kQuickSegmentBytes = std::uint64_t{1} << 20;

class Opening {
 public:
  Opening(WorldFolder& world, const JournalOptions& options)
      : world_(world), options_(options), folder_(world.journal_path()) {}

  base::Result<OpenedJournal> run();

 private:
  base::Result<void> check_witness(const Tail& tail, const std::string& path) const;
  base::Result<SegmentWriter> begin();
  base::Result<SegmentWriter> go_on(Segment segment, const Tail& tail);
  base::Result<SegmentWriter> start_over(Segment old, const Tail& tail);
  base::Result<void> keep_torn_bytes(const Segment& segment, const Tail& tail);
  base::Result<std::string> take_blank(std::uint64_t& bytes);
  SegmentHeader new_header(std::uint64_t number, std::uint64_t bytes);

  WorldFolder& world_;
  const JournalOptions options_;
  const std::string folder_;
  std::unique_ptr<Spares> spares_;
  std::shared_ptr<SegmentTable> table_ = std::make_shared<SegmentTable>();
  RecoveryReport report_;
  std::uint64_t epoch_ = 1;
};

base::Result<OpenedJournal> Opening::run() {
  env::Disk& disk = world_.disk();
  const std::vector<std::string> names = TRY(disk.list(folder_));
  const std::vector<SegmentHeader> headers =
      TRY(read_segment_headers(disk, folder_, world_.id(), names));
  if (headers.empty() && world_.is_begun())
    return corrupt_at(folder_, 0, "the segments of the journal are not there");

  std::optional<Segment> last;
  Tail tail;
  if (!headers.empty()) {
    const std::uint64_t number = headers.back().number;
    last = TRY(open_segment(disk, folder_, world_.id(), number, env::OpenMode::kReadWrite));
    tail = TRY(scan_tail(*last, segment_path(folder_, number)));
    epoch_ = tail.epoch + 1;
    TRY(check_witness(tail, segment_path(folder_, number)));
  }
  // From here on things are changed. The name of the last segment may itself not be durable.
  TRY(disk.sync_directory(folder_));
  spares_ =
      std::make_unique<Spares>(disk, folder_, options_.segment_bytes, options_.spare_segments);
  report_.unusable_spares = spares_->adopt(names);
  for (const SegmentHeader& header : headers) table_->add({header.number, header.first});

  report_.was_clean = !last || tail.is_clean();
  SegmentWriter writer = !last             ? TRY(begin())
                         : tail.is_clean() ? TRY(go_on(std::move(*last), tail))
                                           : TRY(start_over(std::move(*last), tail));
  TRY(world_.set_begun());
  return OpenedJournal{std::make_unique<FileJournal>(world_, options_, std::move(spares_),
                                                     std::move(table_), std::move(writer), epoch_),
                       std::move(report_)};
}

// A damaged last batch looks like a torn write. What was made of it tells them apart.
base::Result<void> Opening::check_witness(const Tail& tail, const std::string& path) const {
  std::string lost = describe_lost_records(world_, tail.chain.next - 1);
  if (lost.empty()) return {};
  return corrupt_at(path, tail.end, std::move(lost));
}

SegmentHeader Opening::new_header(std::uint64_t number, std::uint64_t bytes) {
  SegmentHeader header;
  header.journal = world_.id();
  header.nonce = world_.random().next_u64();
  header.number = number;
  header.bytes = bytes;
  header.first = 1;
  header.epoch = epoch_;
  return header;
}

// A blank file of at least so many bytes; sets `bytes` to how many it has.
base::Result<std::string> Opening::take_blank(std::uint64_t& bytes) {
  if (bytes <= options_.segment_bytes) {
    if (auto spare = spares_->take(0)) {
      bytes = options_.segment_bytes;
      return *spare;
    }
  }
  bytes = std::max(bytes, std::min(options_.segment_bytes, kQuickSegmentBytes));
  return spares_->make_apart(bytes);
}

base::Result<SegmentWriter> Opening::begin() {
  std::uint64_t bytes = kBlockBytes;
  PutInUse put;
  put.blank_path = TRY(take_blank(bytes));
  put.header = new_header(1, bytes);
  put.header.first = options_.first_record;
  put.header.synced = options_.first_record - 1;
  Segment segment = TRY(put.run(world_.disk(), folder_));
  table_->add({1, options_.first_record});
  return SegmentWriter(std::move(segment), kBlockBytes, ChainPoint{options_.first_record, {}},
                       epoch_);
}

// The mark that says the new epoch is also what makes it durable.
base::Result<SegmentWriter> Opening::go_on(Segment segment, const Tail& tail) {
  SegmentWriter writer(std::move(segment), tail.resume(), tail.chain, epoch_);
  TRY(writer.write({}));
  TRY(writer.sync());
  return writer;
}

base::Result<void> Opening::keep_torn_bytes(const Segment& segment, const Tail& tail) {
  const std::uint64_t number = segment.header.number;
  base::Bytes bytes(static_cast<std::size_t>(tail.used_end - tail.end));
  TRY(env::read_all(*segment.file, tail.end, bytes));
  const std::string path = folder_ + "/" + torn_name(number, tail.end);
  const auto kept = env::replace_file(world_.disk(), path, bytes);
  const bool is_full = !kept && kept.error().code() == base::ErrorCode::kUnavailable;
  if (!kept && !is_full) return base::Error(kept.error().code(), path, kept.error().message());
  report_.torn = {segment_path(folder_, number), tail.end, bytes.size(),
                  is_full ? std::string() : path,
                  TRY(remove_old_torn_files(world_.disk(), folder_))};
  return {};
}

// Batches above the watermark may be in memory only, and syncing the old file again proves nothing:
// after a failed sync the system believes that they were written.
base::Result<SegmentWriter> Opening::start_over(Segment old, const Tail& tail) {
  if (tail.is_torn()) TRY(keep_torn_bytes(old, tail));
  const std::string old_path = segment_path(folder_, old.header.number);
  const DurableEnd durable = TRY(find_durable_end(old, old_path, tail));
  std::uint64_t bytes =
      SegmentWriter::segment_bytes_for(static_cast<std::size_t>(tail.end - durable.end));
  DurableEnd end;
  PutInUse put;
  put.blank_path = TRY(take_blank(bytes));
  put.header = new_header(old.header.number + 1, bytes);
  put.header.previous = old.header.number;
  put.header.first = durable.chain.next;
  put.header.synced = tail.chain.next - 1;
  put.header.chain = durable.chain.hash;
  put.write_contents = [&](env::File& file, const SegmentHeader& header) -> base::Result<void> {
    end = TRY(copy_forward(old, durable, tail, file, header));
    return {};
  };
  Segment segment = TRY(put.run(world_.disk(), folder_));
  report_.copied_records = tail.chain.next - durable.chain.next;
  report_.copied_bytes = report_.copied_records == 0 ? 0 : end.end - kBlockBytes;
  table_->add({segment.header.number, segment.header.first});
  // The new segment stands for these bytes now. Bytes that have no copy stay.
  const bool has_all = !report_.torn || !report_.torn->kept_in.empty();
  if (has_all) TRY(old.file->truncate(durable.end));
  return SegmentWriter(std::move(segment), end.end, end.chain, epoch_);
}

}  // namespace

base::Result<OpenedJournal> open_file_journal(WorldFolder& world, JournalOptions options) {
  return Opening(world, options).run();
}

}  // namespace holdfast::store
