// SPDX-License-Identifier: Apache-2.0
#include "store/salvage.h"

#include <algorithm>
#include <utility>

#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "store/file_journal.h"

namespace holdfast::store {
namespace {

class Salvaging {
 public:
  explicit Salvaging(WorldFolder world) : world_(std::move(world)) {}

  base::Result<void> add(RecordNumber first, std::span<const base::ByteView> records) {
    if (!journal_) TRY(begin(first));
    const RecordNumber last = first + records.size() - 1;
    if (first == report_.last + 1) {
      TRY(journal_->append(records));
      TRY(journal_->sync());
      report_.last = last;
      return {};
    }
    return put_aside(first, last, records);
  }

  base::Result<SalvageReport> finish(Damage damage) {
    report_.lost = std::move(damage);
    if (!journal_) TRY(begin(1));
    TRY(journal_->close());
    if (aside_) TRY(aside_->sync_data());
    TRY(write_marker(world_, report_, true));
    return std::move(report_);
  }

  // Before anything else: a salvage that is interrupted must not look like a world.
  static base::Result<void> write_marker(const WorldFolder& world, const SalvageReport& report,
                                         bool is_complete) {
    const base::Bytes document = document_of(report, is_complete);
    const std::string text =
        codec::to_json(codec::View::of(document), codec::JsonStyle::kIndented) + "\n";
    return env::replace_file(world.disk(), world.path() + "/" + kSalvagedFile,
                             base::as_bytes(text));
  }

 private:
  base::Result<void> begin(RecordNumber first) {
    journal_ = TRY(open_file_journal(world_, {.first_record = first})).journal;
    report_.first = first;
    report_.last = first - 1;
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

  WorldFolder world_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<env::File> aside_;
  std::uint64_t aside_end_ = 0;
  SalvageReport report_;
};

base::Result<void> refuse_if_there(env::Disk& disk, const std::string& path) {
  const auto names = disk.list(path);
  if (!names && names.error().code() == base::ErrorCode::kNotFound) return {};
  if (!names) return base::Error(names.error().code(), path, names.error().message());
  return base::Error(base::ErrorCode::kConflict, path, "is there already");
}

void write_range(codec::Buffer& out, RecordNumber first, RecordNumber last) {
  codec::write_text(out, "first");
  codec::write_nat(out, first);
  codec::write_text(out, "last");
  codec::write_nat(out, last);
}

}  // namespace

base::Bytes document_of(const SalvageReport& report, bool is_complete) {
  codec::Buffer out;
  codec::write_map_head(out, 6);
  codec::write_text(out, "complete");
  codec::write_bool(out, is_complete);
  write_range(out, report.first, report.last);
  codec::write_text(out, "aside");
  codec::write_list_head(out, report.aside.size());
  for (const SalvageReport::Aside& aside : report.aside) {
    codec::write_map_head(out, 3);
    write_range(out, aside.first, aside.last);
    codec::write_text(out, "file");
    codec::write_text(out, aside.file);
  }
  codec::write_text(out, "lost_records");
  codec::write_list_head(out, report.lost.records.size());
  for (const LostRecords& lost : report.lost.records) {
    codec::write_map_head(out, 2);
    write_range(out, lost.first, lost.last);
  }
  codec::write_text(out, "lost_bytes");
  codec::write_list_head(out, report.lost.bytes.size());
  for (const LostBytes& lost : report.lost.bytes) {
    codec::write_map_head(out, 4);
    codec::write_text(out, "file");
    codec::write_text(out, lost.path);
    codec::write_text(out, "begin");
    codec::write_nat(out, lost.begin);
    codec::write_text(out, "end");
    codec::write_nat(out, lost.end);
    codec::write_text(out, "why");
    codec::write_text(out, lost.why);
  }
  return out.to_bytes();
}

base::Result<bool> is_salvaged(const WorldFolder& world) {
  const std::vector<std::string> names = TRY(world.disk().list(world.path()));
  return std::ranges::binary_search(names, kSalvagedFile);
}

base::Result<SalvageReport> salvage(env::Disk& disk, env::Random& random, env::Process& process,
                                    const std::string& from, const std::string& to) {
  const std::string journal = from + "/journal";
  TRY(disk.list(journal));
  const auto lock = TRY(disk.lock(from + "/LOCK", env::describe(process)));
  const auto id = read_world_id(disk, from);
  TRY(refuse_if_there(disk, to));
  WorldFolder world = TRY(WorldFolder::open(disk, random, process, to));
  TRY(Salvaging::write_marker(world, {}, false));
  Salvaging salvaging(std::move(world));
  Damage damage =
      TRY(read_damaged_journal(disk, journal, id ? std::optional(*id) : std::nullopt,
                               [&](RecordNumber first, std::span<const base::ByteView> records) {
                                 return salvaging.add(first, records);
                               }));
  if (!id) {
    damage.bytes.insert(damage.bytes.begin(),
                        LostBytes{from + "/WORLD", 0, 0, id.error().message()});
  }
  return salvaging.finish(std::move(damage));
}

}  // namespace holdfast::store
