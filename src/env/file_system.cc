// SPDX-License-Identifier: Apache-2.0
#include "env/file_system.h"

namespace holdfast::env {
namespace {

struct Known {
  std::uint32_t magic;
  FileSystemKind kind;
  const char* name;
};

// statfs(2) has the numbers.
constexpr Known kKnown[] = {
    {0x0000ef53, FileSystemKind::kLocal, "ext4"},
    {0x58465342, FileSystemKind::kLocal, "xfs"},
    {0x9123683e, FileSystemKind::kLocal, "btrfs"},
    {0x2fc12fc1, FileSystemKind::kLocal, "zfs"},
    {0x01021994, FileSystemKind::kMemory, "tmpfs"},
    {0x858458f6, FileSystemKind::kMemory, "ramfs"},
    {0x00006969, FileSystemKind::kNetwork, "nfs"},
    {0x0000517b, FileSystemKind::kNetwork, "smb"},
    {0xff534d42, FileSystemKind::kNetwork, "cifs"},
    {0xfe534d42, FileSystemKind::kNetwork, "smb2"},
    {0x00c36400, FileSystemKind::kNetwork, "ceph"},
    {0x01021997, FileSystemKind::kNetwork, "9p"},
    {0x5346414f, FileSystemKind::kNetwork, "afs"},
    {0x65735546, FileSystemKind::kNetwork, "fuse"},
    {0x0bd00bd0, FileSystemKind::kNetwork, "lustre"},
    {0x794c7630, FileSystemKind::kOverlay, "overlay"},
};

}  // namespace

FileSystem file_system_from(std::uint64_t magic) {
  for (const Known& known : kKnown) {
    if (known.magic == (magic & 0xffffffff)) return {known.kind, known.name};
  }
  return {FileSystemKind::kLocal, "number " + std::to_string(magic)};
}

}  // namespace holdfast::env
