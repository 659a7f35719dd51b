// SPDX-License-Identifier: Apache-2.0
#include "node/verify.h"

#include <utility>

#include "node/back_references.h"
#include "node/trial_replay.h"

namespace holdfast::node {
namespace {

class Verification {
 public:
  Verification(const store::JournalFiles& journal, const kernel::MachineSource& machines)
      : journal_(journal), references_(journal.first()), replay_(machines) {
    report_.first = journal.first();
    report_.last = journal.last();
    report_.segments = journal.segment_count();
    if (journal.first() > 1) {
      replay_.stop("the journal begins with record " + std::to_string(journal.first()) +
                   ", and what was before it is not here");
    }
  }

  VerifyReport run(const std::function<void(store::RecordNumber)>& progress) {
    auto read = read_all(progress);
    if (!read) report_.errors.push_back(std::move(read).error());
    auto looked = look_behind();
    if (!looked) report_.errors.push_back(std::move(looked).error());
    report_.instances = references_.followed();
    report_.unfollowed = references_.unfollowed();
    report_.replayed = replay_.replayed();
    if (!is_wrong_) report_.replay_stopped = replay_.stopped();
    return std::move(report_);
  }

 private:
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
    auto replayed = replay_.replay(record.bytes);
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
        report_.errors.push_back(store::corrupt_at(
            rest.bytes.path, rest.bytes.begin, "should be zero, behind the end of the segment"));
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
  BackReferences references_;
  TrialReplay replay_;
  bool is_wrong_ = false;
  VerifyReport report_;
};

}  // namespace

VerifyReport verify_journal(const store::JournalFiles& journal,
                            const kernel::MachineSource& machines,
                            const std::function<void(store::RecordNumber)>& progress) {
  return Verification(journal, machines).run(progress);
}

}  // namespace holdfast::node
