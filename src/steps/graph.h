// SPDX-License-Identifier: Apache-2.0
// Graph: what a step workflow is made of: the types of its events, its steps, and which step gets
// what. Plain data, and the same for all runs of the workflow. What decides whether a failed step
// is tried again is not part of it: that is asked when a step has failed, and recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "codec/schema.h"

namespace holdfast::steps {

using TypeIndex = std::uint32_t;  // into Graph::types
using StepIndex = std::uint32_t;  // into Graph::steps

enum class Role : std::uint8_t {
  kPlain,
  kStart,          // begins a run
  kStop,           // ends it; its value is the result
  kInputRequired,  // asks somebody outside; that nobody inside takes it is as it should be
  kResponse,       // comes from outside
  kStepFailed,     // a step has failed for good; for error handlers
};

struct EventType {
  std::string schema;
  Role role = Role::kPlain;
  bool is_sent = false;  // also by bodies, besides what they return; for the checks
  codec::Schema form = codec::Schema::item();  // what a value must be
};

// A step that gets all events of a type that one fan-out led to, as one list.
struct Join {
  TypeIndex type = 0;
  std::uint32_t take = 0;  // not 0: the first so many, as soon as they are there
};

inline constexpr std::uint32_t kDefaultWorkers = 4;

struct StepDef {
  std::string name;
  std::vector<TypeIndex> accepts;
  std::optional<Join> join;
  std::vector<TypeIndex> slots = {};    // gets one event for each, together; a type may repeat
  std::vector<TypeIndex> returns;       // for the drawing and the checks
  std::vector<TypeIndex> returns_list;  // fans out
  std::uint32_t workers = kDefaultWorkers;
  bool is_handler = false;           // of errors
  std::uint32_t max_recoveries = 1;  // a handler: how often it may help on one lineage
  std::vector<std::string> handles;  // a handler: which steps; none: all that have no other
};

// How many a workflow may have of each: a state names all of them.
inline constexpr std::size_t kMaxSteps = 256;
inline constexpr std::size_t kMaxTypes = 1024;
inline constexpr std::uint32_t kMaxWorkers = 1024;  // of one step
inline constexpr std::size_t kMaxSlots = 16;        // of one step

// What graphs of earlier programs do otherwise: what became of their runs must come of them again.
// Each has what the ones before it have.
enum class Rules : std::uint8_t {
  kFirst,
  kKeepsEarly,  // an event that nobody takes yet waits for a wait that begins later (early.cc)
  // An event for one step wakes nobody else; each failed attempt is an entry and is kept until the
  // item ends; entries are sys/StepEntry@2; a StepFailed has its time; a run that timed out says
  // which steps were active.
  kTellsAttempts,
  // A body that has published and runs again says so and why, also after a wait or a conflict; a
  // failed attempt is an entry when it is known whether it is tried again, and has a time then; a
  // piece that cannot be read is an entry.
  kTellsRepeats,
};
inline constexpr Rules kNewestRules = Rules::kTellsRepeats;

class Graph {
 public:
  // Steps are put in the order of their names, which is the order in which they get events.
  Graph(std::vector<EventType> types, std::vector<StepDef> steps, std::uint64_t timeout_ns = 0,
        std::vector<std::string> children = {}, Rules rules = Rules::kFirst);

  const std::vector<EventType>& types() const noexcept { return types_; }
  const std::vector<StepDef>& steps() const noexcept { return steps_; }
  const EventType& type(TypeIndex index) const { return types_[index]; }
  const StepDef& step(StepIndex index) const { return steps_[index]; }
  std::optional<TypeIndex> type_named(std::string_view schema) const;
  std::optional<StepIndex> step_named(std::string_view name) const;
  std::uint64_t timeout_ns() const noexcept { return timeout_ns_; }  // of a run; 0: none

  // The workflows that bodies may run and wait for, by name.
  const std::vector<std::string>& children() const noexcept { return children_; }

  Rules rules() const noexcept { return rules_; }
  bool has(Rules rules) const noexcept { return rules_ >= rules; }

  // The type of what error handlers get, if there are handlers.
  std::optional<TypeIndex> step_failed() const noexcept { return step_failed_; }

  // Who is asked when a step has failed for good.
  std::optional<StepIndex> handler_of(StepIndex step) const { return handlers_[step]; }

  // The steps that join what a fan-out of this step leads to, on the same level: what a fan-out
  // inside it leads to is joined inside.
  const std::vector<StepIndex>& joins_of(StepIndex opener) const { return joins_[opener]; }

  // Of everything that decides what becomes of a tick. Two graphs that differ in it must not step
  // the same run.
  base::Hash digest() const;

 private:
  void find_handlers();
  void find_joins();

  std::vector<EventType> types_;
  std::vector<StepDef> steps_;
  std::uint64_t timeout_ns_;
  std::vector<std::string> children_;
  Rules rules_;
  std::optional<TypeIndex> step_failed_;
  std::vector<std::optional<StepIndex>> handlers_;
  std::vector<std::vector<StepIndex>> joins_;
};

}  // namespace holdfast::steps
