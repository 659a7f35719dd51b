// SPDX-License-Identifier: Apache-2.0
// Tracing and diagnosing: what came of one event, and where one instance stands. Both only read
// documents, so they are the same for a folder and a server.
#pragma once

#include "cli/world_source.h"

namespace holdfast::cli {

// Follows a record through the effects that it opened, by their identities, the receipts that came
// of them, and what those opened in turn: {"start", "records", "open", "complete"}. At most
// `most_records` are looked through behind the first; "complete" says whether that was enough.
base::Result<Document> trace(WorldSource& source, std::uint64_t start, std::uint64_t most_records);

// The record that an instance begins with. kNotFound: the journal does not have it any more.
base::Result<std::uint64_t> first_record_of(WorldSource& source, const InstanceId& id);

// The record that holds the event with this id, looked for from the end of the journal.
base::Result<std::uint64_t> record_of_event(WorldSource& source, std::string_view event_id);

// {"workflow", "key", "verdict", "explanation", "record"}. Verdicts: completed, cancelled,
// waiting for a receipt, waiting for an event, paused, running, executor error, timeout, fault,
// unknown.
base::Result<Document> diagnose(WorldSource& source, const InstanceId& id);

}  // namespace holdfast::cli
