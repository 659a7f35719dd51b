// SPDX-License-Identifier: Apache-2.0
// Program: a flow, as it was composed: nodes in a list, each after its parent, the first one is the
// root. SQL functions compose it (src/postgres/sql), and the bridge hands it to the engine.
//
//   {"nodes": [{"kind": "seq", "children": [1, 2]},
//              {"kind": "sql", "text": "INSERT ..."},
//              {"kind": "sleep", "ms": 500}],
//    "path": "public", "vars": {"region": "eu"}}
//
// It is a list because values may be nested 64 levels deep at most, and flows 256. docs/postgres.md
// says what each kind does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/view.h"

namespace holdfast::flows {

inline constexpr std::size_t kMaxNodes = 10'000;
inline constexpr std::size_t kMaxDepth = 256;
inline constexpr std::size_t kMaxNameBytes = 63;
inline constexpr std::uint64_t kMaxMs = std::uint64_t{100} * 365 * 24 * 3600 * 1000;

enum class NodeKind : std::uint8_t {
  kSql,       // text
  kSeq,       // children, one after the other
  kNamed,     // child; its result is bound to `name`
  kJoin,      // children, all at once
  kRace,      // children, all at once; the first that ends decides
  kIf,        // condition, then, and perhaps otherwise
  kIfRows,    // then, and perhaps otherwise: whether the result `name` has rows
  kLoop,      // body, and perhaps a condition to go on
  kBreak,     // value
  kSleep,     // ms
  kSchedule,  // text: five fields of cron; zone
  kSignal,    // name; ms: how long it waits, 0: for ever
  kHttp,      // value: {"url", "method", "headers", "body"}; ms
  kRetry,     // child; count: attempts; ms: the first pause, doubled each time
  kTimeout,   // child; ms
  kOnError,   // child, and what runs if it fails
  kEach,      // child, for each row of the result `name`; item; count: how many at once
  kTask,      // value: the spec of a task that a worker runs
};

struct Node {
  NodeKind kind = NodeKind::kSql;
  std::vector<std::uint32_t> children = {};
  std::string_view text = {};
  std::string_view name = {};
  std::string_view zone = {};
  std::string_view item = {};
  std::uint64_t ms = 0;
  std::uint64_t count = 0;
  base::ByteView value = {};  // encoded
};

// Points into the value that it was read from.
struct Program {
  std::vector<Node> nodes;
  std::string_view path;  // search_path of SQL nodes
  std::vector<std::pair<std::string_view, std::string_view>> variables;
};

// kInvalid, with the place: it is no flow.
base::Result<Program> read_program(codec::View value);

// Letters, digits and "_", not beginning with a digit.
bool is_name(std::string_view text) noexcept;

}  // namespace holdfast::flows
