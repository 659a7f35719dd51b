// SPDX-License-Identifier: Apache-2.0
#include "engine/zones.h"

#include <utility>

namespace holdfast::engine {
namespace {

constexpr const char* kZoneFolder = "/usr/share/zoneinfo/";
constexpr std::uint64_t kMostZoneBytes = 64 * 1024;

}  // namespace

base::Result<schedules::Zone> load_zone(env::Disk& disk, const std::string& name) {
  if (name == "UTC") return schedules::Zone::utc();
  const auto unknown = [&] {
    return base::Error(
        base::ErrorCode::kNotFound, "zone",
        "there is no time zone '" + name + "' in " + kZoneFolder + " (package tzdata)");
  };
  if (!schedules::is_zone_name(name)) return unknown();
  auto file = disk.open(kZoneFolder + name, env::OpenMode::kRead);
  if (!file) {
    if (file.error().code() == base::ErrorCode::kNotFound) return unknown();
    return std::move(file).error();
  }
  // A folder such as "Europe" can be opened, but not read.
  const auto size = (*file)->size();
  if (!size || *size > kMostZoneBytes) return unknown();
  base::Bytes bytes(*size);
  const auto read = (*file)->read_at(0, bytes);
  if (!read) return unknown();
  bytes.resize(*read);
  auto zone = schedules::Zone::parse(bytes);
  if (!zone) return std::move(zone).error().within(name);
  return zone;
}

}  // namespace holdfast::engine
