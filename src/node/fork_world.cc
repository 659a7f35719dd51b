// SPDX-License-Identifier: Apache-2.0
#include "node/fork_world.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "codec/normaliser.h"
#include "node/blob_shapes.h"
#include "node/journal_batches.h"
#include "node/seed_history.h"
#include "node/store_blobs.h"
#include "store/copy_blobs.h"
#include "store/file_journal.h"
#include "store/place.h"

namespace holdfast::node {
namespace {

constexpr std::string_view kError = R"({"code":"world.forked",
"message":"the world was forked while this was open; it was not performed here",
"retryable":false,"details":null})";
constexpr std::string_view kNotWhole = "a fork that is not whole\n";
constexpr std::string_view kReason = "the world was forked";

base::Result<void> refuse_if_there(env::Disk& disk, const std::string& path) {
  const auto names = disk.list(path);
  if (names) return base::Error(base::ErrorCode::kConflict, path, "is there already");
  if (names.error().code() != base::ErrorCode::kNotFound)
    return base::Error(names.error().code(), path, names.error().message());
  return {};
}

// Ticks whose records become durable in batches.
class Ticks {
 public:
  Ticks(kernel::World& world, store::Journal& journal, env::Random& random, std::uint64_t time_ns)
      : world_(world), records_(journal), random_(random), time_ns_(time_ns) {}

  // False: it was settled before, by an instance whose end waited for the first tick.
  base::Result<bool> add(const decltype(kernel::Tick::input)& input) {
    kernel::Tick tick;
    tick.time_ns = std::max(time_ns_, world_.latest_ns());
    random_.fill(tick.entropy);
    tick.input = input;
    kernel::Outcome outcome = world_.reduce(tick);
    if (outcome.failure) return std::move(*outcome.failure);
    if (std::holds_alternative<kernel::Repeated>(outcome.answer)) return false;
    if (outcome.record.empty())
      return base::Error(base::ErrorCode::kConflict, "what is open could not be quietened");
    TRY(records_.add(outcome.record));
    return true;
  }

  base::Result<void> write() { return records_.write(); }

 private:
  kernel::World& world_;
  JournalBatches records_;
  env::Random& random_;
  const std::uint64_t time_ns_;
};

struct Open {
  std::vector<kernel::InstanceName> instances;  // that are not paused yet
  struct Effect {
    base::Hash intent;
    std::uint64_t dispatch = 0;  // that a worker holds it under; 0: none
  };
  std::vector<Effect> effects;
  std::vector<std::string> workers;  // that have not left
  std::uint64_t timers = 0;
};

base::Result<Open> find_open(kernel::World& world) {
  Open open;
  TRY(world.visit_instances([&](std::string_view workflow, const kernel::Cell& cell) {
    if (!cell.terminal() && !cell.paused)
      open.instances.push_back({std::string(workflow), cell.key});
    return true;
  }));
  TRY(world.visit_intents([&](const base::Hash& hash, const kernel::Intent& intent) {
    const kernel::EffectProgram& effect = world.program().effect(intent.effect());
    if (effect.executor.kind == "timer") {
      ++open.timers;
    } else if (effect.in_kernel == kernel::InKernel::kNo) {  // else the instance settles it
      open.effects.push_back({hash, intent.lease() == nullptr ? 0 : intent.lease()->dispatch});
    }
    return true;
  }));
  for (const auto& [id, worker] : world.workers().all()) {
    if (worker.mode != kernel::WorkerMode::kLeft) open.workers.push_back(id);
  }
  return open;
}

// Nobody performs anything here that another world has opened.
base::Result<void> quieten(kernel::World& world, store::Journal& journal, const ForkPlace& to,
                           ForkReport& report) {
  const Open open = TRY(find_open(world));
  Ticks ticks(world, journal, to.random, to.time_ns);
  for (const kernel::InstanceName& name : open.instances)
    TRY(ticks.add(
        kernel::ControlRequested{kernel::Control::kPause, name.workflow, name.key, kReason}));
  codec::Normaliser normaliser;
  const base::ByteView error = TRY(normaliser.part_from_json(codec::Schema::any(), kError));
  for (const Open::Effect& effect : open.effects) {
    kernel::ReceiptArrived receipt;
    receipt.intent = effect.intent;
    receipt.fence.dispatch = effect.dispatch;
    receipt.status = kernel::ReceiptStatus::kError;
    receipt.payload = error;
    if (TRY(ticks.add(receipt))) ++report.settled;
  }
  // Workers of the other world are not at work for this one.
  for (const std::string& worker : open.workers)
    TRY(ticks.add(kernel::WorkerChanged{worker, kernel::WorkerChange::kLeave, kReason}));
  TRY(ticks.write());
  report.paused = open.instances.size();
  report.timers = open.timers;
  return {};
}

