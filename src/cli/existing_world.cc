// SPDX-License-Identifier: Apache-2.0
#include "cli/existing_world.h"

#include <algorithm>

namespace holdfast::cli {

base::Result<std::unique_ptr<ExistingWorld>> ExistingWorld::open(const std::string& path) {
  std::unique_ptr<ExistingWorld> world(new ExistingWorld);
  // Opening the folder would make a world where there is none. One that lost its WORLD file is one.
  const auto names = world->disk_->list(path);
  const auto has = [&](const char* name) { return std::ranges::count(*names, name) > 0; };
  const auto has_segments = [&] {
    const auto files = world->disk_->list(path + "/journal");
    return files && std::ranges::any_of(
                        *files, [](const std::string& name) { return name.ends_with(".log"); });
  };
  if (!names || !(has("WORLD") || has_segments()))
    return base::Error(base::ErrorCode::kNotFound, path, "there is no world");
  world->folder_ = std::make_unique<store::WorldFolder>(
      TRY(store::WorldFolder::open(*world->disk_, *world->random_, *world->process_, path)));
  return world;
}

}  // namespace holdfast::cli
