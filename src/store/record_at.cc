// SPDX-License-Identifier: Apache-2.0
#include "store/record_at.h"

#include <string>

namespace holdfast::store {

base::Result<base::Bytes> record_at(Journal& journal, RecordNumber number) {
  const auto reader = TRY(journal.read(number));
  const auto record = TRY(reader->next());
  if (!record) {
    return base::Error(base::ErrorCode::kNotFound, "record " + std::to_string(number),
                       "is not there: the last one is " + std::to_string(journal.durable()));
  }
  return base::Bytes(record->bytes.begin(), record->bytes.end());
}

}  // namespace holdfast::store
