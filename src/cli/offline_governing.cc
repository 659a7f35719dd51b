// SPDX-License-Identifier: Apache-2.0
// Governing a world in its folder, which no node runs.
#include <utility>

#include "cli/existing_world.h"
#include "cli/governing.h"
#include "cli/progress.h"
#include "codec/cbor_writer.h"
#include "engine/translate.h"
#include "gateway/documents.h"
#include "native/machines.h"
#include "node/admit_tick.h"
#include "node/local_world.h"
#include "node/refusal.h"
#include "node/rehearsal.h"
#include "node/shadow.h"

namespace holdfast::cli {
namespace {

using gateway::put_number;
using gateway::put_value;

// Who asks, in the records: somebody who may write to the folder.
constexpr std::string_view kLocal = "local";

// What stands in the way is an error, unless it was only asked.
base::Result<Document> applied(const kernel::Answer& answer, bool only_check) {
  const auto told = engine::applied(answer);
  if (!told || (told->blocking_count != 0 && !only_check)) return node::refusal(answer).value();
  codec::Buffer out;
  gateway::put_applied(out, *told);
  return Document::ours(out);
}

base::Result<Document> one_number(std::string_view name, std::uint64_t number) {
  codec::Buffer out;
  codec::write_map_head(out, 1);
  put_number(out, name, number);
  return Document::ours(out);
}

// The world and what it is looked at with.
struct Looked {
  std::unique_ptr<ExistingWorld> folder;
  std::unique_ptr<store::BlobsLook> blobs;
  std::optional<store::JournalFiles> journal;

  static base::Result<Looked> at(const std::string& path) {
    Looked looked;
    looked.folder = TRY(ExistingWorld::open(path));
    looked.blobs = TRY(store::BlobsLook::open(store::WorldPlace::of(looked.folder->folder())));
    looked.journal = TRY(store::JournalFiles::open(looked.folder->folder()));
    return looked;
  }
};

class OfflineGoverning : public Governing {
 public:
  OfflineGoverning(std::string world, const std::vector<Module>& modules, bool any_file_system)
      : path_(std::move(world)), machines_(modules), any_file_system_(any_file_system) {}

  base::Result<Document> apply(const base::Bytes& closure, ApplyOptions options) override {
    if (options.mode == ApplyMode::kCheck) return check(closure, {options.strict, options.pin});
    return put_in(kernel::ApplyManifest{closure, kLocal, options.strict, options.pin});
  }

  base::Result<Document> rehearse(const base::Bytes& closure, Rehearsing how) override {
    const Looked looked = TRY(Looked::at(path_));
    const node::PastSource source = TRY(node::PastSource::of(*looked.journal, looked.blobs.get()));
    node::RehearsalOptions options;
    options.how = {how.strict, how.pin || how.migrate};
    options.migrate = how.migrate;
    options.replay = RehearseOptions{}.records;
    const auto rehearsed =
        engine::rehearsed(TRY(node::rehearse(source, machines_, closure, options)));
    if (!rehearsed) return base::Error(base::ErrorCode::kInvalid, rehearsed.error().message);
    codec::Buffer out;
    gateway::put_rehearsed(out, *rehearsed);
    return Document::ours(out);
  }

  base::Result<Document> propose(const Wish& wish) override {
    return one_number("proposal",
                      TRY(admit(kernel::Propose{wish.document, wish.description, kLocal})));
  }

  base::Result<Document> try_proposal(std::uint64_t proposal, const Stretch& stretch) override {
    const base::Bytes report = TRY(tried(proposal, stretch));
    codec::Buffer out;
    codec::write_map_head(out, 2);
    put_number(out, "record", TRY(admit(kernel::ReportShadow{proposal, report, kLocal})));
    put_value(out, "report", report);
    return Document::ours(out);
  }

  base::Result<Document> decide(const Decision& decision) override {
    return one_number("record", TRY(admit(kernel::Decide{decision.proposal, decision.approve,
                                                         decision.by, decision.reason})));
  }

  base::Result<Document> apply_proposal(std::uint64_t proposal) override {
    return put_in(kernel::ApplyProposal{proposal, kLocal});
  }

 private:
  using Input = decltype(kernel::Tick::input);

  // On a copy in memory.
  base::Result<Document> check(const base::Bytes& closure, kernel::HowToApply how) {
    const Looked looked = TRY(Looked::at(path_));
    const auto past = TRY(node::PastWorld::at(*looked.journal, looked.blobs.get(), machines_,
                                              looked.journal->last()));
    return applied(past->world().try_apply(closure, how), true);
  }

  // The folder is only looked at.
  base::Result<base::Bytes> tried(std::uint64_t proposal, const Stretch& stretch) {
    const Looked looked = TRY(Looked::at(path_));
    const node::PastSource source = TRY(node::PastSource::of(*looked.journal, looked.blobs.get()));
    Progress progress("trying", source.last);
    const node::ReplayProgress tell = [&](store::RecordNumber record) { progress.at(record); };
    // The world itself is let go of before two others are made.
    const node::ShadowDefinitions definitions =
        TRY(node::definitions_to_try(TRY(now_in(source, tell))->world(), proposal));
    node::ShadowOptions options;
    options.from = stretch.from;
    options.to = stretch.to;
    if (stretch.records != 0) options.most_records = stretch.records;
    return node::document_of(TRY(node::shadow(source, machines_, definitions, options, tell)));
  }

  base::Result<std::unique_ptr<node::PastWorld>> now_in(const node::PastSource& source,
                                                        const node::ReplayProgress& tell) {
    return node::PastWorld::at(source, machines_, source.last, {}, tell);
  }

  base::Result<Document> put_in(const Input& input) {
    return applied(TRY(answer_to(input)), false);
  }

  base::Result<std::uint64_t> admit(const Input& input) {
    const kernel::Answer answer = TRY(answer_to(input));
    if (auto refused = node::refusal(answer)) return std::move(*refused);
    return std::get<kernel::Accepted>(answer).record;
  }

  base::Result<kernel::Answer> answer_to(const Input& input) {
    TRY(ExistingWorld::open(path_));  // opening it in earnest would begin one where there is none
    node::LocalWorldOptions options;
    options.any_file_system = any_file_system_;
    const auto world =
        TRY(node::LocalWorld::open(*disk_, *random_, *process_, path_, machines_, options));
    remark_recovery(world->recovery());
    auto answer =
        TRY(node::admit_tick(world->world(), world->journal(), *random_, now_ns(), input));
    TRY(world->journal().close());
    return answer;
  }

  const std::string path_;
  const native::Machines machines_;
  const bool any_file_system_;
  std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  std::unique_ptr<env::Random> random_ = env::posix_random();
  std::unique_ptr<env::Process> process_ = env::posix_process();
};

}  // namespace

base::Result<std::unique_ptr<Governing>> offline_governing(const std::string& world,
                                                           const std::vector<Module>& modules,
                                                           bool any_file_system) {
  return std::unique_ptr<Governing>(
      std::make_unique<OfflineGoverning>(world, modules, any_file_system));
}

}  // namespace holdfast::cli
