// SPDX-License-Identifier: Apache-2.0
// Http: sys/http.request@1 (bodies are blobs) and sys/http.request@2 (bodies are in the params and
// in the receipt). Any answer of the server is `ok`, whatever its status.
//
// Where a request may go is the node's decision: only to hosts that are allowed, and only to public
// addresses unless the host may have others. The address is judged when the socket for it is made,
// so that what was checked is what is connected to. Redirects are not followed, proxies and the
// user's own settings not heeded. https is verified; what the server sends is limited in size and
// in time. Secrets come into headers and bodies here and are hidden in what comes back.
//
// Every attempt carries the intent as Idempotency-Key.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/clock.h"
#include "executors/allowed_hosts.h"
#include "executors/effect_blobs.h"
#include "executors/secrets.h"
#include "executors/thread_executor.h"

namespace holdfast::executors {

struct HttpOptions {
  QueueOptions queue{.at_once = 64};
  std::vector<AllowedHost> hosts = {};
  std::size_t response_bytes = std::size_t{4} << 20;     // of a body
  std::uint64_t time_limit_ns = 300 * 1'000'000'000ULL;  // also where nobody asks for one
  std::string authorities = {};  // a file of certificates to trust; empty: those of the system
};

struct HttpNeeds {
  env::Clock& clock;
  const SecretSource* secrets = nullptr;
  EffectBlobs* blobs = nullptr;  // for sys/http.request@1
};

// What is given must outlive it. kInvalid: the options cannot be used.
base::Result<std::unique_ptr<Executor>> http_executor(const HttpOptions& options,
                                                      const HttpNeeds& needs);

}  // namespace holdfast::executors
