// SPDX-License-Identifier: Apache-2.0
// The bytes of a connection: whatever they are, and however they are cut, they come to the same
// requests and the same refusal, and targets and bodies of any kind are read or refused.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "gateway/event_body.h"
#include "gateway/request_parser.h"
#include "gateway/target.h"

namespace {

using namespace holdfast::gateway;
using State = RequestParser::State;

Limits small_limits() {
  Limits limits;
  limits.header_bytes = 512;
  limits.body_bytes = 256;
  return limits;
}
const Limits kLimits = small_limits();

void use(const Request& request, std::vector<std::string>& seen) {
  seen.emplace_back(request.target);
  seen.emplace_back(request.body);
  for (const std::string_view field : request.fields) seen.emplace_back(field);
  Target target;
  static_cast<void>(target.parse(request.target).has_value());
  static_cast<void>(read_event(request, 1000));
}

// What comes of the bytes when at most `most` of them come at once.
std::vector<std::string> run(std::string_view bytes, std::size_t most) {
  std::vector<std::string> seen;
  RequestParser parser(kLimits);
  std::string held;
  for (std::size_t at = 0; at < bytes.size(); at += most) {
    held += bytes.substr(at, most);
    for (;;) {
      const std::size_t taken = parser.take(held);
      CHECK(taken <= held.size());
      held.erase(0, taken);
      CHECK(parser.body_size() <= kLimits.body_bytes);
      if (parser.state() == State::kRefused) {
        seen.emplace_back("refused");
        return seen;
      }
      if (parser.state() != State::kWhole) break;
      use(parser.request(), seen);
      parser.begin_next();
      if (held.empty()) break;
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> whole = run(bytes, bytes.size() + 1);
  CHECK(run(bytes, 1) == whole);
  CHECK(run(bytes, 7) == whole);
  return 0;
}
