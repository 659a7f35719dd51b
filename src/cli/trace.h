// SPDX-License-Identifier: Apache-2.0
// Tracing and diagnosing: what came of one event, and where one instance stands. Both only read
// documents, so they are the same for a folder and a server.
#pragma once

#include "cli/world_source.h"

namespace holdfast::cli {

struct TraceStart {
  std::uint64_t record = 0;   // 0: the journal has none of it any more
  std::string instance = {};  // everything that came to it is followed, too; empty: of none
  bool is_trimmed = false;    // it began before the first record that the journal has
};

// Follows a record through the effects that it opened, by their identities, the receipts that came
// of them, what those opened in turn, and turns that were left over: {"start", "records", "open",
// "looked_up_to", "complete", "trimmed"}. It goes on to the end of the journal while anything that
// it follows has not ended; `most_records` are looked through at most, and 64 MiB of records kept.
// "complete" says whether that was enough.
base::Result<Document> trace(WorldSource& source, const TraceStart& start,
                             std::uint64_t most_records);

// Where an instance begins, or what is left of it.
base::Result<TraceStart> first_record_of(WorldSource& source, const InstanceId& id);

// Who cancelled an instance, and why: "cancelled by local: a mistake". Empty: nobody did, or the
// journal does not have it any more.
base::Result<std::string> reason_of_end(WorldSource& source, const InstanceId& id);

// The last record that holds an event with this id, looked for from the end of the journal.
base::Result<std::uint64_t> record_of_event(WorldSource& source, std::string_view event_id);

// The last effect of an instance that did not come back well, as a sentence, whether it has gone on
// or not. Empty: its last records have none.
base::Result<std::string> last_trouble(WorldSource& source, const InstanceId& id);

// {"workflow", "key", "verdict", "explanation", "record"}. Verdicts: completed, cancelled,
// waiting for a receipt, waiting for an event, paused, running, executor error, timeout, fault,
// unknown.
base::Result<Document> diagnose(WorldSource& source, const InstanceId& id);

}  // namespace holdfast::cli
