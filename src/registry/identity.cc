// SPDX-License-Identifier: Apache-2.0
#include "registry/identity.h"

#include <array>

#include "base/hex.h"
#include "registry/not_busy.h"

namespace holdfast::registry {

Witness::Witness(const Host& host)
    : host_(host), boot_id_(host.process.boot_id()), id_space_(host.processes.id_space()) {}

base::Result<Identity> Witness::identify(std::int64_t pid) const {
  const auto facts = TRY(not_busy(host_.processes.find(pid)));
  if (!facts) {
    return base::Error(base::ErrorCode::kNotFound, "process " + std::to_string(pid),
                       "there is no such process");
  }
  if (!facts->start_ns && facts->pidfd_inode == 0) {
    return base::Error(base::ErrorCode::kIo, "process " + std::to_string(pid),
                       "the system does not tell when it started, nor anything else to know it by");
  }
  return Identity{.boot_id = boot_id_,
                  .id_space = id_space_,
                  .pid = pid,
                  .start_ns = facts->start_ns.value_or(0),
                  .pidfd_inode = facts->pidfd_inode,
                  .nonce = new_nonce(host_)};
}

std::string new_nonce(const Host& host) {
  std::array<std::uint8_t, 16> bytes{};
  host.random.fill(bytes);
  return base::to_hex(bytes);
}

bool is_same_process(const Identity& a, const Identity& b) {
  return a.boot_id == b.boot_id && a.id_space == b.id_space && a.pid == b.pid &&
         a.start_ns == b.start_ns && a.pidfd_inode == b.pidfd_inode;
}

base::Result<Life> Witness::life_of(const Identity& identity) const {
  if (identity.boot_id != boot_id_) return Life::kDead;
  if (identity.id_space != id_space_) return Life::kHidden;
  const bool has_mark = identity.pidfd_inode != 0;
  const auto facts = TRY(not_busy(has_mark ? host_.processes.find_mark(identity.pid)
                                           : host_.processes.find(identity.pid)));
  if (!facts) return Life::kDead;
  if (has_mark && facts->pidfd_inode != 0)
    return identity.pidfd_inode == facts->pidfd_inode ? Life::kAlive : Life::kDead;
  // What we are not told does not make it dead.
  if (!facts->start_ns) return Life::kAlive;
  return identity.start_ns == *facts->start_ns ? Life::kAlive : Life::kDead;
}

std::string describe(const Identity& identity) { return "process " + std::to_string(identity.pid); }

}  // namespace holdfast::registry
