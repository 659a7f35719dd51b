// SPDX-License-Identifier: Apache-2.0
// Follows an event stream of a server, event by event.
#pragma once

#include <functional>
#include <string>

#include "cli/exit_code.h"
#include "cli/recorded_stream.h"
#include "cli/server_api.h"

namespace holdfast::cli {

// Says whether it wants more.
using TakeEvent = std::function<bool(const StreamEvent&)>;

// Until the stream ends or no more is wanted. kUnavailable: the server says that it cannot go on
// now; who comes again continues after the last event.
base::Result<ExitCode> follow_events(const ServerApi& api, const std::string& path,
                                     const TakeEvent& take);

}  // namespace holdfast::cli
