// SPDX-License-Identifier: Apache-2.0
#include "env/disk_state.h"

#include <algorithm>
#include <cstring>

#include "env/disk.h"

namespace holdfast::env {
namespace {

void write(base::Bytes& file, std::uint64_t offset, base::ByteView bytes) {
  if (bytes.empty()) return;
  if (file.size() < offset + bytes.size()) file.resize(offset + bytes.size());
  std::memcpy(file.data() + offset, bytes.data(), bytes.size());
}

}  // namespace

void DiskState::apply(const DiskOperation& operation) {
  switch (operation.kind) {
    case OperationKind::kMakeDirectory: folders.insert(operation.path); break;
    case OperationKind::kCreate:
      names[operation.path] = operation.file;
      files.try_emplace(operation.file);
      break;
    case OperationKind::kRename:
    case OperationKind::kRemove: {
      const auto name = names.find(operation.path);
      if (name != names.end() && name->second == operation.file) names.erase(name);
      if (operation.kind == OperationKind::kRename) names[operation.other_path] = operation.file;
      break;
    }
    case OperationKind::kWrite:
      write(files[operation.file], operation.offset, operation.bytes);
      break;
    case OperationKind::kTruncate: files[operation.file].resize(operation.offset); break;
    case OperationKind::kSyncDirectory:
    case OperationKind::kSync:
    case OperationKind::kFailedSync: break;
  }
}

void DiskState::apply_torn(const DiskOperation& operation,
                           const std::set<std::uint64_t>& lost_sectors) {
  base::Bytes& file = files[operation.file];
  const base::ByteView bytes = operation.bytes;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint64_t place = operation.offset + at;
    const std::size_t length = static_cast<std::size_t>(
        std::min<std::uint64_t>(kSectorBytes - place % kSectorBytes, bytes.size() - at));
    if (!lost_sectors.contains(place / kSectorBytes)) write(file, place, bytes.subspan(at, length));
    at += length;
  }
}

void DiskState::forget_unreachable() {
  std::erase_if(names, [&](const auto& name) { return !folders.contains(parent_of(name.first)); });
  std::set<std::uint64_t> named;
  for (const auto& [path, file] : names) named.insert(file);
  std::erase_if(files, [&](const auto& file) { return !named.contains(file.first); });
  for (const std::uint64_t file : named) files.try_emplace(file);
}

}  // namespace holdfast::env
