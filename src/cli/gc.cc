// SPDX-License-Identifier: Apache-2.0
// holdfast gc: removes the blobs of a world that none of its snapshots needs.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/offline_world.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/where.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "node/blob_shapes.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kBlobsPerStep = 10'000;

base::Result<store::GcProgress> collect(const std::string& path) {
  const auto world = TRY(OfflineWorld::open(path));
  const auto gc =
      TRY(store::BlobGc::begin(world->blobs(), world->snapshots(), node::blob_shapes()));
  Progress shown("blobs looked at", 0);
  for (;;) {
    const store::GcProgress progress = TRY(gc->step(kBlobsPerStep));
    shown.at(progress.marked + progress.looked_at);
    if (progress.done) return progress;
  }
}

void print_progress_json(const store::GcProgress& progress) {
  codec::Buffer out;
  const auto field = [&](std::string_view name, std::uint64_t value) {
    codec::write_text(out, name);
    codec::write_nat(out, value);
  };
  codec::write_map_head(out, 3);
  field("marked", progress.marked);
  field("removed", progress.removed);
  field("removed_bytes", progress.removed_bytes);
  print_line(codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented));
}

ExitCode run(const Where& said) {
  const auto where = settle(said, Reach::kWorldOnly);
  if (!where) return misused(where.error().to_string());
  const auto progress = collect(where->world);
  if (!progress) return refuse(progress.error());
  if (where->json) {
    print_progress_json(*progress);
  } else {
    print_table({{"MARKED", "REMOVED", "BYTES"},
                 {std::to_string(progress->marked), std::to_string(progress->removed),
                  std::to_string(progress->removed_bytes)}});
  }
  return ExitCode::kDone;
}

}  // namespace

void add_gc(CLI::App& app, ExitCode& exit_code) {
  auto where = std::make_shared<Where>();
  CLI::App* command =
      app.add_subcommand("gc", "remove blobs that no snapshot of a world needs; offline");
  add_where(*command, *where, Reach::kWorldOnly);
  add_folder(*command, *where);
  command->footer("Example: holdfast gc ./world");
  command->callback([where, &exit_code] { exit_code = run(*where); });
}

}  // namespace holdfast::cli
