// SPDX-License-Identifier: Apache-2.0
#include "store/salvage.h"

#include <algorithm>
#include <utility>

#include "codec/json_writer.h"
#include "store/blobs_look.h"
#include "store/copy_blobs.h"
#include "store/file_journal.h"
#include "store/salvage_survey.h"

namespace holdfast::store {
namespace {

// Of those that are lost; the rest is counted.
constexpr std::uint64_t kMostBlobsNamed = 100;

class Salvaging {
 public:
  Salvaging(WorldPlace old, WorldFolder world, const BlobShapes& shapes,
            const std::function<void(RecordNumber)>& progress)
      : old_(std::move(old)), world_(std::move(world)), shapes_(shapes), progress_(progress) {}

  base::Result<SalvageReport> run() {
    // Before anything else: a salvage that is interrupted must not look like a world.
    TRY(write_report(kSalvagingFile, false));
    SalvageSurvey survey(look_at_snapshots());
    TRY(read_old([&](RecordNumber first, std::span<const base::ByteView> records) {
      return survey.add(first, records);
    }));
    TRY(take_snapshots(survey));
    TRY(begin_journal(survey));
    Damage damage = TRY(read_old([&](RecordNumber first, std::span<const base::ByteView> records) {
      return take_records(first, records);
    }));
    if (aside_) TRY(aside_->sync_data());
    TRY(take_effect_blobs());
    TRY(list_snapshots());
    TRY(journal_->close());
    std::ranges::move(damage.bytes, std::back_inserter(report_.lost.bytes));
    report_.lost.records = std::move(damage.records);
    TRY(write_report(kSalvagedFile, true));
    TRY(world_.disk().remove(world_.path() + "/" + kSalvagingFile));
    TRY(world_.disk().sync_directory(world_.path()));
    return std::move(report_);
  }

  void note_lost(const std::string& file, const base::Error& error) {
    report_.lost.bytes.push_back({old_.path + "/" + file, 0, 0, error.message()});
  }

 private:
  base::Result<Damage> read_old(const BatchVisitor& visit) {
    const auto told = [&](RecordNumber first, std::span<const base::ByteView> records) {
      if (progress_) progress_(first);
      return visit(first, records);
    };
    return read_damaged_journal(old_.disk, old_.path + "/journal", old_.id, told);
  }

  base::Result<void> write_report(const std::string& file, bool is_complete) const {
    const base::Bytes document = document_of(report_, is_complete);
    const std::string text =
        codec::to_json(codec::View::of(document), codec::JsonStyle::kIndented) + "\n";
    return env::replace_file(world_.disk(), world_.path() + "/" + file, base::as_bytes(text));
  }

  // A file that cannot be read has none.
  std::vector<SnapshotEntry> look_at_snapshots() {
    auto look = BlobsLook::open(old_);
    if (!look) {
      note_lost(kKernelBlobs, look.error());
      return {};
    }
    if (!*look) return {};
    auto snapshots = (*look)->snapshots();
    if (!snapshots) {
      note_lost(kKernelBlobs, snapshots.error());
      return {};
    }
    old_blobs_ = std::move(*look);
    return std::move(*snapshots);
  }

  // Decides for the run of the newest snapshot that is whole, and takes over all that stand in it.
  base::Result<void> take_snapshots(const SalvageSurvey& survey) {
    for (const SnapshotEntry& entry : survey.snapshots()) {
      const std::string why = TRY(take_snapshot(survey, entry));
      report_.snapshots.push_back({entry.next_record, why});
    }
    return {};
  }

  // Why it was not taken, or nothing.
  base::Result<std::string> take_snapshot(const SalvageSurvey& survey, const SnapshotEntry& entry) {
    const auto run = survey.run_of(entry);
    if (!run) return std::string("the record that it was taken after is lost");
    if (chosen_ && chosen_->first != run->first)
      return std::string("records behind it are lost, and a newer one is whole");
    if (!blobs_) blobs_ = TRY(BlobStore::open(world_));
    const auto copied =
        copy_reachable([this](const base::Hash& hash) { return old_blobs_->get(hash); }, *blobs_,
                       shapes_, {entry.hash, shapes_.snapshot});
    if (!copied) {
      // What is wrong with the new place ends the salvage, what is wrong with the old one does not.
      const base::ErrorCode code = copied.error().code();
      if (code == base::ErrorCode::kIo || code == base::ErrorCode::kUnavailable)
        return base::Error(code, copied.error().where(), copied.error().message());
      return copied.error().to_string();
    }
    chosen_ = run;
    taken_.push_back(entry);
    return std::string();
  }

