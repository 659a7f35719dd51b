// SPDX-License-Identifier: Apache-2.0
// Route: one thing that clients can ask for, as data: the router, the check of roles and the
// OpenAPI document all read the same table (gateway/routes.cc), and a route that is not in it is
// not there.
//
// In a path, {workflow} stands for the name of a workflow, which has a slash in it: as one part
// with the slash escaped, or as two. Any other {word} is one part.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "gateway/request.h"
#include "gateway/role.h"
#include "gateway/target.h"

namespace holdfast::gateway {

class Exchange;

struct QueryParameter {
  std::string_view name;
  std::string_view summary;
  bool is_text = false;  // otherwise a number
};

enum class Takes : std::uint8_t {
  kNothing,
  kDocument,  // JSON or CBOR
  kEvent,     // the same, or a CloudEvent
};

// Whether it answers with an event stream.
enum class Streams : std::uint8_t { kNever, kIfAccepted, kAlways };

// In the order in which the table is read; there are few of them.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct Route {
  Method method;
  std::string_view path;
  Role role;
  std::string_view name;  // of the operation
  std::string_view summary;
  Takes takes = Takes::kNothing;
  std::string_view body = {};      // what it takes, as a JSON schema
  std::string_view answer = {};    // what it answers, likewise
  std::string_view type = {};      // of an answer that is no document
  bool draws = false;              // also a picture, if that is asked for
  std::string_view statuses = {};  // of answers that are no problems, and what they mean
  Streams streams = Streams::kNever;
  std::span<const QueryParameter> query = {};
  void (*handle)(Exchange& exchange) = nullptr;
};

std::span<const Route> routes() noexcept;

// What the words of the path stand for.
struct PathValues {
  std::array<std::string, 2> values;
};

struct Found {
  const Route* route = nullptr;
  std::uint8_t methods = 0;  // that the path has, one bit each; without a route
};

// A HEAD finds the route of GET.
Found find_route(Method method, const Target& target, PathValues& values);

// "GET"
std::string_view name_of(Method method) noexcept;

}  // namespace holdfast::gateway
