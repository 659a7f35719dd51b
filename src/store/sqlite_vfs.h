// SPDX-License-Identifier: Apache-2.0
// SqliteVfs: lets SQLite work on an env::Disk, so that a test can be its disk too. For databases
// that one connection has to itself (locking_mode=EXCLUSIVE, under the lock of the world): it has
// no locks and no shared memory of its own, and temporary files stay in memory.
#pragma once

#include <memory>
#include <string>

#include "env/disk.h"
#include "env/random.h"

namespace holdfast::store {

class SqliteVfs {
 public:
  // Both must outlive it, and it must outlive the databases.
  SqliteVfs(env::Disk& disk, env::Random& random);
  ~SqliteVfs();
  SqliteVfs(const SqliteVfs&) = delete;
  SqliteVfs& operator=(const SqliteVfs&) = delete;

  const std::string& name() const noexcept;

  struct Body;

 private:
  std::unique_ptr<Body> body_;
};

}  // namespace holdfast::store
