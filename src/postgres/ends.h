// SPDX-License-Identifier: Apache-2.0
// Ends: which of the started instances have ended, so that the database is told. Those that fit are
// watched in the engine; all others are found by looking through what the database calls live.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "holdfast/engine.h"
#include "postgres/admission.h"
#include "postgres/connection.h"

namespace holdfast::postgres {

class Ends {
 public:
  Ends(Engine& engine, std::shared_ptr<Patience> patience);
  ~Ends();
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;

  // So many are watched at a time. The engine takes 65 536 that wait, of all who ask.
  static constexpr std::size_t kMostWatched = 57'344;

  void watch(Started started);
  bool is_watched(const std::string& id) const { return watched_.contains(id); }

  // Asks the engine about instances that are not watched. Those that have ended, or that it does
  // not know, are reported; those that run are watched as far as there is room.
  void look_at(std::vector<Started> some);

  // Whether instances run that are not watched, as far as is known. `looked_at_all`: the last look
  // went through all of them.
  bool has_unwatched() const noexcept { return has_unwatched_; }
  void looked_at_all() noexcept { has_unwatched_ = std::exchange(found_unwatched_, false); }

  // Some that have ended, and how. They are reported again unless they are forgotten.
  struct Ended {
    std::string id;
    std::string status;
    Value result;  // JSON
    Value error;
  };
  std::vector<Ended> some_ended();
  void forget(const std::vector<Ended>& written);

 private:
  void note_unwatched() noexcept { has_unwatched_ = found_unwatched_ = true; }

  struct Watched {
    Started instance;
    WaitId wait;
  };
  struct Told {
    std::mutex mutex;
    std::vector<std::string> ended;
    std::vector<std::string> refused;  // too many wait: they are looked at again
  };

  Engine& engine_;
  const std::shared_ptr<Patience> patience_;
  const std::shared_ptr<Told> told_ = std::make_shared<Told>();
  std::unordered_map<std::string, Watched> watched_;
  std::unordered_map<std::string, Started> ended_;  // to be written
  bool has_unwatched_ = false;
  bool found_unwatched_ = false;  // in this look
};

}  // namespace holdfast::postgres
