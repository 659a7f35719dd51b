// SPDX-License-Identifier: Apache-2.0
// What requests for flows (sys/Flow@1) become. Their role is the submitter of the row, never
// something that a body says.
#pragma once

#include "base/result.h"
#include "codec/normaliser.h"
#include "holdfast/engine.h"
#include "postgres/request.h"

namespace holdfast::postgres {

bool is_flow(const Request& request) noexcept;

// The schema of the event that a start, signal or cancel of a flow becomes.
std::string_view flow_schema(Verb verb) noexcept;

// kInvalid, with the place: the body is no program.
base::Result<Bytes> flow_event(codec::Normaliser& normaliser, const Request& request);

Bytes flow_key(const std::string& key);

}  // namespace holdfast::postgres
