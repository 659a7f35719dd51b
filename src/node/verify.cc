// SPDX-License-Identifier: Apache-2.0
#include "node/verify.h"

#include <utility>

#include "node/back_references.h"
#include "node/seal_check.h"
#include "node/trial_replay.h"

namespace holdfast::node {
namespace {

class Verification {
 public:
  Verification(const store::JournalFiles& journal, const kernel::MachineSource& machines,
               const Witnesses& witnesses)
      : journal_(journal),
        witnesses_(witnesses),
        references_(journal.first()),
        replay_(machines, witnesses.blobs),
        seals_(witnesses.seals.get(), journal.first(), witnesses.terms, report_.errors) {
    report_.first = journal.first();
    report_.last = journal.last();
    report_.segments = journal.segment_count();
    report_.snapshots = witnesses.snapshots.size();
  }

  VerifyReport run(const std::function<void(store::RecordNumber)>& progress) {
    witnesses_.check_range(journal_.first(), journal_.last(), report_.errors);
    if (journal_.first() > 1) begin_with_a_snapshot();
    auto read = read_all(progress);
    if (!read) report_.errors.push_back(std::move(read).error());
    auto looked = look_behind();
    if (!looked) report_.errors.push_back(std::move(looked).error());
    seals_.finish(journal_.last(), report_.notes);
    report_.sealed = seals_.records();
    report_.last_seal = seals_.last();
    report_.instances = references_.followed();
    report_.unfollowed = references_.unfollowed();
    report_.replayed = replay_.replayed();
    report_.snapshots_replayed = replay_.reached();
    if (!is_wrong_) report_.replay_stopped = replay_.stopped();
    return std::move(report_);
  }

 private:
  // With the oldest that can be used: then the others are compared.
  void begin_with_a_snapshot() {
    const std::string begins = "the journal begins with record " + std::to_string(journal_.first());
    for (auto entry = witnesses_.snapshots.rbegin(); entry != witnesses_.snapshots.rend();
         ++entry) {
      if (entry->next_record < journal_.first()) continue;
      auto begun = replay_.begin_with(*entry);
      if (!begun) {
        is_wrong_ = true;
        report_.errors.push_back(std::move(begun).error());
        continue;
      }
      if (entry->next_record > journal_.first() && replay_.stopped().empty()) {
        report_.notes.push_back(begins + ", and replay with record " +
                                std::to_string(entry->next_record) + ", behind " + name_of(*entry));
      }
      return;
    }
    replay_.stop(begins + ", and there is no snapshot to begin with");
  }

  base::Result<void> read_all(const std::function<void(store::RecordNumber)>& progress) {
    const auto reader = TRY(journal_.read(journal_.first()));
    while (const auto record = TRY(reader->next())) {
      check(*record);
      ++report_.records;
      if (progress && record->number % 4096 == 0) progress(record->number);
    }
    return {};
  }

  void check(const store::Record& record) {
    seals_.check(record);
    const auto view = kernel::read_record(record.bytes);
    const std::string name = "record " + std::to_string(record.number);
    if (!view) {
      report_.errors.push_back(
          base::Error(base::ErrorCode::kCorrupt, name, view.error().message()));
      return;
    }
    if (view->number != record.number) {
      report_.errors.push_back(
          base::Error(base::ErrorCode::kCorrupt, name,
                      "says that it is record " + std::to_string(view->number)));
    }
    if (auto problem = references_.follow(*view)) report_.errors.push_back(std::move(*problem));
    witnesses_.check_record(record, report_.errors);
    keep(replay_.replay(record));
    for (const store::SnapshotEntry& entry : witnesses_.snapshots) {
      if (entry.next_record == record.number + 1) keep(replay_.compare(entry));
    }
  }

  void keep(base::Result<void> replayed) {
    if (replayed) return;
    is_wrong_ = true;
    report_.errors.push_back(std::move(replayed).error());
  }

  // Where zeros should be, and where nothing counts.
  base::Result<void> look_behind() {
    for (const store::JournalFiles::Rest& rest : TRY(journal_.rests())) {
      if (rest.is_void) {
        report_.notes.push_back(place(rest.bytes) +
                                " is what a recovery has written again elsewhere");
      } else {
        report_.errors.push_back(
            store::corrupt_at(rest.bytes.path, rest.bytes.begin,
                              "should be zero or a mark, behind the last record of the segment"));
      }
    }
    if (const auto torn = journal_.torn_tail()) {
      report_.errors.push_back(store::corrupt_at(
          torn->path, torn->begin,
          "is not zero, behind the last batch: a torn write, which opening the world will cut off "
          "and keep aside, or damage"));
    }
    return {};
  }

  static std::string place(const store::StrayBytes& bytes) {
    return bytes.path + " from " + std::to_string(bytes.begin) + " to " + std::to_string(bytes.end);
  }

  const store::JournalFiles& journal_;
  const Witnesses& witnesses_;
  BackReferences references_;
  TrialReplay replay_;
  bool is_wrong_ = false;
  VerifyReport report_;
  SealCheck seals_;  // puts errors into the report
};

}  // namespace

VerifyReport verify_journal(const store::JournalFiles& journal,
                            const kernel::MachineSource& machines, const Witnesses& witnesses,
                            const std::function<void(store::RecordNumber)>& progress) {
  return Verification(journal, machines, witnesses).run(progress);
}

}  // namespace holdfast::node
