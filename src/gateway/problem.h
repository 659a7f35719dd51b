// SPDX-License-Identifier: Apache-2.0
// Problem: why a request was refused, as RFC 9457 has it. `code` is stable and is what programs
// look at; docs/api.md lists them. A problem that has to do with one place in the body names it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/buffer.h"
#include "holdfast/engine.h"

namespace holdfast::gateway {

enum class ProblemCode : std::uint8_t {
  kMalformed,
  kBadTarget,
  kBadBody,
  kUnauthenticated,
  kForbidden,
  kHostRefused,
  kOriginRefused,
  kNoRoute,
  kNotFound,
  kUnhandled,
  kMethod,
  kTimeout,
  kConflict,
  kStaleCursor,
  kNameTaken,
  kSession,
  kSuperseded,
  kTooLarge,
  kTargetTooLong,
  kMediaType,
  kExpectation,
  kSchema,
  kFull,
  kTooManyStreams,
  kHeaderTooLarge,
  kInternal,
  kNotImplemented,
  kUnavailable,
  kHistory,
  kStorage,
  kVersion,
  kDiskFull,
};

struct ProblemKind {
  ProblemCode code;
  std::string_view name;  // stable
  unsigned status;
  std::string_view title;
};

// All of them, in the order of ProblemCode.
std::span<const ProblemKind> problem_kinds() noexcept;
const ProblemKind& kind_of(ProblemCode code) noexcept;

struct Problem {
  ProblemCode code = ProblemCode::kInternal;
  std::string detail;
  std::string path = {};  // inside the body, as in "$.value.cents"; empty: the request as a whole
  Bytes blocking = {};    // instances that stand in the way, as a list in CBOR; empty: none
};

// The document, as CBOR for codec::to_json.
void write_document(codec::Buffer& out, const Problem& problem);

// What an engine refused. `condition` is the engine's: it tells apart why nothing is taken.
Problem problem_of(const Error& error, Condition condition);

// What the codec refused: a value that does not fit its schema. `base` is where the value stands.
Problem problem_of(const base::Error& error, std::string_view base, ProblemCode code);

}  // namespace holdfast::gateway
