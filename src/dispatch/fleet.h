// SPDX-License-Identifier: Apache-2.0
// Fleet: all workers that are known, each under a small number, and what of them is in use.
//
// A worker that is lost or has left, and holds nothing, is forgotten when there are too many; the
// world does the same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/bits.h"
#include "dispatch/candidate.h"

namespace holdfast::dispatch {

using WorkerIndex = std::uint32_t;

class Fleet {
 public:
  explicit Fleet(std::size_t most) : most_(most) {}

  // New, or with another offer, name or mode. Its number.
  WorkerIndex put(std::string_view id, std::string_view node, std::string_view name, Offer offer,
                  Mode mode);
  void set_mode(WorkerIndex worker, Mode mode);
  void set_live(WorkerIndex worker, bool is_live);
  void set_want(WorkerIndex worker, std::uint32_t want);
  void set_recipes(WorkerIndex worker, std::optional<RecipeState> recipes);
  void set_asked_for(WorkerIndex worker, std::string recipe);

  void use(WorkerIndex worker, const Demand& demand, const std::vector<std::uint32_t>& devices);
  void release(WorkerIndex worker, const Demand& demand, const std::vector<std::uint32_t>& devices);
  // The worker was chosen: it asks for one less.
  void chosen(WorkerIndex worker, std::uint64_t number);

  std::optional<WorkerIndex> find(std::string_view id) const;
  const Candidate& at(WorkerIndex worker) const { return workers_[worker]; }
  std::size_t size() const noexcept { return workers_.size(); }  // numbers in use are below

  const Bits& working() const noexcept { return working_; }    // active, and heard lately
  const Bits& asking() const noexcept { return asking_; }      // and with a free slot, and they ask
  const Bits& swappers() const noexcept { return swappers_; }  // working, and they can swap recipes

  // In the order of their ids: visits each until the visitor returns false.
  template <class Visitor>
  void each(Visitor visit) const {
    for (const auto& [id, index] : by_id_)
      if (!visit(workers_[index])) return;
  }

 private:
  void refresh(WorkerIndex worker);
  std::optional<WorkerIndex> reusable() const;

  std::size_t most_;
  std::map<std::string, WorkerIndex, std::less<>> by_id_;
  std::vector<Candidate> workers_;
  Bits working_;
  Bits asking_;
  Bits swappers_;
};

}  // namespace holdfast::dispatch
