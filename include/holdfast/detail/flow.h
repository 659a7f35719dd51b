// SPDX-License-Identifier: Apache-2.0
// Flow: the graph of a step workflow as plain data, for the engine. holdfast/steps.h makes it of
// types and functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/detail/record.h"
#include "holdfast/types.h"

namespace holdfast {

// The state of a run, as people see it.
struct StepsState {
  static constexpr std::string_view kSchema = "sys/StepsState@1";
  Bytes broker;
  std::string status;  // running, idle, completed, failed
};

// What a run puts out. What does not apply is empty or 0; docs/formats/steps.md.
struct StepEntry {
  static constexpr std::string_view kSchema = "sys/StepEntry@2";
  struct Change {
    std::uint64_t item = 0;
    std::uint64_t slot = 0;
    std::string step;
    std::string state;   // preparing, running, not_running
    std::string input;   // the schema of what it deals with
    std::string output;  // not_running: the schema of what the body returned
  };

  // event, steps, unhandled, idle, stopped, cancelled, timed_out, failed, attempt_failed,
  // began_again, several
  std::string kind;
  std::string step;
  std::uint64_t item = 0;
  std::string schema;
  Bytes value;
  std::string code;
  std::string message;
  std::uint64_t attempts = 0;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t due_ns = 0;  // attempt_failed: when the next attempt begins
  std::vector<std::string> steps;
  std::vector<Change> changes;

  // The last of a run that was cancelled from outside, which an engine puts there.
  static StepEntry of_cancel() {
    StepEntry entry;
    entry.kind = "cancelled";
    entry.code = "steps.cancelled";
    entry.message = "it was cancelled from outside";
    return entry;
  }

  // The event, if it is a T.
  template <class T>
  std::optional<T> as() const {
    std::optional<T> event(std::in_place);
    Reader in(value);
    if (schema != T::kSchema || !detail::Form<T>::read(in, *event)) event.reset();
    return event;
  }

  // More than a record has places for stand in one, of the kind `several`: then those, else only
  // this. An engine takes them apart, whoever reads entries without types may do so with this.
  // Nothing: it is not good.
  std::optional<std::vector<StepEntry>> parts() const;
};

namespace detail {

// Entries of runs that began by earlier rules (sys/StepEntry@1) have fewer members: read, too.
template <>
struct Form<StepEntry> {
  using Inner = TypeList<>;
  static std::string type(Schemas&) {
    return R"({"ref":")" + std::string(StepEntry::kSchema) + R"("})";
  }
  static void write(Writer& out, const StepEntry& entry);
  static bool read(Reader& in, StepEntry& entry);
};

}  // namespace detail

inline std::optional<std::vector<StepEntry>> StepEntry::parts() const {
  if (kind != "several") return std::vector<StepEntry>{*this};
  std::optional<std::vector<StepEntry>> all(std::in_place);
  Reader in(value);
  if (!detail::Form<std::vector<StepEntry>>::read(in, *all)) all.reset();
  return all;
}

// What a step workflow derives from.
struct StepWorkflow {
  using State = StepsState;
  using Entry = StepEntry;
};

namespace detail {

struct Flow {
  enum class Role : std::uint8_t { kPlain, kStart, kStop, kInputRequired, kResponse, kStepFailed };
  struct Type {
    std::string schema;
    Role role = Role::kPlain;
    bool is_sent = false;
  };
  // Types stand by their schemas.
  struct Step {
    std::string name;
    std::vector<std::string> accepts;
    std::string join;  // empty: none
    std::uint32_t take = 0;
    std::vector<std::string> slots;  // one of each, together
    std::vector<std::string> returns;
    std::vector<std::string> returns_list;
    std::uint32_t workers = 4;
    std::optional<std::uint64_t> timeout_ns;
    bool is_handler = false;
    std::uint32_t max_recoveries = 1;
    std::vector<std::string> handles;
  };

  std::string workflow;
  std::vector<Type> types;
  std::vector<Step> steps;
  std::uint64_t timeout_ns = 0;
  std::vector<std::string> children = {};  // the workflows that bodies may run
  std::vector<std::string> errors = {};    // why it cannot run, besides what its graph says
};

}  // namespace detail

}  // namespace holdfast
