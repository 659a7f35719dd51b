// SPDX-License-Identifier: Apache-2.0
// What is read of workflows.json is written and read again as the same; nothing else is read.
#include "base/check.h"
#include "registry/state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const auto state = registry::parse_state(base::as_text({data, size}));
  if (!state) {
    CHECK(state.error().code() == base::ErrorCode::kCorrupt);
    return 0;
  }
  const auto written = registry::to_json(*state);
  if (!written) return 0;  // it was just small enough to be read without our spaces
  const auto again = registry::parse_state(*written);
  CHECK(again.has_value());
  CHECK(registry::to_json(*again).value() == *written);
  return 0;
}
