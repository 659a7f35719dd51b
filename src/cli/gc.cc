// SPDX-License-Identifier: Apache-2.0
// holdfast gc: removes the blobs of a world that none of its snapshots needs, and those that
// workflows put and that nothing names any more.
#include <CLI/CLI.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/offline_world.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/where.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "node/blob_shapes.h"
#include "store/blobs_look.h"
#include "store/effect_gc.h"
#include "store/history_index.h"
#include "store/history_look.h"
#include "store/journal_files.h"
#include "store/kept_values.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kBlobsPerStep = 10'000;

struct Collected {
  store::GcProgress kernel;
  store::GcProgress effects;
};

base::Result<store::GcProgress> collect_kernel_blobs(OfflineWorld& world) {
  const auto gc = TRY(store::BlobGc::begin(world.blobs(), world.snapshots(), node::blob_shapes()));
  Progress shown("blobs looked at", 0);
  for (;;) {
    const store::GcProgress progress = TRY(gc->step(kBlobsPerStep));
    shown.at(progress.marked + progress.looked_at);
    if (progress.done) return progress;
  }
}

template <class Values>
base::Result<void> look_at(Values values, store::EffectNames& names) {
  const auto show = [&](base::ByteView value) { return names.look_at(value); };
  while (TRY(values.next(store::EffectGc::kPieceBytes, show))) TRY(names.flush());
  return names.flush();
}

// What nothing in the folder names: neither snapshots nor records nor the index. A receipt that was
// never recorded names nothing: its effect is performed again.
base::Result<store::GcProgress> collect_effect_blobs(OfflineWorld& world) {
  const store::WorldPlace place = store::WorldPlace::of(world.folder());
  if (!TRY(store::BlobsLook::open(place, store::kEffectBlobs))) return store::GcProgress{};
  TRY(store::look_at_history(place));  // of a version that can be read
  const auto journal = TRY(store::JournalFiles::open(world.folder()));
  const auto effects = TRY(store::BlobStore::open(world.folder(), store::kEffectBlobs));
  const auto gc = TRY(store::EffectGc::begin(*effects, {}));
  while (TRY(gc->learn())) continue;
  store::EffectNames names(gc->sieve(),
                           [&](std::span<const base::Hash> named) { return gc->keep(named); });
  TRY(look_at(TRY(store::BlobValues::open(world.blobs())), names));
  auto reader = TRY(journal.read(journal.first()));
  TRY(look_at(store::RecordValues(std::move(reader), journal.last()), names));
  if (const auto index = TRY(store::DatabaseLook::open(place, store::kHistoryFile)))
    TRY(look_at(TRY(store::IndexValues::open(index->database())), names));
  for (;;) {
    const store::GcProgress progress = TRY(gc->remove());
    if (progress.done) return progress;
  }
}

base::Result<Collected> collect(const std::string& path) {
  const auto world = TRY(OfflineWorld::open(path));
  Collected collected;
  collected.kernel = TRY(collect_kernel_blobs(*world));
  collected.effects = TRY(collect_effect_blobs(*world));
  return collected;
}

void write_progress(codec::Buffer& out, const store::GcProgress& progress) {
  const auto field = [&](std::string_view name, std::uint64_t value) {
    codec::write_text(out, name);
    codec::write_nat(out, value);
  };
  field("marked", progress.marked);
  field("removed", progress.removed);
  field("removed_bytes", progress.removed_bytes);
}

void print_collected_json(const Collected& collected) {
  codec::Buffer out;
  codec::write_map_head(out, 4);
  write_progress(out, collected.kernel);
  codec::write_text(out, "effects");
  codec::write_map_head(out, 3);
  write_progress(out, collected.effects);
  print_line(codec::printable_json(
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented)));
}

std::vector<std::string> row_of(const char* file, const store::GcProgress& progress) {
  return {file, std::to_string(progress.marked), std::to_string(progress.removed),
          std::to_string(progress.removed_bytes)};
}

ExitCode run(const Where& said) {
  const auto where = settle(said, Reach::kWorldOnly);
  if (!where) return misused(where.error().to_string());
  const auto collected = collect(where->world);
  if (!collected) return refuse(collected.error());
  if (where->json) {
    print_collected_json(*collected);
  } else {
    print_table({{"FILE", "MARKED", "REMOVED", "BYTES"},
                 row_of(store::kKernelBlobs, collected->kernel),
                 row_of(store::kEffectBlobs, collected->effects)});
  }
  return ExitCode::kDone;
}

}  // namespace

void add_gc(CLI::App& app, ExitCode& exit_code) {
  auto where = std::make_shared<Where>();
  CLI::App* command =
      app.add_subcommand("gc", "remove blobs that nothing in a stopped world refers to");
  add_where(*command, *where, Reach::kWorldOnly);
  add_folder(*command, *where);
  command->footer("Example: holdfast gc ./world");
  command->callback([where, &exit_code] { exit_code = run(*where); });
}

}  // namespace holdfast::cli
