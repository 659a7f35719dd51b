// SPDX-License-Identifier: Apache-2.0
#include "gateway/service.h"

#include <utility>

namespace holdfast::gateway {

void Service::refresh() {
  const std::uint64_t now = engine.definitions_version();
  if (now == definitions_version) return;
  definitions_version = now;
  auto loaded = Definitions::load(engine.definitions());
  if (loaded) {
    definitions = std::move(*loaded);
  } else if (log) {
    log("the definitions cannot be read: " + loaded.error().to_string());
  }
}

}  // namespace holdfast::gateway
