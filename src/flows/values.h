// SPDX-License-Identifier: Apache-2.0
// Values of flows. The result of a SQL node is a rowset:
//   {"columns": ["id", "name"], "rows": [{"id": 1, "name": "x"}], "row_count": 1}
// Any other value is what it is.
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "codec/view.h"

namespace holdfast::flows {

bool is_rowset(codec::View value) noexcept;

// Of a rowset: the column of its first row; without a name the first column. Nothing: it has no
// rows, or no such column.
std::optional<codec::View> first_row_column(codec::View rowset, std::string_view column = {});

// Whether a condition holds. A rowset counts by the first column of its first row, and is false
// without rows.
bool is_true(codec::View value);

// A rowset of one of its rows.
base::Bytes row_of(codec::View rowset, codec::View row);

}  // namespace holdfast::flows
