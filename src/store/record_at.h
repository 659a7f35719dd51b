// SPDX-License-Identifier: Apache-2.0
// One record by its number. A journal in files remembers places in its segments as it is written
// and read, so a look costs reading a few hundred kilobytes at most; only the first look into a
// segment that nobody has read since the journal was opened reads it from its beginning.
#pragma once

#include "store/journal.h"

namespace holdfast::store {

// kNotFound: it was trimmed, or is not durable.
base::Result<base::Bytes> record_at(Journal& journal, RecordNumber number);

}  // namespace holdfast::store
