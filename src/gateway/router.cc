// SPDX-License-Identifier: Apache-2.0
#include "gateway/route.h"

namespace holdfast::gateway {
namespace {

// Whether the path of the route is that of the target; `values` are then those of its words.
bool matches(std::string_view path, const Target& target, PathValues& values) {
  std::size_t segment = 0;
  std::size_t value = 0;
  for (std::size_t begin = 1; begin < path.size();) {
    const std::size_t slash = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, slash - begin);
    begin = slash + 1;
    if (segment == target.segments()) return false;
    const std::string& given = target.segment(segment++);
    if (!part.starts_with('{')) {
      if (part != given) return false;
      continue;
    }
    std::string& into = values.values[value++];
    into = given;
    if (part != "{workflow}" || given.find('/') != std::string::npos) continue;
    if (segment == target.segments()) return false;
    into.append("/").append(target.segment(segment++));
  }
  return segment == target.segments();
}

}  // namespace

Found find_route(Method method, const Target& target, PathValues& values) {
  Found found;
  for (const Route& route : routes()) {
    if (!matches(route.path, target, values)) continue;
    if (route.method == method || (route.method == Method::kGet && method == Method::kHead))
      return {&route, 0};
    found.methods |= static_cast<std::uint8_t>(1u << static_cast<unsigned>(route.method));
  }
  return found;
}

std::string_view name_of(Method method) noexcept {
  switch (method) {
    case Method::kGet: return "GET";
    case Method::kHead: return "HEAD";
    case Method::kPost: return "POST";
    case Method::kPut: return "PUT";
    case Method::kDelete: return "DELETE";
    case Method::kOther: break;
  }
  return "other";
}

}  // namespace holdfast::gateway
