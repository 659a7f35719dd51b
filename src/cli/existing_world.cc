// SPDX-License-Identifier: Apache-2.0
#include "cli/existing_world.h"

#include <algorithm>

#include "cli/output.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kMostServerFileBytes = 4096;

// Whoever wants to look at a world that a server has is told where to ask.
base::Error with_hint(env::Disk& disk, const std::string& path, base::Error error) {
  const bool is_held =
      error.code() == base::ErrorCode::kConflict && error.message().starts_with("is held by ");
  if (!is_held) return error;
  std::string hint = "; if it is a server, say --server with its address";
  // "PID URL", as cli/serving.cc writes it. One that was killed has left it behind.
  const auto file = env::read_file(disk, path + "/" + kServerFile, kMostServerFileBytes);
  const std::string text(file ? base::as_text(*file) : "");
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string holder = "is held by process " + text.substr(0, space) + " ";
  if (space < end && error.message().starts_with(holder))
    hint = ", which serves it: say --server " + text.substr(space + 1, end - space - 1);
  return {error.code(), error.where(), error.message() + hint};
}

}  // namespace

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
  if (!names && names.error().code() != base::ErrorCode::kNotFound)
    return base::Error(names.error().code(), names.error().where(), names.error().message());
  if (!names || !(has("WORLD") || has_segments()))
    return base::Error(base::ErrorCode::kNotFound, path, "there is no world");
  auto folder = store::WorldFolder::open(*world->disk_, *world->random_, *world->process_, path);
  if (!folder) return with_hint(*world->disk_, path, std::move(folder).error());
  world->folder_ = std::make_unique<store::WorldFolder>(std::move(*folder));
  return world;
}

void remark_recovery(const store::RecoveryReport& report) {
  const std::string text = store::describe(report);
  if (!text.empty()) remark(text);
}

}  // namespace holdfast::cli
