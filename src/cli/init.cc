// SPDX-License-Identifier: Apache-2.0
// holdfast init: a folder to begin in: a world and the settings that name it.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/render.h"
#include "cli/settings.h"
#include "env/posix_disk.h"
#include "gateway/documents.h"
#include "native/machines.h"
#include "node/local_world.h"

namespace holdfast::cli {
namespace {

constexpr std::string_view kText =
    "# What the commands of holdfast go by in this folder; `holdfast config` prints it.\n"
    "world: world\n"
    "listen: 127.0.0.1:7411\n";

struct InitOptions {
  std::string folder;
  bool any_file_system = false;
  bool json = false;
};

base::Result<void> make(const InitOptions& options, const std::vector<Module>& modules) {
  std::error_code problem;
  std::filesystem::create_directories(options.folder, problem);
  if (problem) return base::Error(base::ErrorCode::kIo, options.folder, problem.message());
  const std::string settings = options.folder + "/" + kSettingsFile;
  const std::string world = options.folder + "/world";
  for (const std::string& path : {settings, world}) {
    if (std::filesystem::exists(path, problem))
      return base::Error(base::ErrorCode::kConflict, path, "is there already");
  }
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  const auto process = env::posix_process();
  const native::Machines machines(modules);
  node::LocalWorldOptions how;
  how.any_file_system = options.any_file_system;
  const auto made = TRY(node::LocalWorld::open(*disk, *random, *process, world, machines, how));
  TRY(made->journal().close());
  return env::replace_file(*disk, settings, base::as_bytes(kText));
}

}  // namespace

void add_init(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  auto options = std::make_shared<InitOptions>();
  CLI::App* command =
      app.add_subcommand("init", "create a folder with an empty world and settings");
  command->add_option("folder", options->folder, "created if missing")->required();
  command->add_flag("--any-file-system", options->any_file_system,
                    "allow file systems that lose data in a power cut");
  command->add_flag("--json", options->json, "print JSON");
  command->footer("Example: holdfast init shop && cd shop && holdfast serve --apply");
  command->callback([options, &exit_code, &modules] {
    const auto made = make(*options, modules);
    exit_code = made ? ExitCode::kDone : refuse(made.error());
    if (!made) return;
    if (!options->json)
      return print_line(printable(options->folder) + " has a world and " + kSettingsFile);
    codec::Buffer out;
    codec::write_map_head(out, 2);
    gateway::put(out, "world", printable(options->folder + "/world"));
    gateway::put(out, "settings", printable(options->folder + "/" + kSettingsFile));
    print_json(codec::View::of(out.view()));
  });
}

}  // namespace holdfast::cli
