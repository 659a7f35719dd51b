// SPDX-License-Identifier: Apache-2.0
#include "store/torn_files.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::store {
namespace {

constexpr std::string_view kTornPrefix = "torn-";

using Place = std::pair<std::uint64_t, std::uint64_t>;  // segment and offset: later is newer

std::optional<Place> place_of(const std::string& name) {
  if (!name.starts_with(kTornPrefix)) return std::nullopt;
  Place place{};
  const char* const end = name.data() + name.size();
  const auto segment = std::from_chars(name.data() + kTornPrefix.size(), end, place.first);
  if (segment.ec != std::errc() || segment.ptr == end) return std::nullopt;
  if (std::from_chars(segment.ptr + 1, end, place.second).ec != std::errc()) return std::nullopt;
  if (torn_name(place.first, place.second) != name) return std::nullopt;
  return place;
}

}  // namespace

std::string torn_name(std::uint64_t segment, std::uint64_t offset) {
  return std::string(kTornPrefix) + std::to_string(segment) + "-" + std::to_string(offset);
}

base::Result<std::size_t> remove_old_torn_files(env::Disk& disk, const std::string& folder) {
  std::vector<Place> places;
  for (const std::string& name : TRY(disk.list(folder))) {
    if (const auto place = place_of(name)) places.push_back(*place);
  }
  if (places.size() <= kTornFilesKept) return std::size_t{0};
  std::sort(places.begin(), places.end());
  places.resize(places.size() - kTornFilesKept);
  for (const auto& [segment, offset] : places)
    TRY(disk.remove(folder + "/" + torn_name(segment, offset)));
  return places.size();
}

}  // namespace holdfast::store
