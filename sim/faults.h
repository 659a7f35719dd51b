// SPDX-License-Identifier: Apache-2.0
// Faults: what was done to the disk in the present life of the process. A node that ends itself
// must have been given a reason: this says whether it was, and whether it was this one.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "env/sim_disk.h"

namespace holdfast::sim {

class Faults {
 public:
  // A process begins on this disk, whose capacity may be limited from before, and where a call may
  // still be going to fail.
  void begin_life(const env::SimDisk& disk) {
    life_from_ = disk.changing_calls();
    was_full_ = is_full_;
    had_failed_ = false;
    has_lock_ = true;
  }

  // The power was cut: what the machine had been going to do wrong is forgotten with it.
  void new_machine() { *this = {}; }

  void fail_call(env::SimDisk& disk, std::uint64_t after, env::DiskFault fault) {
    had_failed_ = has_failed(disk);  // what it leads to may be still to come
    disk.fail_call(after, fault);
    failing_ = Failing{disk.changing_calls() + after, fault};
  }
  void fill(env::SimDisk& disk, std::uint64_t capacity) {
    disk.set_capacity(capacity);
    is_full_ = true;
    was_full_ = true;
  }
  // Somebody has removed the lock of the world.
  void remove_lock() { has_lock_ = false; }

  // Nothing is wrong with the disk, and the next calls will not fail.
  bool is_calm(const env::SimDisk& disk) const {
    return !is_full_ && !(failing_ && failing_->call >= disk.changing_calls());
  }

  void make_room(env::SimDisk& disk) {
    disk.set_capacity(std::nullopt);
    is_full_ = false;
  }

  // Whether a process that lives on this disk may end itself with this error. A full disk is no
  // reason to, and a short write is none either: whoever writes goes on with the rest.
  bool excuse_end(const base::Error& error, const env::SimDisk& disk) const {
    if (error.code() == base::ErrorCode::kConflict) return !has_lock_;
    return error.code() == base::ErrorCode::kIo && has_failed(disk);
  }

  // Whether it may not begin.
  bool excuse_no_beginning(const base::Error& error, const env::SimDisk& disk) const {
    if (error.code() != base::ErrorCode::kUnavailable) return excuse_end(error, disk);
    return was_full_ || (has_failed(disk) && failing_->fault == env::DiskFault::kNoSpace);
  }

 private:
  bool has_failed(const env::SimDisk& disk) const {
    if (had_failed_) return true;
    return failing_ && failing_->fault != env::DiskFault::kShort && failing_->call >= life_from_ &&
           failing_->call < disk.changing_calls();
  }

  struct Failing {
    std::uint64_t call;
    env::DiskFault fault;
  };
  std::optional<Failing> failing_;  // the last one that was asked for; it may be still to come
  std::uint64_t life_from_ = 0;
  bool is_full_ = false;
  bool has_lock_ = true;
  bool had_failed_ = false;  // one before it, in this life
  bool was_full_ = false;    // at some time of this life
};

}  // namespace holdfast::sim
