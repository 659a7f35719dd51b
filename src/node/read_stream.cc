// SPDX-License-Identifier: Apache-2.0
#include "node/read_stream.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "node/stream_entries.h"
#include "node/unhandled.h"
#include "store/record_at.h"

namespace holdfast::node {
namespace {

// How far one look walks back.
constexpr std::size_t kMaxWalkRecords = 1024;
constexpr std::size_t kMaxWalkBytes = std::size_t{16} << 20;

// What the records behind the index say of the present life of the instance.
struct Walked {
  std::vector<store::StreamEntry> entries;
  std::optional<StreamEnd> end;
  store::RecordNumber began = 0;  // the record, if the life began behind the index
  bool is_whole = true;           // false: there is more than one look can see
};

class Reader {
 public:
  Reader(store::Journal& journal, store::HistoryIndex& index, const StreamQuery& query)
      : journal_(journal), index_(index), query_(query), after_(query.after) {}

  base::Result<std::optional<StreamPage>> read() {
    row_ = TRY(index_.find(query_.instance.workflow, query_.instance.key));
    return query_.last_record == 0 ? read_what_is_gone() : read_what_is_there();
  }

 private:
  store::RecordNumber seen() const { return index_.cursor().record; }

  // Only the index can tell how an instance was that is not there any more.
  base::Result<std::optional<StreamPage>> read_what_is_gone() {
    if (seen() < query_.durable) return std::optional<StreamPage>();
    // An event that no instance took leaves a row, and nothing to read.
    if (!row_ || TRY(is_unhandled(journal_, index_, *row_))) return not_found();
    lose(lost_by_index());
    TRY(add_from_index());
    if (!is_full_ && row_->ended != 0) page_.end = StreamEnd{row_->ended, row_->status};
    return std::optional(std::move(page_));
  }

  base::Result<std::optional<StreamPage>> read_what_is_there() {
    if (is_forgotten_since()) return not_found();
    Walked walked;
    if (query_.last_record > seen()) walked = TRY(walk());
    // What the index has may be of an earlier life: that is known when all that is behind it is.
    if (!walked.is_whole) return std::optional<StreamPage>();
    if (walked.began != 0) {
      // All that the index has is of an earlier life.
      if (after_ != 0) lose(sequence_of(walked.began, 0) - 1);
    } else {
      lose(lost_by_index());
      if (row_) TRY(add_from_index());
    }
    if (is_full_) return std::optional(std::move(page_));
    for (store::StreamEntry& entry : walked.entries) {
      if (is_full_) return std::optional(std::move(page_));
      add(std::move(entry));
    }
    if (is_full_) return std::optional(std::move(page_));
    if (walked.end) {
      page_.end = std::move(walked.end);
    } else if (!query_.ended_as.empty()) {
      // Where it ended before the index began, or the reader has read of it, it ends here.
      const std::uint64_t last = page_.entries.empty() ? after_ : page_.entries.back().sequence;
      page_.end = StreamEnd{std::max(last, row_ ? row_->ended : 0), query_.ended_as};
    }
    return std::optional(std::move(page_));
  }

  // The index has seen all that the reader knows of the instance, and does not have it any more.
  bool is_forgotten_since() const {
    if (query_.last_record > seen() || query_.last_record < index_.cursor().begins) return false;
    return !row_ || row_->first_record > query_.last_record;
  }

  base::Error not_found() const { return {base::ErrorCode::kNotFound, "there is no " + name()}; }

  // Up to which sequence the index has nothing of the present life any more, or never had.
  std::uint64_t lost_by_index() const {
    if (!row_ || row_->first_record == 0) {
      return index_.cursor().begins <= 1 ? 0 : sequence_of(index_.cursor().begins, 0) - 1;
    }
    // One who has read an earlier life of the key is told that he missed how it went on.
    const std::uint64_t before = sequence_of(row_->first_record, 0) - 1;
    if (query_.after != 0 && query_.after < before) return std::max(before, row_->dropped);
    return row_->dropped;
  }

  void lose(std::uint64_t up_to) {
    if (after_ >= up_to) return;
    page_.truncated = up_to;
    after_ = up_to;
  }

  base::Result<void> add_from_index() {
    for (store::StreamEntry& entry :
         TRY(index_.stream(row_->id, after_, query_.limit + 1, query_.bytes))) {
      add(std::move(entry));
    }
    // It may have been cut by its bytes.
    if (!is_full_ && !page_.entries.empty()) {
      const auto more = TRY(index_.stream(row_->id, page_.entries.back().sequence, 1, 1));
      is_full_ = !more.empty();
    }
    return {};
  }

  void add(store::StreamEntry entry) {
    if (entry.sequence <= after_ || is_full_) return;
    const bool has_room = page_.entries.empty() || (page_.entries.size() < query_.limit &&
                                                    bytes_ + entry.value.size() <= query_.bytes);
    if (!has_room) {
      is_full_ = true;
      return;
    }
    bytes_ += entry.value.size();
    page_.entries.push_back(std::move(entry));
  }

  // The newest record first, until the index has it, or the reader.
  base::Result<Walked> walk() {
    const store::RecordNumber from = std::max(seen() + 1, record_of(query_.after));
    Walked walked;
    std::size_t records = 0;
    std::size_t bytes = 0;
    for (store::RecordNumber next = query_.last_record; next >= from;) {
      walked.is_whole =
          records++ < kMaxWalkRecords && bytes < kMaxWalkBytes && next >= journal_.first();
      if (!walked.is_whole) return walked;
      const base::Bytes record = TRY(store::record_at(journal_, next));
      const kernel::RecordView view = TRY(kernel::read_record(record));
      bytes += record.size();
      const auto previous = take(view, walked);
      if (!previous) {
        return base::Error(base::ErrorCode::kCorrupt, "record " + std::to_string(next),
                           "does not belong to " + name());
      }
      if (walked.began != 0) break;
      next = *previous;
    }
    std::reverse(walked.entries.begin(), walked.entries.end());
    return walked;
  }

  // The record that touched the instance before. Nothing: this one does not touch it.
  std::optional<store::RecordNumber> take(const kernel::RecordView& view, Walked& walked) const {
    std::optional<store::RecordNumber> previous;
    for (std::size_t i = view.instances.size(); i-- > 0;) {
      const kernel::InstanceView& instance = view.instances[i];
      if (instance.workflow != query_.instance.workflow ||
          !base::equal(instance.key, query_.instance.key))
        continue;
      // An earlier life of the key, which is not what is asked for.
      if (instance.status == "deleted") {
        walked.began = view.number;
        break;
      }
      previous = instance.previous;
      PutOut out = put_out(view, i);
      if (out.ended != 0) walked.end = StreamEnd{out.ended, std::string(instance.status)};
      walked.entries.insert(walked.entries.end(), std::make_move_iterator(out.entries.rbegin()),
                            std::make_move_iterator(out.entries.rend()));
    }
    if (previous == store::RecordNumber{0}) walked.began = view.number;
    return previous;
  }

  std::string name() const {
    return kernel::instance_name(query_.instance.workflow, query_.instance.key);
  }

  store::Journal& journal_;
  store::HistoryIndex& index_;
  const StreamQuery& query_;
  std::uint64_t after_;
  std::optional<store::InstanceRow> row_;
  StreamPage page_;
  std::size_t bytes_ = 0;
  bool is_full_ = false;
};

}  // namespace

base::Result<std::optional<StreamPage>> read_stream(store::Journal& journal,
                                                    store::HistoryIndex& index,
                                                    const StreamQuery& query) {
  return Reader(journal, index, query).read();
}

}  // namespace holdfast::node
