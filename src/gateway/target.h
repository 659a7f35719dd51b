// SPDX-License-Identifier: Apache-2.0
// Target: the path and the query of a request, taken apart and decoded. What could be read in two
// ways (dots, empty parts, control characters, escapes that are none) is refused.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::gateway {

class Target {
 public:
  static constexpr std::size_t kMaxSegments = 12;
  static constexpr std::size_t kMaxParameters = 16;

  // Takes apart "/v1/instances?limit=10". Its memory is used again by the next one.
  base::Result<void> parse(std::string_view target);

  std::size_t segments() const noexcept { return segment_count_; }
  const std::string& segment(std::size_t index) const noexcept { return segments_[index]; }

  // The parameters, in their order; each name once.
  std::size_t parameters() const noexcept { return parameter_count_; }
  const std::string& name(std::size_t index) const noexcept { return parameters_[index].name; }
  const std::string* find(std::string_view name) const noexcept;

 private:
  struct Parameter {
    std::string name;
    std::string value;
  };

  base::Result<void> parse_path(std::string_view path);
  base::Result<void> parse_query(std::string_view query);

  std::array<std::string, kMaxSegments> segments_;
  std::array<Parameter, kMaxParameters> parameters_;
  std::size_t segment_count_ = 0;
  std::size_t parameter_count_ = 0;
};

// "http://host:7411/v1/limits?x=1", as it is sent to proxies; a server must take it, too (RFC 9112,
// section 3.2.2). The host in it counts, and not the Host field.
struct AbsoluteTarget {
  std::string_view authority;  // "host:7411"; empty: it names no host, or a user besides
  std::string_view rest;       // "/v1/limits?x=1"; may be empty, or begin with '?'
};

// Nothing: the target is of another form.
std::optional<AbsoluteTarget> split_absolute(std::string_view target) noexcept;

}  // namespace holdfast::gateway
