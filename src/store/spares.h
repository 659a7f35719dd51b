// SPDX-License-Identifier: Apache-2.0
// Spares: files that wait to become segments. They are full of zeros that were written and synced,
// so that writing into them later changes no metadata: a sync is then a third faster, and cannot
// run out of space. Any thread may call.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "env/disk.h"

namespace holdfast::store {

class Spares {
 public:
  // Keeps `wanted` of them, each of so many bytes, in `folder`.
  Spares(env::Disk& disk, std::string folder, std::uint64_t bytes, std::size_t wanted);

  // Takes over what an earlier process left, and removes what is not whole. A spare holds nothing,
  // so one that cannot be read, or cannot be removed, stops nobody. Gives the paths of those.
  std::vector<std::string> adopt(const std::vector<std::string>& names);

  // Makes one more if fewer than wanted are there. kUnavailable: no space.
  base::Result<void> make_one();

  // Takes one, its path, if more than `keep` are there.
  std::optional<std::string> take(std::size_t keep);

  // A file of zeros of any size, which nobody waits for.
  base::Result<std::string> make_apart(std::uint64_t bytes);

  // Gives a file that is no longer needed a second life, or removes it; durably. kUnavailable:
  // there was no room even for that, and nothing has changed.
  base::Result<void> recycle(const std::string& path);

  std::size_t ready() const;

 private:
  base::Result<void> fill(env::File& file, std::uint64_t bytes);
  base::Result<std::string> fill_at(const std::string& path, env::OpenMode mode,
                                    std::uint64_t bytes);
  base::Result<void> remove(const std::string& path);
  base::Result<void> sync_names();
  std::string new_path();

  env::Disk& disk_;
  const std::string folder_;
  const std::uint64_t bytes_;
  const std::size_t wanted_;

  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::string> ready_;
  std::vector<std::string> used_;  // of the right size, but not zeros
  std::size_t in_making_ = 0;
  std::uint64_t next_number_ = 1;
};

}  // namespace holdfast::store
