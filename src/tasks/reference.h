// SPDX-License-Identifier: Apache-2.0
// References: how a task reads the results of tasks before it.
//
//   ${train.metrics.loss}   ${train.files[0]}   ${train.files.0}   ${train.task_id}   ${train}
//
// A mapping {node: train, path: "files[0]"} says the same as ${train.files[0]}. In a text, `$${`
// stands for a literal `${`, and what stands between {{ and }} is left as it is: it belongs to the
// executor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/view.h"

namespace holdfast::tasks {

// The first step of a path that gives the id of the task instead of a part of its result.
inline constexpr std::string_view kTaskIdStep = "task_id";

// Views into the text that was parsed.
struct Reference {
  std::string_view node;
  std::string_view path;  // without the dot behind the node; empty: the whole result

  // As it is written in a text.
  std::string text() const;
};

// One step of a path. On a list it must be a whole number; [n] is for lists only.
struct PathStep {
  std::string_view key;
  bool is_bracketed = false;

  std::optional<std::uint64_t> index() const noexcept;
};

// Takes the steps of a path one by one. The path has been checked.
class PathSteps {
 public:
  explicit PathSteps(std::string_view path) noexcept : left_(path) {}
  std::optional<PathStep> next() noexcept;
  std::string_view rest() const noexcept { return left_; }

 private:
  std::string_view left_;
};

// What is wrong with a path, or nothing.
std::optional<std::string> path_problem(std::string_view path);

// The text between ${ and }.
base::Result<Reference> parse_reference(std::string_view inside);

// A mapping with the keys `node` and `path`, both of them texts, and no others.
std::optional<Reference> reference_in_map(codec::View value);

// The parts of a text, front to back.
class TextParts {
 public:
  enum class Kind : std::uint8_t { kLiteral, kReference, kProblem, kEnd };
  struct Part {
    Kind kind = Kind::kEnd;
    std::string_view literal;
    Reference reference;
    std::string problem;
  };

  explicit TextParts(std::string_view text) noexcept : text_(text) {}
  Part next();

 private:
  Part reference_here();

  std::string_view text_;
  std::size_t at_ = 0;
  bool has_slots_ = true;  // there may be a }} further on
};

// The reference that a text consists of, if it is nothing but one.
std::optional<Reference> lone_reference(std::string_view text);

// Follows a path into a result. kNotFound: the value is missing; the message says at which step.
base::Result<codec::View> follow(codec::View result, std::string_view path);

// A value as text: a text as it is, everything else as JSON.
std::string text_of(codec::View value);

}  // namespace holdfast::tasks
