// SPDX-License-Identifier: Apache-2.0
// Identity: which process somebody is. A number alone is soon another's, and a number with a start
// time too: of 400 numbers that came back, 337 did so within the same tick. So there are also the
// start of the machine, the inode of the pidfd where the kernel has them, and a nonce, which says
// which of its claims of the same kind a process means.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "registry/host.h"

namespace holdfast::registry {

struct Identity {
  std::string boot_id = {};
  std::string id_space = {};  // in which the pid means something
  std::int64_t pid = 0;
  std::int64_t start_ns = 0;      // since the machine started
  std::uint64_t pidfd_inode = 0;  // 0: the kernel does not tell
  std::string nonce = {};

  friend bool operator==(const Identity&, const Identity&) = default;
};

// 128 bits that nobody has had before.
std::string new_nonce(const Host& host);

// The same process, whatever it means to claim.
bool is_same_process(const Identity& a, const Identity& b);

enum class Life : std::uint8_t {
  kAlive,
  kDead,
  kHidden,  // it counts processes otherwise than we do: we cannot tell
};

// Looks at processes. What is the same for all of them is asked for once.
class Witness {
 public:
  explicit Witness(const Host& host);

  // Of a process that is alive now; kNotFound else. The nonce is new.
  base::Result<Identity> identify(std::int64_t pid) const;

  base::Result<Life> life_of(const Identity& identity) const;

 private:
  const Host& host_;
  const std::string boot_id_;
  const std::string id_space_;
};

// "process 4711"
std::string describe(const Identity& identity);

}  // namespace holdfast::registry