  // What workflows put: the states of the new world may name any of it.
  base::Result<void> take_effect_blobs() {
    auto old = BlobsLook::open(old_, kEffectBlobs);
    if (!old) return note_lost(kEffectBlobs, old.error()), base::Result<void>();
    if (!*old) return {};
    const auto blobs = TRY(BlobStore::open(world_, kEffectBlobs));
    std::uint64_t lost = 0;
    report_.effect_blobs = TRY(copy_all_blobs(
        **old, *blobs, [&](std::uint64_t number, const base::Error& why) -> base::Result<void> {
          if (++lost <= kMostBlobsNamed)
            note_lost(std::string(kEffectBlobs) + ", blob number " + std::to_string(number), why);
          return {};
        }));
    // Damage need not show in any one blob: whole parts of the file may be out of reach.
    if (const std::string damage = (*old)->damage(); lost == 0 && !damage.empty())
      note_lost(kEffectBlobs, base::Error(base::ErrorCode::kCorrupt, damage));
    if (lost > kMostBlobsNamed) {
      note_lost(kEffectBlobs,
                base::Error(base::ErrorCode::kCorrupt,
                            "and " + std::to_string(lost - kMostBlobsNamed) + " more blobs"));
    }
    return {};
  }

  base::Result<void> begin_journal(const SalvageSurvey& survey) {
    if (!chosen_) chosen_ = survey.first_run();
    report_.first = chosen_ ? chosen_->first : 1;
    report_.last = report_.first - 1;
    journal_ = TRY(open_file_journal(world_, {.first_record = report_.first})).journal;
    return {};
  }

  base::Result<void> take_records(RecordNumber first, std::span<const base::ByteView> records) {
    const RecordNumber last = first + records.size() - 1;
    if (first != report_.last + 1) return put_aside(first, last, records);
    TRY(journal_->append(records));
    TRY(journal_->sync());
    report_.last = last;
    return {};
  }

  base::Result<void> put_aside(RecordNumber first, RecordNumber last,
                               std::span<const base::ByteView> records) {
    if (!aside_ || report_.aside.back().last + 1 != first) {
      if (aside_) TRY(aside_->sync_data());
      report_.aside.push_back({first, last, "records-from-" + std::to_string(first) + ".cborseq"});
      aside_ = TRY(world_.disk().open(world_.path() + "/" + report_.aside.back().file,
                                      env::OpenMode::kCreate));
      aside_end_ = 0;
    }
    for (const base::ByteView record : records) {
      TRY(env::write_all(*aside_, aside_end_, record));
      aside_end_ += record.size();
    }
    report_.aside.back().last = last;
    return {};
  }

  // From the oldest on, when the records that they stand for are there.
  base::Result<void> list_snapshots() {
    if (taken_.empty()) return {};
    const auto list = TRY(Snapshots::open(*blobs_));
    for (auto entry = taken_.rbegin(); entry != taken_.rend(); ++entry) {
      const base::Bytes bytes = TRY(blobs_->get(entry->hash));
      TRY(list->add(*journal_, entry->next_record, bytes, entry->time_ns, taken_.size()));
    }
    return {};
  }

  const WorldPlace old_;
  WorldFolder world_;
  const BlobShapes& shapes_;
  const std::function<void(RecordNumber)>& progress_;
  std::unique_ptr<BlobsLook> old_blobs_;
  std::unique_ptr<BlobStore> blobs_;  // made when there is something for it
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<env::File> aside_;
  std::uint64_t aside_end_ = 0;
  std::optional<RecordRun> chosen_;
  std::vector<SnapshotEntry> taken_;  // from the newest
  SalvageReport report_;
};

base::Result<void> refuse_if_there(env::Disk& disk, const std::string& path) {
  const auto names = disk.list(path);
  if (!names && names.error().code() == base::ErrorCode::kNotFound) return {};
  if (!names) return base::Error(names.error().code(), path, names.error().message());
  return base::Error(base::ErrorCode::kConflict, path, "is there already");
}

}  // namespace

base::Result<bool> is_salvaged(const WorldFolder& world) {
  const std::vector<std::string> names = TRY(world.disk().list(world.path()));
  return std::ranges::binary_search(names, kSalvagedFile);
}

base::Result<SalvageReport> salvage(env::Disk& disk, env::Random& random, env::Process& process,
                                    const std::string& from, const std::string& to,
                                    const BlobShapes& shapes,
                                    const std::function<void(RecordNumber)>& progress) {
  TRY(disk.list(from + "/journal"));
  const auto lock = TRY(disk.lock(from + "/LOCK", env::describe(process)));
  const auto id = read_world_id(disk, from);
  TRY(refuse_if_there(disk, to));
  WorldFolder world = TRY(WorldFolder::open(disk, random, process, to));
  const WorldPlace old{disk, random, from, id ? std::optional(*id) : std::nullopt};
  Salvaging salvaging(old, std::move(world), shapes, progress);
  if (!id) salvaging.note_lost("WORLD", id.error());
  return salvaging.run();
}

}  // namespace holdfast::store
