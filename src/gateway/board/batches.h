// SPDX-License-Identifier: Apache-2.0
// Batches: one action on many instances. Each instance is controlled by a record of its own, as if
// it had been asked for alone; some are under way at a time. A batch ends with its server: what it
// has done stays done, and the same batch again does the rest.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gateway/timers.h"
#include "gateway/wake.h"
#include "holdfast/engine.h"

namespace holdfast::gateway {

struct Batch {
  enum class Status : std::uint8_t { kRunning, kFinished, kAborted, kFailed };
  struct Refused {
    Engine::RawName name;
    std::string error;
  };

  std::string id;
  Control action = Control::kCancel;
  std::string reason;
  std::string by;
  ListOptions filter;                 // where there are no ids
  std::deque<Engine::RawName> names;  // that are still to be controlled
  bool has_filter = false;

  Status status = Status::kRunning;
  std::uint64_t begun_ns = 0;
  std::uint64_t ended_ns = 0;
  std::uint64_t expected = 0;
  bool is_exact = true;
  std::uint64_t done = 0;
  std::uint64_t unchanged = 0;
  std::uint64_t failed = 0;
  std::vector<Engine::RawName> examples;
  std::vector<Refused> errors;

  // The work of Batches.
  std::size_t under_way = 0;
  std::size_t pauses = 0;  // in a row, because the engine had no room
  bool is_listed = false;  // the filter has given all it has
  bool is_listing = false;
};

// The serving thread's own.
class Batches {
 public:
  static constexpr std::size_t kMostRunning = 8;
  static constexpr std::size_t kMostKept = 100;

  Batches(Engine& engine, std::shared_ptr<Wake> wake, Timers& timers)
      : engine_(engine), wake_(std::move(wake)), timers_(timers) {}

  // Null: too many are running.
  std::shared_ptr<const Batch> begin(Batch batch);
  bool abort(const std::string& id);  // false: there is no such batch, or it has ended

  std::shared_ptr<const Batch> find(const std::string& id) const;
  const std::deque<std::shared_ptr<Batch>>& all() const noexcept {
    return batches_;
  }  // newest first

 private:
  void go_on(const std::shared_ptr<Batch>& batch);
  void list_more(const std::shared_ptr<Batch>& batch);
  void control(const std::shared_ptr<Batch>& batch, Engine::RawName name);
  void take_result(const std::shared_ptr<Batch>& batch, Engine::RawName name,
                   const Result<Done>& done);
  void end(Batch& batch, Batch::Status status);
  void forget_old();

  Engine& engine_;
  std::shared_ptr<Wake> wake_;
  Timers& timers_;
  std::deque<std::shared_ptr<Batch>> batches_;
};

}  // namespace holdfast::gateway
