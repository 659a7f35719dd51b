// SPDX-License-Identifier: Apache-2.0
#include "cli/verify_world.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "cli/existing_world.h"
#include "cli/progress.h"
#include "node/past_world.h"
#include "store/blobs_look.h"
#include "store/salvage.h"
#include "store/seals.h"

namespace holdfast::cli {
namespace {

// A folder for the time that this lives.
class Scratch {
 public:
  static base::Result<std::unique_ptr<Scratch>> make() {
    std::string path = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr)
      return base::Error(base::ErrorCode::kIo, path, "no folder can be made there");
    std::unique_ptr<Scratch> scratch(new Scratch(path));
    scratch->folder_ = std::make_unique<store::WorldFolder>(TRY(store::WorldFolder::open(
        *scratch->disk_, *scratch->random_, *scratch->process_, path + "/world")));
    return scratch;
  }
  ~Scratch() {
    folder_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  store::WorldFolder& folder() noexcept { return *folder_; }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  std::unique_ptr<env::Random> random_ = env::posix_random();
  std::unique_ptr<env::Process> process_ = env::posix_process();
  std::unique_ptr<store::WorldFolder> folder_;
};

}  // namespace

base::Result<Findings> verify_world(const std::string& folder, const native::Machines& machines,
                                    const WorldChecks& options) {
  const auto world = TRY(ExistingWorld::open(folder));
  const store::WorldPlace place = store::WorldPlace::of(world->folder());
  Findings found;
  base::Errors errors;
  auto blobs = store::BlobsLook::open(place);
  if (!blobs) errors.push_back(std::move(blobs).error());
  store::BlobsLook* const stored = blobs ? blobs->get() : nullptr;
  node::Witnesses witnesses = node::Witnesses::of(stored, place, errors);
  witnesses.terms = options.terms;
  auto journal = store::JournalFiles::open(world->folder());
  if (journal) {
    Progress progress("verifying", journal->last());
    found.journal = node::verify_journal(*journal, machines, witnesses,
                                         [&](store::RecordNumber at) { progress.at(at); });
  } else if (journal.error().code() == base::ErrorCode::kCorrupt) {
    found.journal.errors.push_back(std::move(journal).error());
  } else {
    return std::move(journal).error();
  }
  found.journal.errors.append(std::move(errors));
  // An index is compared with records that are good.
  if (options.all && journal && found.journal.errors.empty()) {
    const auto scratch = TRY(Scratch::make());
    Progress progress("comparing the index", journal->last());
    std::unique_ptr<node::PastWorld> begun_with;
    const auto snapshot = [&](store::RecordNumber next) -> base::Result<kernel::World*> {
      kernel::World* none = nullptr;
      if (stored == nullptr) return none;
      const std::vector<store::SnapshotEntry> all = TRY(stored->snapshots());
      const auto is_it = [&](const store::SnapshotEntry& each) { return each.next_record == next; };
      if (std::ranges::none_of(all, is_it)) return none;
      begun_with = TRY(node::PastWorld::at(*journal, stored, machines, next - 1));
      return &begun_with->world();
    };
    found.history =
        TRY(node::verify_history(*journal, place, scratch->folder(), snapshot, found.journal.errors,
                                 [&](store::RecordNumber at) { progress.at(at); }));
    static_cast<void>(TRY(store::BlobStore::open(scratch->folder())));
    static_cast<void>(TRY(store::BlobStore::open(scratch->folder(), store::kEffectBlobs)));
    static_cast<void>(TRY(store::Seals::open(scratch->folder())));
    for (const char* file : {store::kKernelBlobs, store::kEffectBlobs, store::kSealsFile})
      TRY(node::verify_tables(place, store::WorldPlace::of(scratch->folder()), file,
                              found.journal.errors));
  }
  if (options.blobs || options.all) {
    found.blobs = stored == nullptr ? std::uint64_t{0} : TRY(stored->check(found.journal.errors));
    // What workflows have put is in a file of its own.
    const auto effects = TRY(store::BlobsLook::open(place, store::kEffectBlobs));
    if (effects) *found.blobs += TRY(effects->check(found.journal.errors));
  }
  for (const store::Restored& restored : world->folder().restored()) {
    found.journal.notes.push_back("the world was restored from a backup that ends with record " +
                                  std::to_string(restored.after));
  }
  if (TRY(store::is_salvaged(world->folder())))
    found.journal.notes.push_back(std::string("the world was salvaged; see ") +
                                  store::kSalvagedFile);
  return found;
}

}  // namespace holdfast::cli
