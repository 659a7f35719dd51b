// SPDX-License-Identifier: Apache-2.0
// Workers: those that have enrolled, the leases that each holds, and which places are cordoned.
// Bounded: for a new worker the one that has been gone longest is forgotten.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "kernel/blobs.h"

namespace holdfast::kernel {

enum class WorkerMode : std::uint8_t { kActive, kDraining, kLost, kLeft };

std::string_view name_of(WorkerMode mode) noexcept;

struct Worker {
  std::string node;
  std::string name;
  base::Hash secret;
  base::Bytes description;  // canonical, without the self-describe tag; may be empty
  WorkerMode mode = WorkerMode::kActive;
  std::string reason;  // of the last change
  std::string by;
  std::uint64_t enrolled_ns = 0;
  std::uint64_t changed_ns = 0;
  std::uint64_t changed_at = 0;                // the record
  std::map<std::uint64_t, base::Hash> leases;  // by dispatch

  // Nothing comes of it any more unless it enrols again.
  bool is_gone() const noexcept {
    return (mode == WorkerMode::kLost || mode == WorkerMode::kLeft) && leases.empty();
  }
};

class Workers {
 public:
  using Map = std::map<std::string, Worker, std::less<>>;

  const Map& all() const noexcept { return all_; }
  const Worker* find(std::string_view id) const;
  std::uint64_t leases() const noexcept { return leases_; }

  // Puts a worker in the place of the one with this id, whose leases it keeps. False: there is no
  // room, and nothing has changed.
  [[nodiscard]] bool put(std::string_view id, Worker worker);

  // What the last change of one that is there was.
  struct Change {
    WorkerMode mode = WorkerMode::kActive;
    std::string_view reason;
    std::string_view by;
    std::uint64_t time_ns = 0;
    std::uint64_t record = 0;
  };
  void change(std::string_view id, const Change& change);

  void hold(std::string_view id, std::uint64_t dispatch, const base::Hash& intent);

  // False: it does not hold that.
  [[nodiscard]] bool release(std::string_view id, std::uint64_t dispatch);

  // Places of workers: node and name. A place stays cordoned when its worker goes.
  bool is_cordoned(const Worker& worker) const;
  [[nodiscard]] bool cordon(const Worker& worker);  // false: there is no room
  void uncordon(const Worker& worker);

  // Nothing that a snapshot would have to hold.
  bool empty() const noexcept { return all_.empty() && cordons_.empty(); }

  // As two lists of chunks (docs/formats/snapshot.md). The readers say whether an entry was good.
  base::Result<void> write_chunks(codec::Buffer& out, Blobs& blobs) const;
  bool read_worker(codec::View entry);
  bool read_cordon(codec::View entry);

 private:
  using Gone = std::pair<std::uint64_t, std::string>;  // changed at, id

  void note_gone(const std::string& id, const Worker& worker);
  bool make_room(std::string_view id, std::size_t description_bytes);

  Map all_;
  std::set<std::pair<std::string, std::string>> cordons_;
  std::set<Gone> gone_;  // derived: who may be forgotten, the first first
  std::uint64_t leases_ = 0;
  std::size_t description_bytes_ = 0;
};

}  // namespace holdfast::kernel