// What workflows put: the state may name any of it.
base::Result<void> take_effect_blobs(store::WorldFolder& folder, const store::WorldPlace& from) {
  const auto old = TRY(store::BlobsLook::open(from, store::kEffectBlobs));
  if (!old) return {};
  const auto blobs = TRY(store::BlobStore::open(folder, store::kEffectBlobs));
  TRY(store::copy_all_blobs(*old, *blobs, [](std::uint64_t, const base::Error& why) {
    return base::Result<void>(base::Error(why.code(), why.where(), why.message()));
  }));
  return {};
}

// A journal of one record, the snapshot behind it, and then what quietens it.
base::Result<void> fill(store::WorldFolder& folder, const store::WorldPlace& from, PastWorld& past,
                        const base::Bytes& last, const kernel::MachineSource& machines,
                        const ForkPlace& to, ForkReport& report) {
  const store::RecordNumber next = past.world().next_record();
  kernel::Entropy origin;
  to.random.fill(origin);
  const base::Bytes snapshot = TRY(past.world().snapshot_as_another(origin));
  const base::Hash root = TRY(past.blobs().put(snapshot));
  const auto blobs = TRY(store::BlobStore::open(folder));
  const store::BlobShapes shapes = blob_shapes();
  TRY(store::copy_reachable([&](const base::Hash& hash) { return past.blobs().get(hash); }, *blobs,
                            shapes, {root, shapes.snapshot}));
  TRY(take_effect_blobs(folder, from));
  const store::OpenedJournal opened =
      TRY(store::open_file_journal(folder, {.first_record = next - 1}));
  const base::ByteView record = last;
  TRY(opened.journal->append({&record, 1}));
  TRY(opened.journal->sync());
  const auto snapshots = TRY(store::Snapshots::open(*blobs));
  TRY(snapshots->add(*opened.journal, next, snapshot, static_cast<std::int64_t>(to.time_ns)));
  StoreBlobs kernel_blobs(*blobs);
  kernel::World world = TRY(kernel::World::restore(machines, kernel_blobs, snapshot));
  // What ended before is in the snapshot only, and no record will tell of it.
  const auto index = TRY(store::HistoryIndex::open(folder));
  TRY(begin_history(*index, next - 1, &world));
  TRY(quieten(world, *opened.journal, to, report));
  return opened.journal->close();
}

}  // namespace

base::Result<ForkReport> fork_world(const store::WorldPlace& from,
                                    const store::JournalFiles& journal, store::BlobsLook* stored,
                                    const kernel::MachineSource& machines,
                                    store::RecordNumber record, const ForkPlace& to,
                                    const ReplayProgress& progress) {
  // Under another name until it is whole, so that nobody begins a world where half a fork is.
  std::string path = to.path;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::string unfinished = path + ".unfinished";
  TRY(refuse_if_there(to.disk, path));
  TRY(refuse_if_there(to.disk, unfinished));
  const base::Bytes last = TRY(record_in(journal, record));
  const auto past = TRY(PastWorld::at(journal, stored, machines, record, progress));
  if (!to.any_file_system) TRY(store::check_place(to.disk, path));
  ForkReport report;
  report.record = record;
  {
    store::WorldFolder folder =
        TRY(store::WorldFolder::open(to.disk, to.random, to.process, unfinished));
    const std::string marker = unfinished + "/" + store::kSalvagingFile;
    TRY(env::replace_file(to.disk, marker, base::as_bytes(kNotWhole)));
    TRY(fill(folder, from, *past, last, machines, to, report));
    TRY(to.disk.remove(marker));
    TRY(to.disk.sync_directory(unfinished));
  }
  TRY(to.disk.rename(unfinished, path));
  TRY(to.disk.sync_directory(env::parent_of(path)));
  return report;
}

}  // namespace holdfast::node
