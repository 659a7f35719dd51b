// SPDX-License-Identifier: Apache-2.0
// However the records come to the index, it holds the same.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "store/testing_history.h"

namespace holdfast::store::testing {
namespace {

RC_GTEST_PROP(History, slices_and_restarts_do_not_matter, ()) {
  const MadeUpHistory history(*rc::gen::inRange<std::size_t>(1, 120),
                              *rc::gen::arbitrary<std::uint64_t>());
  env::SimDisk disk;
  const auto random = env::seeded_random(9);
  auto open = *open_history(disk, *random);
  while (open->index->cursor().record < history.last()) {
    const RecordNumber left = history.last() - open->index->cursor().record;
    const RecordNumber slice = *rc::gen::inRange<RecordNumber>(1, left + 1);
    const auto fed = history.feed(*open->index, open->index->cursor().record + slice);
    if (!fed) RC_FAIL(fed.error().to_string());
    if (*rc::gen::inRange(0, 4) != 0) continue;
    open.reset();
    open = *open_history(disk, *random);
  }
  RC_ASSERT(everything(*open->index) == rows_of_one_pass(history));
}

}  // namespace
}  // namespace holdfast::store::testing
