// SPDX-License-Identifier: Apache-2.0
// What a service tells its manager, as sd_notify(3) does it: a datagram to the socket that the
// variable NOTIFY_SOCKET names. Without that variable nothing is said.
#pragma once

#include <string_view>

namespace holdfast::cli {

// "READY=1", "STOPPING=1". False: there is a manager, and it could not be told.
bool notify_service_manager(std::string_view state);

}  // namespace holdfast::cli
