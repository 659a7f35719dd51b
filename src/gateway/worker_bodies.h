// SPDX-License-Identifier: Apache-2.0
// The bodies of the worker protocol (docs/worker-protocol.md), read strictly: what is missing,
// unknown or out of bounds is an error that names its place below "$".
#pragma once

#include <string>

#include "base/result.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "workers/desk.h"
#include "workers/messages.h"

namespace holdfast::gateway {

base::Result<workers::EnrolRequest> read_enrolment(codec::View body);
base::Result<workers::SessionRequest> read_session(codec::View body);
base::Result<workers::SyncRequest> read_sync(codec::View body);
base::Result<workers::LeaveRequest> read_leave(codec::View body);

void put_enrolled(codec::Buffer& out, const workers::EnrolAnswer& answer,
                  const workers::Desk& desk);
void put_session(codec::Buffer& out, const workers::SessionAnswer& answer,
                 const workers::Desk& desk);
void put_sync(codec::Buffer& out, const workers::SyncAnswer& answer);

}  // namespace holdfast::gateway
