// SPDX-License-Identifier: Apache-2.0
// Home: the folder of a worker. It holds the worker's identity (identity.json, for its owner only),
// its outbox, and a lock that keeps a second process out. The same folder is the same worker, also
// after a restart; it is not to be copied.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "env/disk.h"
#include "env/random.h"
#include "worker/outbox.h"

namespace holdfast::work {

struct Identity {
  std::string node;
  std::string name;
  std::string secret;  // 64 hexadecimal digits
};

struct HomeOptions {
  std::string dir;
  std::string node;    // empty: as the folder says, otherwise `host`
  std::string name;    // empty: as the folder says, otherwise one that is made up
  std::string host;    // of this machine
  std::string holder;  // who locks the folder, for people
};

// A text in which only characters that names may have are left.
std::string as_name(std::string_view text);

class Home {
 public:
  // The identity is durable when this returns. kConflict: another process has the folder, or its
  // outbox holds reports of a worker with another name.
  static base::Result<Home> open(env::Disk& disk, env::Random& random, const HomeOptions& options);

  const Identity& identity() const noexcept { return identity_; }
  Outbox& outbox() noexcept { return *outbox_; }

 private:
  Home() = default;

  std::unique_ptr<env::FileLock> lock_;
  Identity identity_;
  std::unique_ptr<Outbox> outbox_;
};

}  // namespace holdfast::work
